"""What one life of a plugin is run with."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import traceback
from dataclasses import dataclass, field
from typing import Any, Callable, Set, TypeVar

import grpc

from .context import Call, Facts
from .host import HostClient
from .offered import LiveOffers
from .offers import Offers
from .running import Refused, Work

T = TypeVar("T")


@dataclass
class Life:
    """One life of a plugin."""

    offers: Offers
    host: HostClient
    loop: asyncio.AbstractEventLoop
    #: Hooks have threads of their own: tools that take long hold up no event.
    pool: concurrent.futures.Executor
    hook_pool: concurrent.futures.Executor
    work: Work
    shut_down: Callable[[], None]
    offered: LiveOffers
    facts: Facts = field(default_factory=Facts)
    #: Streams of events that stand open; they are closed by a None.
    streams: Set["asyncio.Queue[Any]"] = field(default_factory=set)

    def call(self, request: Any = None, **more: Any) -> Call:
        """Of a conversation, where the request is about one."""
        call = Call(self.facts, self.host, self.loop, self.offered, **more)
        if request is not None:
            call.call_id, call.session_id, call.workspace = request.call_id, request.session_id, request.workspace
        return call


def tell(cause: BaseException) -> None:
    """Where it came from is for the author."""
    traceback.print_exception(type(cause), cause, cause.__traceback__, file=sys.stderr)
    sys.stderr.flush()


def found_or_refuse(found: "T | None", what: str, name: str) -> T:
    if found is None:
        raise Refused(grpc.StatusCode.NOT_FOUND, f'there is no {what} "{name}" here')
    return found
