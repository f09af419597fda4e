"""Between plain values of Python and google.protobuf.Value."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from typing import Any, Dict, Mapping

from google.protobuf.struct_pb2 import Struct, Value


def to_plain(value: Value) -> Any:
    """Numbers without a fraction are int, as json.loads has them."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return to_dict(value.struct_value)
    if kind == "list_value":
        return [to_plain(one) for one in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    return None if kind in (None, "null_value") else getattr(value, kind)


def to_dict(struct: Struct) -> Dict[str, Any]:
    return {name: to_plain(one) for name, one in struct.fields.items()}


def to_json(value: Any) -> Any:
    """As JSON has it; dataclasses and enums, too. Raises TypeError or ValueError for what JSON cannot say."""
    if value is None or isinstance(value, (bool, int)):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if isinstance(value, str):
        return sayable(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number of JSON")
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_json(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {sayable(str(name)): to_json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(one) for one in value]
    raise TypeError(f"a {type(value).__name__} is nothing that JSON can say")


def to_value(value: Any) -> Value:
    said = Value()
    _fill(said, to_json(value))
    return said


def to_struct(value: Mapping[str, Any]) -> Struct:
    if not isinstance(value, Mapping):
        raise TypeError(f"it must be a dict, not a {type(value).__name__}")
    return to_value(value).struct_value


def _fill(said: Value, value: Any) -> None:
    if value is None:
        said.null_value = 0  # type: ignore[assignment]
    elif isinstance(value, bool):
        said.bool_value = value
    elif isinstance(value, (int, float)):
        said.number_value = value
    elif isinstance(value, str):
        said.string_value = value
    elif isinstance(value, dict):
        said.struct_value.SetInParent()
        for name, one in value.items():
            _fill(said.struct_value.fields[name], one)
    else:
        said.list_value.SetInParent()
        for one in value:
            _fill(said.list_value.values.add(), one)


def to_text(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"))


def sayable(text: str) -> str:
    """Half of a pair of surrogates has no UTF-8."""
    return text.encode("utf-8", "replace").decode()


def words_of(cause: BaseException) -> str:
    try:
        return sayable(str(cause)) or type(cause).__name__
    except Exception:
        return type(cause).__name__
