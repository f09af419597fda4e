# python -m pytest
import dataclasses
import enum
from typing import Annotated, Any, Dict, List, Literal, Optional, Sequence, Tuple, Union

import pytest
from clawd_plugin.schema import Parameters, read, read_fields, schema_of
from clawd_plugin.values import to_dict, to_json, to_plain, to_struct, to_text, to_value


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: float
    name: str = "p"
    tags: List[str] = dataclasses.field(default_factory=list)


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (Dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (List[float], {"type": "array", "items": {"type": "number"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (Tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (Optional[int], {"type": ["integer", "null"]}),
        (Union[int, List[int]], {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Color, {"enum": ["red", "blue"]}),
        (Annotated[int, "How many", {"minimum": 0}], {"type": "integer", "description": "How many", "minimum": 0}),
        (
            Point,
            {
                "type": "object",
                "properties": {
                    "x": {"type": "number"},
                    "name": {"type": "string", "default": "p"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_a_type_hint_has_a_schema(hint, schema):
    assert schema_of(hint) == schema


def test_what_json_has_no_word_for_is_refused():
    with pytest.raises(TypeError, match="has no JSON Schema"):
        schema_of(complex)
    with pytest.raises(TypeError, match="has no type"):
        Parameters(lambda x: x, ())


@pytest.mark.parametrize(
    ("hint", "value", "is_read_as"),
    [
        (int, 3.0, 3),
        (float, 3, 3.0),
        (Optional[Color], "red", Color.RED),
        (Optional[Color], None, None),
        (List[Point], [{"x": 1}], [Point(1.0)]),
        (Dict[str, Tuple[int, ...]], {"a": [1, 2]}, {"a": (1, 2)}),
        (Union[int, str], "7", "7"),
    ],
)
def test_json_is_read_as_its_hint_says(hint, value, is_read_as):
    assert read(hint, value, "it") == is_read_as


@pytest.mark.parametrize(
    ("hint", "value"),
    [(int, 3.5), (int, True), (str, 3), (List[int], {"a": 1}), (Literal["a"], "b"), (Color, "green"), (Point, [])],
)
def test_what_does_not_fit_is_refused(hint, value):
    with pytest.raises(ValueError):
        read(hint, value, "it")


def test_settings_that_are_not_known_or_missing_are_refused():
    with pytest.raises(ValueError, match="z is not known"):
        read_fields(Point, {"x": 1, "z": 2})
    with pytest.raises(ValueError, match="x is missing"):
        read_fields(Point, {})


def test_arguments_are_checked_and_may_be_open():
    def closed(a: int, b: str = "b") -> None: ...

    def opened(a: int, **more: Any) -> None: ...

    assert Parameters(closed, ()).read({"a": 1}) == {"a": 1}
    with pytest.raises(ValueError, match="a is missing, c is not known"):
        Parameters(closed, ()).read({"c": 1})
    assert Parameters(opened, ()).read({"a": 1, "c": 2}) == {"a": 1, "c": 2}
    assert Parameters(opened, ()).schema()["additionalProperties"] is True


def test_values_come_back_as_they_were():
    value = {"a": [1, 2.5, None, True, "żółć"], "empty": {}, "none": [], "p": {"x": 1}}
    assert to_dict(to_struct(value)) == value
    assert to_plain(to_value(None)) is None
    assert to_json({"p": Point(1), "c": Color.RED, 3: (1,)}) == {
        "p": {"x": 1, "name": "p", "tags": []},
        "c": "red",
        "3": [1],
    }
    assert to_text({"a": "ż"}) == '{"a":"ż"}'


@pytest.mark.parametrize("value", [float("nan"), object(), {"a": {1: object()}}])
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        to_value(value)
