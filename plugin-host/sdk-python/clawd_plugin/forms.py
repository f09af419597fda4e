"""Forms for a person: from a dataclass to the flat schema that a host asks with, and back."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Union

from .schema import Schema, fields_schema, read_fields


def form_schema(form: Union[type, Mapping[str, Any]]) -> Schema:
    if not isinstance(form, type):
        return dict(form)
    if not dataclasses.is_dataclass(form):
        raise TypeError(f"a form is a dataclass or a JSON Schema, not {form.__name__}")
    schema = fields_schema(form)
    return {**schema, "properties": {name: _fillable(one) for name, one in schema["properties"].items()}}


def read_form(form: Union[type, Mapping[str, Any]], content: Dict[str, Any]) -> Any:
    return read_fields(form, content) if isinstance(form, type) else content


def _fillable(described: Schema) -> Schema:
    """A field has one type: none to fill in is left out, and choices are of texts."""
    kinds = described.get("type")
    if isinstance(kinds, list):
        rest = [kind for kind in kinds if kind != "null"]
        return {**described, "type": rest[0]} if len(rest) == 1 else described
    return {"type": "string", **described} if kinds is None and "enum" in described else described
