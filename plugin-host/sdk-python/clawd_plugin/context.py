"""What a function gets when it has a parameter of one of these types: the plugin's settings, and the way to its host."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Coroutine, Dict, List, Literal, Mapping, Optional, Sequence, Set
from typing import TypeVar, Union

from .forms import form_schema, read_form
from .host import AsyncArtifacts, AsyncSecrets, AsyncValues, HostClient
from .types import Cancelled, FormReply, Hit, Message, Offered, ToolReply, Words
from .values import sayable, words_of

if TYPE_CHECKING:
    from .offered import LiveOffers, OfferedCommand, OfferedTool

T = TypeVar("T")
#: A dataclass with plain fields, or a flat JSON Schema of type object.
Form = Union[type, Mapping[str, Any]]
Level = Literal["debug", "info", "warning", "error"]


@dataclass
class Facts:
    """What the host said at the start; the settings change when a person changes them."""

    settings: Any = field(default_factory=dict)
    granted: List[str] = field(default_factory=list)
    data_folder: Optional[str] = None


@dataclass
class Call:
    """One call that runs. ``write`` is for tools, and waits while the host is slower."""

    facts: Facts
    host: HostClient
    loop: asyncio.AbstractEventLoop
    offered: LiveOffers
    call_id: str = ""
    session_id: str = ""
    workspace: str = ""
    named: Dict[str, str] = field(default_factory=dict)
    whole: bool = False
    line: Optional[Callable[[str], None]] = None
    write: Optional[Callable[[Union[str, bytes]], Awaitable[None]]] = None
    over: threading.Event = field(default_factory=threading.Event)
    waiting: Set[concurrent.futures.Future[Any]] = field(default_factory=set)

    def cancel(self) -> None:
        """Nobody waits any more: what the function itself waits for ends with Cancelled."""
        self.over.set()
        for one in list(self.waiting):
            one.cancel()

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """For a thread: what the loop makes of it."""
        if self.over.is_set():
            coroutine.close()
            raise Cancelled()
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        self.waiting.add(future)
        try:
            if self.over.is_set():
                future.cancel()
            return future.result()
        except concurrent.futures.CancelledError:
            raise Cancelled() from None
        finally:
            self.waiting.discard(future)


class _Base:
    def __init__(self, call: Call) -> None:
        self._call = call
        #: The plugin's settings: as ``Plugin(settings=…)`` made them, or a dict.
        self.settings: Any = call.facts.settings
        #: What the plugin may touch, in the permission language: what plugin.json asks for, or less.
        self.granted: List[str] = list(call.facts.granted)
        #: A folder of its own that it may write, kept between its lives; None when it was granted none.
        self.data_folder: Optional[str] = call.facts.data_folder
        self.call_id, self.session_id = call.call_id, call.session_id
        #: The folder that the conversation works in; only told: what may be read there is a matter of the grant.
        self.workspace: str = call.workspace
        #: Of a slash command: what a program filled in by name; empty for a person's words.
        self.named: Dict[str, str] = call.named
        #: Of a slash command: True when whoever asks takes messages beside the text.
        self.whole: bool = call.whole

    @property
    def cancelled(self) -> bool:
        """True when nobody waits any more."""
        return self._call.over.is_set()

    def progress(self, line: str) -> None:
        """Shows a line to whoever waits. Never stored, never waits."""
        call, text = self._call, sayable(str(line))
        if call.line is None:
            asyncio.run_coroutine_threadsafe(_show(call, text), call.loop)
        elif _is_running(call.loop):
            # At once: a piece of output that is written next must not overtake it.
            call.line(text)
        else:
            call.loop.call_soon_threadsafe(call.line, text)

    def log(self, message: str, level: Level = "info") -> None:
        """Writes a line to the plugin's log (``claw plugin logs NAME``)."""
        print(json.dumps({"level": level, "msg": sayable(str(message))}), file=sys.stderr, flush=True)


def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


async def _show(call: Call, text: str) -> None:
    try:
        await call.host.progress(call.call_id, text)
    except Exception as cause:
        print(f"progress was not shown: {words_of(cause)}", file=sys.stderr, flush=True)


async def _write(call: Call, piece: Union[str, bytes]) -> None:
    if call.write is None:
        raise TypeError("only a tool has output that can be written piece by piece")
    await call.write(piece)


async def _ask_form(call: Call, question: str, form: Form) -> FormReply:
    yes, answered, content = await call.host.ask_form(call.call_id, question, form_schema(form))
    return FormReply(yes, answered, read_form(form, content) if yes else None)


