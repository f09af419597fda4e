"""Hears events: all on one stream, or one a call."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, AsyncIterator, Dict, Optional

from .gen.clawd.plugin.v1 import plugin_pb2 as v1
from .host import MESSAGE_LIMIT_BYTES
from .life import Life, tell
from .offers import Hook
from .running import invoke
from .server import Send
from .types import Answer, Block, Cancelled, Event, Modify, Pass, Skip
from .values import sayable, to_dict, to_struct, to_value, words_of

#: What a message may hold, less the few bytes around an answer.
MAX_ANSWER_BYTES = MESSAGE_LIMIT_BYTES - 64


@dataclass
class Hooks:
    """No event waits for another."""

    life: Life

    async def run(self, request: Any) -> Any:
        return v1.RunHookResponse(answer=await self._answer(request.event))

    async def stream(self, requests: AsyncIterator[Any], send: Send) -> None:
        """Answers in the order in which they are ready. Ends when the host ends the stream, or the plugin is told to end."""
        at_work: Dict[int, "asyncio.Task[None]"] = {}
        ready: "asyncio.Queue[Any]" = asyncio.Queue()

        async def settle(event: Any) -> None:
            answer = await self._answer(event)
            del at_work[event.id]
            ready.put_nowait(v1.StreamHooksResponse(id=event.id, answer=answer))

        async def hear() -> None:
            try:
                async for request in requests:
                    if request.WhichOneof("kind") == "event":
                        at_work[request.event.id] = asyncio.ensure_future(settle(request.event))
                    elif request.cancelled in at_work:
                        at_work.pop(request.cancelled).cancel()
            finally:
                ready.put_nowait(None)

        hearing = asyncio.ensure_future(hear())
        self.life.streams.add(ready)
        open_ = True
        try:
            while open_ or at_work or not ready.empty():
                answer = await ready.get()
                if answer is None:
                    open_ = False
                else:
                    await send(answer)
        finally:
            self.life.streams.discard(ready)
            for task in [hearing, *at_work.values()]:
                task.cancel()

    async def _answer(self, event: Any) -> Any:
        """Raises nothing but that it was cancelled: what a hook raises is its failure."""
        hook = self._pick(event)
        if hook is None:
            return v1.HookAnswer(failure=f"there is no hook at {event.at} here")
        life = self.life
        about = Event(event.at, event.session_id, event.workspace, to_dict(event.value))
        try:
            call = life.call(event)
            verdict = await invoke(hook.function, (about,), {}, call, life.work, life.hook_pool)
            return _hook_answer(verdict)
        except (Exception, Cancelled) as cause:
            tell(cause)
            return v1.HookAnswer(failure=words_of(cause))

    def _pick(self, event: Any) -> Optional[Hook]:
        """The one at the same place of plugin.json; otherwise, where places differ, the first at the same point."""
        hooks = self.life.offers.hooks
        placed = hooks[event.hook : event.hook + 1]
        return next((one for one in [*placed, *hooks] if one.at == event.at), None)


def _hook_answer(verdict: Any) -> Any:
    if verdict is None or isinstance(verdict, Pass):
        # Nothing set is a pass; its field has the name of a word of Python.
        answer = v1.HookAnswer()
    elif isinstance(verdict, Block):
        answer = v1.HookAnswer(block=sayable(verdict.because))
    elif isinstance(verdict, Modify):
        answer = v1.HookAnswer(modify=to_struct(verdict.value))
    elif isinstance(verdict, Answer):
        answer = v1.HookAnswer(answer=to_value(verdict.value))
    elif isinstance(verdict, Skip):
        answer = v1.HookAnswer(skip=True)
    else:
        raise TypeError(f"the hook answered {str(verdict)[:100]!r}; there are Pass, Modify, Block, Answer, Skip and None")
    if answer.ByteSize() > MAX_ANSWER_BYTES:
        raise ValueError(f"the hook answered {answer.ByteSize()} bytes; a message has at most 4 MiB")
    return answer
