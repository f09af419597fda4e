"""What a plugin offers, and how plugin.json says it."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .context import AsyncContext, Context
from .running import Function, function_of
from .schema import Parameters, fields_schema, read_fields
from .types import Argument

Facts = Dict[str, Any]
_CONTEXTS = (Context, AsyncContext)


@dataclass(frozen=True)
class Tool:
    facts: Facts
    parameters: Parameters
    function: Function


@dataclass(frozen=True)
class Hook:
    at: str
    facts: Facts
    function: Function


@dataclass
class Offers:
    """By their names; hooks in the order in which they were decorated."""

    name: str
    version: str
    settings: Optional[Callable[..., Any]]
    settings_need_restart: bool
    tools: Dict[str, Tool] = field(default_factory=dict)
    hooks: List[Hook] = field(default_factory=list)
    models: Dict[str, Function] = field(default_factory=dict)
    embedders: Dict[str, Function] = field(default_factory=dict)
    sources: Dict[str, Function] = field(default_factory=dict)
    commands: Dict[str, Function] = field(default_factory=dict)
    #: What takes new settings before they are in force, in its order.
    configures: List[Function] = field(default_factory=list)
    #: What plugin.json says of models, embedders, sources and commands.
    declared: List[Tuple[str, Facts]] = field(default_factory=list)

    def settings_of(self, config: Dict[str, Any]) -> Any:
        """Raises what the author raises, or ValueError for what does not fit the dataclass."""
        if self.settings is None:
            return config
        if dataclasses.is_dataclass(self.settings) and isinstance(self.settings, type):
            return read_fields(self.settings, config)
        return self.settings(config)

    def manifest(self, written: Mapping[str, Any]) -> Facts:
        """plugin.json as it must be: what the code says, over what only its author can (description, permissions, limits …)."""
        said: Facts = {"manifestVersion": 1, "name": self.name, "version": self.version}
        kept = {**said, **written, **said}
        kept["protocolMajors"] = [1, 2]
        # Python and gRPC need their time to load, on a machine that is busy above all.
        kept.setdefault("launch", {"command": ["python3", "main.py"], "startTimeoutMs": 60_000})
        parts: Facts = {
            "tools": [tool.facts for tool in self.tools.values()],
            "hooks": [hook.facts for hook in self.hooks],
            "modelProviders": self._declared("modelProviders"),
            "embedders": self._declared("embedders"),
            "memorySources": self._declared("memorySources"),
            "slashCommands": self._declared("slashCommands"),
        }
        for name, facts in parts.items():
            if facts:
                kept[name] = facts
            else:
                kept.pop(name, None)
        if dataclasses.is_dataclass(self.settings) and isinstance(self.settings, type):
            kept["configSchema"] = fields_schema(self.settings)
        return kept

    def _declared(self, kind: str) -> List[Facts]:
        return [facts for one, facts in self.declared if one == kind]


def tool_of(
    run: Callable[..., Any], name: str, description: str, schema: Optional[Mapping[str, Any]], more: Mapping[str, Any]
) -> Tool:
    """Raises TypeError for a function that can be no tool, e.g. one of which nothing says what it is for."""
    parameters = Parameters(run, _CONTEXTS)
    facts: Facts = {
        "name": name or run.__name__,
        "description": description or first_words(run, "a tool"),
        "inputSchema": dict(schema) if schema is not None else parameters.schema(),
        **more,
    }
    return Tool(facts, parameters, function_of(run, parameters.injected))


def plain_function(run: Callable[..., Any]) -> Function:
    """A function that is no tool: what it takes beside a context is its caller's affair."""
    hints = typing.get_type_hints(run)
    return function_of(run, {name: hint for name, hint in hints.items() if hint in _CONTEXTS and name != "return"})


def given(**facts: Any) -> Facts:
    """Those that say something."""
    return {name: value for name, value in facts.items() if value}


def argument_facts(takes: Sequence[Argument]) -> List[Facts]:
    return [{"name": one.name, **given(description=one.description, required=one.required)} for one in takes]


def first_words(made: Callable[..., Any], what: str) -> str:
    """Its docstring, a line a paragraph."""
    text = inspect.getdoc(made)
    if not text:
        raise TypeError(f"{made.__name__} is {what} without a docstring: it says what it is for")
    return "\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