class AsyncContext(_Base):
    """For ``async def`` functions."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.values = AsyncValues(call.host)
        self.artifacts = AsyncArtifacts(call.host)
        self.secrets = AsyncSecrets(call.host)

    async def write(self, piece: Union[str, bytes]) -> None:
        """Sends a piece of the output at once; the result follows all pieces. Waits while the host is slower."""
        await _write(self._call, piece)

    async def recall(self, query: str, limit: int = 5) -> List[Hit]:
        """Searches long-term memory, best first. Needs the permission "memory=read"."""
        return await self._call.host.recall(query, limit)

    async def ask(self, question: str) -> Optional[bool]:
        """Asks the person a question of at most 500 characters with yes or no; None when nobody answered."""
        return await self._call.host.ask(self.call_id, question)

    async def call_tool(self, tool: str, args: Optional[Mapping[str, Any]] = None) -> ToolReply:
        """Calls another tool by its full name, through all its gates. Needs the permission "tool=<name>"."""
        return await self._call.host.call_tool(self.call_id, tool, args or {})

    async def ask_form(self, question: str, form: Form) -> FormReply:
        """As ``ask``, and a person fills in a form, too. What looks like a password is not asked for."""
        return await _ask_form(self._call, question, form)

    async def generate(self, asked: Union[str, Sequence[Message]], *, max_tokens: int, system: str = "") -> Words:
        """Asks the model of the conversation, which hears nothing else of it: a question, or messages of texts, the last by the
        user. Fewer tokens when less is left. Only for a plugin that its owner gave a budget, as servers of MCP can have one."""
        return await self._call.host.generate(self.call_id, asked, max_tokens, system)

    async def offer(self, tools: Sequence[OfferedTool], commands: Sequence[OfferedCommand] = ()) -> Offered:
        """Says which tools and commands there are now beside those of plugin.json, which must say "dynamic": true; what was
        offered before and is missing here is gone. The host knows them, too, while the plugin does not run: offer them again in
        ``@plugin.on_configure``, which comes before any call."""
        return await self._call.offered.replace(tools, commands)


class Context(_Base):
    """For ``def`` functions, which run in threads. What waits raises Cancelled when nobody waits for the call any more."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.values = Values(call)
        self.artifacts = Artifacts(call)
        self.secrets = Secrets(call)

    def sleep(self, seconds: float) -> None:
        """Waits, and raises Cancelled as soon as nobody waits any more."""
        if self._call.over.wait(seconds):
            raise Cancelled()

    def raise_if_cancelled(self) -> None:
        """For loops that take long: raises Cancelled when nobody waits any more."""
        self.sleep(0)

    def write(self, piece: Union[str, bytes]) -> None:
        """Sends a piece of the output at once; the result follows all pieces. Waits while the host is slower."""
        self._call.wait(_write(self._call, piece))

    def recall(self, query: str, limit: int = 5) -> List[Hit]:
        """Searches long-term memory, best first. Needs the permission "memory=read"."""
        return self._call.wait(self._call.host.recall(query, limit))

    def ask(self, question: str) -> Optional[bool]:
        """Asks the person a question of at most 500 characters with yes or no; None when nobody answered."""
        return self._call.wait(self._call.host.ask(self.call_id, question))

    def call_tool(self, tool: str, args: Optional[Mapping[str, Any]] = None) -> ToolReply:
        """Calls another tool by its full name, through all its gates. Needs the permission "tool=<name>"."""
        return self._call.wait(self._call.host.call_tool(self.call_id, tool, args or {}))

    def ask_form(self, question: str, form: Form) -> FormReply:
        """As ``ask``, and a person fills in a form, too. What looks like a password is not asked for."""
        return self._call.wait(_ask_form(self._call, question, form))

    def generate(self, asked: Union[str, Sequence[Message]], *, max_tokens: int, system: str = "") -> Words:
        """Asks the model of the conversation, which hears nothing else of it: a question, or messages of texts, the last by the
        user. Fewer tokens when less is left. Only for a plugin that its owner gave a budget, as servers of MCP can have one."""
        return self._call.wait(self._call.host.generate(self.call_id, asked, max_tokens, system))

    def offer(self, tools: Sequence[OfferedTool], commands: Sequence[OfferedCommand] = ()) -> Offered:
        """Says which tools and commands there are now beside those of plugin.json, which must say "dynamic": true; what was
        offered before and is missing here is gone. The host knows them, too, while the plugin does not run: offer them again in
        ``@plugin.on_configure``, which comes before any call."""
        return self._call.wait(self._call.offered.replace(tools, commands))


class Values:
    """As AsyncValues, for threads."""

    def __init__(self, call: Call) -> None:
        self._call, self._values = call, AsyncValues(call.host)

    def get(self, key: str, default: Any = None) -> Any:
        return self._call.wait(self._values.get(key, default))

    def set(self, key: str, value: Any) -> None:
        """Returns when it is durable."""
        self._call.wait(self._values.set(key, value))

    def delete(self, key: str) -> None:
        self._call.wait(self._values.delete(key))

    def keys(self, prefix: str = "") -> List[str]:
        """In their order; all, or those that begin so."""
        return self._call.wait(self._values.keys(prefix))


class Secrets:
    """As AsyncSecrets, for threads."""

    def __init__(self, call: Call) -> None:
        self._call, self._secrets = call, AsyncSecrets(call.host)

    def get(self, key: str) -> Optional[str]:
        """None when there is none."""
        return self._call.wait(self._secrets.get(key))

    def set(self, key: str, value: str) -> None:
        """Returns when it is durable; an empty text takes it out."""
        self._call.wait(self._secrets.set(key, value))


class Artifacts:
    """As AsyncArtifacts, for threads."""

    def __init__(self, call: Call) -> None:
        self._call, self._artifacts = call, AsyncArtifacts(call.host)

    def write(self, data: Union[bytes, str], mime_type: str = "", to: str = "") -> str:
        """Keeps bytes of any length, or adds them to the artifact ``to``; gives its id."""
        return self._call.wait(self._artifacts.write(data, mime_type, to))

    def read(self, id: str, offset_bytes: int = 0, limit_bytes: Optional[int] = None) -> bytes:
        """All of it, or what is from ``offset_bytes`` on, at most ``limit_bytes``."""
        return self._call.wait(self._artifacts.read(id, offset_bytes, limit_bytes))
