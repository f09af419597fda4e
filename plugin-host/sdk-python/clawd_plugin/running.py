"""Runs an author's functions: ``def`` in threads, ``async def`` on the loop; and carries what they say meanwhile."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections import deque
from dataclasses import dataclass
from typing import Any, AsyncIterator, Awaitable, Callable, Deque, Dict, Mapping, Optional, Tuple, Union

import grpc

from .context import AsyncContext, Call, Context

#: What waits for a slow host. Beyond the bytes the function waits, beyond the lines the oldest go.
WAITING_BYTES = 256 * 1024
WAITING_LINES = 1000
PIECE_BYTES = 64 * 1024

Emit = Callable[[Any], Awaitable[None]]


class Refused(Exception):
    """Ends a call with a status of gRPC."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class Work:
    """What runs at this moment."""

    def __init__(self) -> None:
        self._running, self._draining = 0, False
        self._idle = asyncio.Event()
        self._idle.set()

    def begin(self) -> None:
        if self._draining:
            raise Refused(grpc.StatusCode.UNAVAILABLE, "the plugin is about to end and takes nothing new")
        self._running += 1
        self._idle.clear()

    def end(self) -> None:
        self._running -= 1
        if self._running == 0:
            self._idle.set()

    def refuse_more(self) -> None:
        self._draining = True

    async def idle(self, timeout_s: float) -> None:
        """Returns when nothing runs, or at the end of the time."""
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_s)
        except asyncio.TimeoutError:
            pass


@dataclass(frozen=True)
class Function:
    """A function of the author's, and by which name it wants its context."""

    run: Callable[..., Any]
    context_name: Optional[str]

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.run) or inspect.isasyncgenfunction(self.run)


def function_of(run: Callable[..., Any], injected: Mapping[str, type]) -> Function:
    """Raises TypeError when the context is of the other kind, or asked for twice."""
    found = Function(run, next(iter(injected), None))
    wanted, other = (AsyncContext, "async def") if found.is_async else (Context, "def")
    if any(kind is not wanted for kind in injected.values()) or len(injected) > 1:
        raise TypeError(f"{run.__name__} is {'an' if found.is_async else 'a'} {other}: its context is one {wanted.__name__}")
    return found


async def invoke(
    function: Function,
    positional: Tuple[Any, ...],
    named: Mapping[str, Any],
    call: Call,
    work: Work,
    pool: concurrent.futures.Executor,
    emit: Optional[Emit] = None,
) -> Any:
    """What it returns, after all that it yields went to ``emit``. Work ends when the function does, also if it outlives its call."""
    work.begin()
    thread: Optional[concurrent.futures.Future[Any]] = None
    arguments: Dict[str, Any] = dict(named)
    if function.context_name is not None:
        arguments[function.context_name] = (AsyncContext if function.is_async else Context)(call)
    try:
        if function.is_async:
            return await _on_loop(function.run, positional, arguments, emit)
        thread = pool.submit(_in_thread, function.run, positional, arguments, call, emit)
        return await asyncio.wrap_future(thread)
    except SystemExit as cause:
        raise RuntimeError("it called sys.exit, which is not its place") from cause
    finally:
        call.cancel()
        if thread is None or thread.done():
            work.end()
        else:
            thread.add_done_callback(lambda _: call.loop.call_soon_threadsafe(work.end))


async def _on_loop(run: Callable[..., Any], positional: Any, named: Dict[str, Any], emit: Optional[Emit]) -> Any:
    result = run(*positional, **named)
    if not inspect.isasyncgen(result):
        return await result
    try:
        async for piece in result:
            await _emitter(emit)(piece)
    finally:
        await result.aclose()
    return None


def _in_thread(
    run: Callable[..., Any], positional: Any, named: Dict[str, Any], call: Call, emit: Optional[Emit]
) -> Any:
    try:
        result = run(*positional, **named)
        if not inspect.isgenerator(result):
            return result
        try:
            for piece in result:
                call.wait(_said(_emitter(emit), piece))
        finally:
            result.close()
        return None
    except StopIteration as cause:
        # No future can carry one.
        raise RuntimeError("it raised StopIteration") from cause


async def _said(emit: Emit, piece: Any) -> None:
    await emit(piece)


def _emitter(emit: Optional[Emit]) -> Emit:
    if emit is None:
        raise TypeError("it yields, and what it is for takes one answer: return it")
    return emit


class News:
    """What a call says while it runs: at most so much of it waits."""

    def __init__(self) -> None:
        self._items: Deque[Tuple[bool, Any, int]] = deque()
        self._bytes = self._lines = 0
        self._stirred, self._room = asyncio.Event(), asyncio.Event()

    def line(self, item: Any) -> None:
        """For what may be lost."""
        self._items.append((True, item, 0))
        self._lines += 1
        if self._lines > WAITING_LINES:
            self._items.remove(next(one for one in self._items if one[0]))
            self._lines -= 1
        self._stirred.set()

    async def put(self, item: Any, size_bytes: int) -> None:
        """For what may not: waits while too much waits already."""
        self._items.append((False, item, size_bytes))
        self._bytes += size_bytes
        self._stirred.set()
        while self._bytes > WAITING_BYTES:
            self._room.clear()
            await self._room.wait()

    async def write(self, piece: Union[str, bytes]) -> None:
        """Output of a tool."""
        data = piece.encode("utf-8", "replace") if isinstance(piece, str) else piece
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"a piece of output is text or bytes, not {type(piece).__name__}")
        for at in range(0, len(data), PIECE_BYTES):
            part = bytes(data[at : at + PIECE_BYTES])
            await self.put(part, len(part))

    def _over(self, task: "asyncio.Task[Any]") -> None:
        # Looked at, so that nobody complains of what a cancelled call raised.
        if not task.cancelled():
            task.exception()
        self._stirred.set()

    async def during(self, task: "asyncio.Task[Any]") -> AsyncIterator[Any]:
        """All that is said until the task has ended and nothing is left. Leaving it cancels the task."""
        task.add_done_callback(self._over)
        try:
            while self._items or not task.done():
                while self._items:
                    is_line, item, size_bytes = self._items.popleft()
                    self._lines -= 1 if is_line else 0
                    self._bytes -= size_bytes
                    self._room.set()
                    yield item
                if not task.done():
                    self._stirred.clear()
                    if not self._items:
                        await self._stirred.wait()
        finally:
            task.cancel()
