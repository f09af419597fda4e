"""The plugin: an author's functions, decorated, and their life."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union, overload

from .boot import live
from .offers import Hook, Offers, argument_facts, given, plain_function, tool_of
from .running import Function
from .types import Argument, OnError

F = TypeVar("F", bound=Callable[..., Any])

#: EX_USAGE of sysexits.h: started by hand, not by a host.
EXIT_NO_HOST = 64


class Plugin:
    """A plugin. Functions that it decorates may be ``def``, which run in threads, or ``async def``, which run on one loop.

    ``settings`` makes the settings of what a person wrote: a dataclass, or any function of a dict. What it raises
    refuses them, in its words. With ``settings_need_restart`` new ones come into force at the next start only.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        settings: Optional[Callable[..., Any]] = None,
        settings_need_restart: bool = False,
    ) -> None:
        self.name, self.version = name, version
        self._offers = Offers(name, version, settings, settings_need_restart)
        self._stops: List[Callable[[], Any]] = []

    @overload
    def tool(self, run: F) -> F: ...

    @overload
    def tool(
        self,
        *,
        name: str = ...,
        description: str = ...,
        schema: Optional[Mapping[str, Any]] = ...,
        rerun_safe: bool = ...,
        timeout_ms: int = ...,
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        run: Optional[F] = None,
        *,
        name: str = "",
        description: str = "",
        schema: Optional[Mapping[str, Any]] = None,
        rerun_safe: bool = False,
        timeout_ms: int = 0,
    ) -> Union[F, Callable[[F], F]]:
        """Makes a tool of a function: its parameters are the arguments, its docstring tells the model what it is for.

        It gives back a str, anything that JSON can say (dataclasses, too), an ``Artifact``, a tuple of several such
        parts, or yields its output in pieces. What it raises is told to the model as an error. ``rerun_safe``: running
        it twice does no harm. ``schema`` replaces the one that the type hints make.
        """

        def decorate(made: F) -> F:
            tool = tool_of(made, name, description, schema, given(rerunSafe=rerun_safe, timeoutMs=timeout_ms))
            self._offers.tools[tool.facts["name"]] = tool
            return made

        return decorate if run is None else decorate(run)

    def hook(
        self, at: str, *, priority: int = 0, timeout_ms: int = 0, on_error: OnError = None, tools: Optional[List[str]] = None
    ) -> Callable[[F], F]:
        """Listens at a point of docs/hooks.md, by its canonical name. The function takes an ``Event`` and answers ``Pass``,
        ``Modify``, ``Block``, ``Answer``, ``Skip`` or nothing. ``on_error``: what counts when it fails or is late."""

        def decorate(made: F) -> F:
            facts = {"at": at, **given(priority=priority, timeoutMs=timeout_ms, onError=on_error, tools=tools)}
            self._offers.hooks.append(Hook(at, facts, plain_function(made)))
            return made

        return decorate

    def model(self, name: str, *, default_model: str) -> Callable[[F], F]:
        """A model provider. The function takes a ``ModelRequest`` and yields str (pieces of text), ``Thinking``, ``ToolCall``
        and, if it likes, one ``End``."""
        return self._offer("modelProviders", self._offers.models, name, {"name": name, "defaultModel": default_model})

    def embedder(self, id: str, *, dimensions: int) -> Callable[[F], F]:
        """An embedder. The function takes at most 256 texts and "query" or "document", and gives a vector a text."""
        return self._offer("embedders", self._offers.embedders, id, {"id": id, "dimensions": dimensions})

    def memory_source(self, name: str, *, description: str = "") -> Callable[[F], F]:
        """A source of documents for memory. The function takes nothing and yields each ``Document``."""
        facts = {"name": name, **given(description=description)}
        return self._offer("memorySources", self._offers.sources, name, facts)

    def slash_command(self, name: str, *, description: str = "", takes: Sequence[Argument] = ()) -> Callable[[F], F]:
        """A slash command, without the slash. The function takes the rest of the message and gives ``Say`` or ``Show``.
        ``takes``: what programs fill in by name, which comes as ``ctx.named``."""
        facts = {"name": name, **given(description=description, arguments=argument_facts(takes))}
        return self._offer("slashCommands", self._offers.commands, name, facts)

    def on_configure(self, run: F) -> F:
        """Takes the settings, as ``settings`` made them: once before anything else, and whenever a person changes them. They are
        in force when it returns. What it raises says why they cannot be used; ``NeedsRestart``, that they are at the next start.
        The host can be asked for things already: a place for ``ctx.offer``."""
        self._offers.configures.append(plain_function(run))
        return run

    def on_stop(self, run: F) -> F:
        """Tidies up before the process ends; it has two seconds, and half a one when the host is gone."""
        self._stops.append(run)
        return run

    def _offer(self, kind: str, by_name: Dict[str, Function], name: str, facts: Dict[str, Any]) -> Callable[[F], F]:
        def decorate(made: F) -> F:
            by_name[name] = plain_function(made)
            self._offers.declared.append((kind, facts))
            return made

        return decorate

    def manifest(self, written: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """What plugin.json must say: all that the code knows, over what was ``written`` (permissions, limits …)."""
        return self._offers.manifest(written or {})

    def run(self, *, threads: int = 32) -> None:
        """Serves until the host is gone or says so, then ends the process. At most ``threads`` calls of ``def`` functions,
        and as many events, run at once.

        Started by hand it explains itself and ends with code 64, or, with ``--manifest``, writes plugin.json.
        """
        if os.environ.get("CLAWD_PLUGIN") == "1":
            live(self._offers, self._stops, threads)
        elif sys.argv[1:] == ["--manifest"]:
            self._write_manifest(Path(sys.argv[0]).resolve().parent / "plugin.json")
        else:
            print(
                f"{self.name} {self.version} is a plugin of clawd and runs only inside it.\n"
                "Install it with:  claw plugin install FOLDER   (the folder that holds plugin.json)\n"
                f"After changes:    python3 {sys.argv[0]} --manifest   (brings plugin.json up to date)",
                file=sys.stderr,
            )
            sys.exit(EXIT_NO_HOST)

    def _write_manifest(self, file: Path) -> None:
        written = json.loads(file.read_text("utf-8")) if file.exists() else {}
        manifest = self.manifest(written)
        if manifest == written:
            print(f"{file} is up to date")
        else:
            file.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", "utf-8")
            print(f"wrote {file}")
