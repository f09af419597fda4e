"""Tools and slash commands that come, change and go while a plugin runs."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from .host import HostClient
from .offers import Facts, Tool, argument_facts, first_words, given, plain_function, tool_of
from .running import Function
from .types import Argument, Offered


class OfferedTool:
    """A tool for ``ctx.offer``: a function, as ``@plugin.tool`` takes it. Without a ``description`` its docstring is one."""

    def __init__(
        self,
        run: Callable[..., Any],
        *,
        name: str = "",
        description: str = "",
        schema: Optional[Mapping[str, Any]] = None,
        rerun_safe: bool = False,
        timeout_ms: int = 0,
    ) -> None:
        self._tool = tool_of(run, name, description, schema, given(rerunSafe=rerun_safe, timeoutMs=timeout_ms))

    @property
    def name(self) -> str:
        return str(self._tool.facts["name"])


class OfferedCommand:
    """A slash command for ``ctx.offer``: a function, as ``@plugin.slash_command`` takes it."""

    def __init__(self, run: Callable[..., Any], *, name: str = "", description: str = "", takes: Sequence[Argument] = ()) -> None:
        self._function = plain_function(run)
        self.name = name or run.__name__
        about = description or first_words(run, "a command")
        self._facts: Facts = {"name": self.name, "description": about, "arguments": argument_facts(takes)}


class LiveOffers:
    """What was offered in this life, by its names."""

    def __init__(self, host: HostClient) -> None:
        self._host = host
        self.tools: Dict[str, Tool] = {}
        self.commands: Dict[str, Function] = {}
        self._taken_tools: Dict[str, Tool] = {}
        self._taken_commands: Dict[str, Function] = {}
        self._turn = asyncio.Lock()

    async def replace(self, tools: Sequence[OfferedTool], commands: Sequence[OfferedCommand]) -> Offered:
        """Raises HostError when the host does not take them; those before and these are then served, so that none is missing
        whatever the host has heard."""
        new_tools = {one.name: one._tool for one in tools}
        new_commands = {one.name: one._function for one in commands}
        async with self._turn:
            # The host may call a new one before its answer is here, and an old one until then.
            self.tools = {**self._taken_tools, **new_tools}
            self.commands = {**self._taken_commands, **new_commands}
            answer = await self._host.offer([one._tool.facts for one in tools], [one._facts for one in commands])
            self.tools = self._taken_tools = new_tools
            self.commands = self._taken_commands = new_commands
        return answer
