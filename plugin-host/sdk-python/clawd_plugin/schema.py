"""From type hints to JSON Schema, and from JSON to what the hints promise."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections import abc
from typing import Annotated, Any, Callable, Dict, List, Literal, Mapping, Tuple, Union, get_args, get_origin

Schema = Dict[str, Any]

_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    Any: {},
    object: {},
}
_LISTS = (list, tuple, set, frozenset)
#: ``int | None``; older Pythons have Optional and Union only.
_UNIONS = (Union, getattr(types, "UnionType", Union))


def schema_of(hint: Any) -> Schema:
    """The JSON Schema of a type hint. Raises TypeError for what JSON has no word for."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        # First: its notes need not be hashable.
        return _annotated(schema_of(args[0]), args[1:])
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if origin is Literal:
        return {"enum": list(args)}
    if origin in _UNIONS:
        return _union([schema_of(one) for one in args])
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [one.value for one in hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return fields_schema(hint)
    if inspect.isclass(origin) and issubclass(origin, abc.Mapping):
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    if _is_list(origin):
        return {"type": "array", "items": schema_of(args[0])}
    raise TypeError(
        f"{hint!r} has no JSON Schema; there are str, int, float, bool, list[T], dict[str, T], Optional[T], "
        "Literal, Enum, dataclasses, Any, and Annotated[T, 'what it is']"
    )


def _is_list(origin: Any) -> bool:
    return origin in _LISTS or (inspect.isclass(origin) and issubclass(origin, abc.Sequence))


def _annotated(schema: Schema, notes: Tuple[Any, ...]) -> Schema:
    for note in notes:
        if isinstance(note, str):
            schema = {**schema, "description": note}
        elif isinstance(note, dict):
            schema = {**schema, **note}
    return schema


def _union(schemas: List[Schema]) -> Schema:
    kinds = [one.get("type") for one in schemas if len(one) == 1]
    return {"type": kinds} if len(kinds) == len(schemas) and None not in kinds else {"anyOf": schemas}


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return inspect.Parameter.empty


def fields_schema(kind: type) -> Schema:
    """The schema of a dataclass: what has no default must be there, and nothing else may."""
    hints = typing.get_type_hints(kind, include_extras=True)
    properties: Schema = {}
    required: List[str] = []
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        properties[field.name] = _with_default(schema_of(hints[field.name]), _default_of(field))
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    return _object(properties, required)


def _object(properties: Schema, required: List[str]) -> Schema:
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _with_default(schema: Schema, default: Any) -> Schema:
    if isinstance(default, enum.Enum):
        default = default.value
    plain = isinstance(default, (str, int, float, bool)) and default is not inspect.Parameter.empty
    return {**schema, "default": default} if plain else schema


class Parameters:
    """The arguments of a tool's function, those of ``injected`` types left out."""

    def __init__(self, run: Callable[..., Any], injected: Tuple[type, ...]) -> None:
        self.hints = typing.get_type_hints(run, include_extras=True)
        self.injected: Dict[str, type] = {}
        self.open = False
        self._named: Dict[str, inspect.Parameter] = {}
        for name, parameter in inspect.signature(run).parameters.items():
            if self.hints.get(name) in injected:
                self.injected[name] = self.hints[name]
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                self.open = True
            elif name not in self.hints:
                raise TypeError(f"the parameter {name} of {run.__name__} has no type: the schema comes from it")
            else:
                self._named[name] = parameter

    def schema(self) -> Schema:
        """Of the arguments, of type object."""
        empty = inspect.Parameter.empty
        properties = {name: _with_default(schema_of(self.hints[name]), one.default) for name, one in self._named.items()}
        whole = _object(properties, [name for name, one in self._named.items() if one.default is empty])
        return {**whole, "additionalProperties": True} if self.open else whole

    def read(self, args: Mapping[str, Any]) -> Dict[str, Any]:
        """What the function is called with. Raises ValueError where an argument is not what its hint says."""
        ready = {name: read(self.hints[name], args[name], name) for name in self._named if name in args}
        missing = [name for name, one in self._named.items() if name not in args and one.default is one.empty]
        strange = [name for name in args if name not in self._named]
        if missing or (strange and not self.open):
            wrong = [f"{name} is missing" for name in missing] + [f"{name} is not known" for name in strange]
            raise ValueError(", ".join(wrong))
        return {**ready, **{name: args[name] for name in strange}}


def read(hint: Any, value: Any, where: str) -> Any:
    """A value of JSON as its hint says. Raises ValueError, naming ``where``, when it is none such."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return read(args[0], value, where)
    if origin in _UNIONS:
        return _read_union(args, value, where)
    if origin is Literal:
        return _expect(value in args, value, value, where)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return read_fields(hint, _expect(isinstance(value, dict), value, value, where))
    if hint in (int, float):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        whole = hint is float or (number and float(value).is_integer())
        return hint(_expect(number and whole, value, value, where))
    if hint in (str, bool, dict, list, type(None)):
        return _expect(isinstance(value, hint), value, value, where)
    if isinstance(value, dict) and len(args) == 2:
        return {key: read(args[1], one, f"{where}.{key}") for key, one in value.items()}
    if _is_list(origin):
        _expect(isinstance(value, list), value, value, where)
        items = [read(args[0], one, f"{where}[{at}]") for at, one in enumerate(value)]
        return origin(items) if origin in _LISTS else items
    return value


def _expect(fits: bool, value: Any, given: Any, where: str) -> Any:
    if not fits:
        raise ValueError(f"{where} cannot be {str(given)[:100]!r}")
    return value


def _read_union(hints: Tuple[Any, ...], value: Any, where: str) -> Any:
    for hint in hints:
        try:
            return read(hint, value, where)
        except (ValueError, TypeError):
            continue
    return _expect(False, value, value, where)


def read_fields(kind: type, value: Mapping[str, Any]) -> Any:
    """A dataclass of an object. Raises ValueError for what is not known, missing or of another type."""
    hints = typing.get_type_hints(kind, include_extras=True)
    schema = fields_schema(kind)
    strange = [f"{name} is not known" for name in value if name not in schema["properties"]]
    missing = [f"{name} is missing" for name in schema.get("required", []) if name not in value]
    if strange or missing:
        raise ValueError(", ".join(missing + strange))
    return kind(**{name: read(hints[name], one, name) for name, one in value.items()})
