"""What an author's functions get and give. Everything here is a plain value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Union

ErrorCode = Literal["invalid", "not_found", "conflict", "denied", "timed_out", "exhausted", "unavailable"]


class ToolError(Exception):
    """A failure that says of what kind it is, and, in ``hint``, what to do next. Any other exception counts as "invalid".

    ``category`` says the same in finer words, for programs, e.g. "rate_limited"; beside one, ``retryable`` says that the same
    call may well succeed later. From a model provider, ``retryable`` or the code "unavailable" says that trying again may help.
    """

    def __init__(
        self, message: str, code: ErrorCode = "invalid", hint: str = "", *, category: str = "", retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.code, self.hint, self.category, self.retryable = code, hint, category, retryable


class NeedsRestart(Exception):
    """Raised by an ``@plugin.on_configure`` function: new settings come into force at the next start only, which follows."""


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
class FormReply:
    """The person's word to a question with a form. ``yes`` is False when nobody was there, and then ``answered`` is, too.

    ``content`` is what was filled in: an instance of the form where that is a dataclass, else a dict; None without a yes.
    """

    yes: bool
    answered: bool
    content: Any = None


@dataclass(frozen=True)
class Words:
    """What the conversation's model answered, and what that took of the budget, prompt and answer, in tokens.

    ``stop`` is "done", "length" or "refused"; ``model`` is "PROVIDER/NAME"; ``tokens_left`` holds until the day ends, by UTC.
    """

    text: str
    stop: str
    model: str
    tokens: int
    tokens_left: int


@dataclass(frozen=True)
class Offered:
    """What became of an offer: by which names models know the tools, in their order, an empty one for what cannot be offered;
    and why some cannot."""

    names: List[str]
    problems: List[str]


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
    """What a model is asked: which model (never empty), instructions, the conversation, what it may call, and the most tokens
    that it may answer (None for as many as it gives)."""

    model: str
    system: str
    messages: List[Message]
    tools: List[ToolFacts] = field(default_factory=list)
    max_tokens: Optional[int] = None


@dataclass(frozen=True)
class Document:
    """A document of a memory source. The id names it for ever, e.g. a path or an address; the title is for people."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True)
class Argument:
    """What a slash command takes by name, from programs that fill it in: 1 to 64 characters without spaces."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True)
class Say:
    """Of a slash command: said to the model in the message's place.

    ``messages`` are for programs that take more than a text (``ctx.whole``): all that it says, pictures and resources included,
    each in the form of a PromptMessage of the Model Context Protocol; 3 MiB in all.
    """

    text: str
    messages: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Show:
    """Of a slash command: shown to the person; nothing is said to the model. ``messages`` as ``Say`` has them."""

    text: str
    messages: Sequence[Mapping[str, Any]] = ()


#: Of a hook: what counts when it fails or is late.
OnError = Optional[Literal["allow", "deny", "ask"]]
