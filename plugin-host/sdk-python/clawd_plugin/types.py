"""What an author's functions get and give. Everything here is a plain value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Literal, Optional, Union

ErrorCode = Literal["invalid", "not_found", "conflict", "denied", "timed_out", "exhausted", "unavailable"]


class ToolError(Exception):
    """A failure that says of what kind it is, and, in ``hint``, what to do next. Any other exception counts as "invalid".

    From a model provider, the code "unavailable" says that trying again may help.
    """

    def __init__(self, message: str, code: ErrorCode = "invalid", hint: str = "") -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


class HostError(Exception):
    """The host refused what it was asked for, or is gone; ``code`` is that of gRPC, e.g. "PERMISSION_DENIED"."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Cancelled(BaseException):
    """Nobody waits for this call any more. Raised in ``def`` functions; an ``async def`` gets asyncio.CancelledError.

    Like that one it is no Exception, so that ``except Exception`` lets it pass.
    """


@dataclass(frozen=True)
class Json:
    """A part of a result: data, which the model reads as JSON."""

    value: Any


@dataclass(frozen=True)
class Artifact:
    """A part of a result: an artifact that the plugin wrote before."""

    id: str


@dataclass(frozen=True)
class Hit:
    """What memory found: the text, and where it is from (a path or a note's id)."""

    text: str
    source: str


@dataclass(frozen=True)
class ToolReply:
    """What another tool came to: what a model would read, and whether it failed or was not allowed."""

    text: str
    is_error: bool


@dataclass(frozen=True)
class Event:
    """A moment of a conversation. docs/hooks.md has the fields that ``value`` has at each point."""

    at: str
    session_id: str
    workspace: str
    value: Dict[str, Any]


@dataclass(frozen=True)
class Pass:
    """Go on; a hook that returns nothing says the same."""


@dataclass(frozen=True)
class Modify:
    """Go on with this value in place of the event's."""

    value: Dict[str, Any]


@dataclass(frozen=True)
class Block:
    """Not so; the text says why."""

    because: str


@dataclass(frozen=True)
class Answer:
    """In the tool's place: any JSON."""

    value: Any


@dataclass(frozen=True)
class Skip:
    """Pass over the hooks after this one."""


Verdict = Union[None, Pass, Modify, Block, Answer, Skip]


@dataclass(frozen=True)
class Thinking:
    """Thoughts of a model, whole."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """A call that a model wants. An empty id is given one."""

    tool: str
    args: Dict[str, Any]
    call_id: str = ""


@dataclass(frozen=True)
class ToolResult:
    """What a call that a model wanted came to."""

    call_id: str
    text: str
    is_error: bool


@dataclass(frozen=True)
class End:
    """How a model's reply ended; one that says nothing ends by itself."""

    stop: Literal["", "done", "calls", "length", "refused"] = ""
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Message:
    """One side's words: "user" or "assistant"."""

    role: str
    parts: List[Union[str, Thinking, ToolCall, ToolResult]]


@dataclass(frozen=True)
class ToolFacts:
    """A tool that a model may call."""

    name: str
    description: str
    input_schema: Dict[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """What a model is asked: which model (never empty), instructions, the conversation, and what it may call."""

    model: str
    system: str
    messages: List[Message]
    tools: List[ToolFacts] = field(default_factory=list)


@dataclass(frozen=True)
class Document:
    """A document of a memory source. The id names it for ever, e.g. a path or an address; the title is for people."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True)
class Say:
    """Of a slash command: said to the model in the message's place."""

    text: str


@dataclass(frozen=True)
class Show:
    """Of a slash command: shown to the person; nothing is said to the model."""

    text: str


#: Of a hook: what counts when it fails or is late.
OnError = Optional[Literal["allow", "deny", "ask"]]
