"""What a plugin offers, and how plugin.json says it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .running import Function
from .schema import Parameters, fields_schema, read_fields

Facts = Dict[str, Any]


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
    #: What plugin.json says of the last four.
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
