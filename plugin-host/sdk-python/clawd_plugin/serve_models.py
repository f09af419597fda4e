"""Lets the plugin's models answer."""

from __future__ import annotations

import asyncio
from typing import Any

from .gen.clawd.plugin.v1 import plugin_pb2 as v1
from .life import Life, found_or_refuse, tell
from .running import News, Refused, invoke
from .server import Send
from .types import Cancelled, End, Message, ModelRequest, Thinking, ToolCall, ToolError, ToolFacts, ToolResult
from .values import sayable, to_dict, to_struct, words_of


async def generate(life: Life, request: Any, send: Send) -> None:
    """Pieces of text go out at once and are gathered into a whole part, which goes out when something else follows."""
    run = found_or_refuse(life.offers.models.get(request.provider), "model provider", request.provider)
    news = News()

    async def emit(said: Any) -> None:
        await news.put(said, len(said) if isinstance(said, str) else 0)

    about = (_model_request(request),)
    task = asyncio.ensure_future(invoke(run, about, {}, life.call(), life.work, life.pool, emit))
    text, calls = "", 0

    async def whole() -> None:
        nonlocal text
        if text:
            gathered, text = text, ""
            await send(v1.GenerateResponse(part=v1.ModelPart(text=gathered)))

    try:
        async for said in news.during(task):
            if isinstance(said, str):
                text += sayable(said)
                await send(v1.GenerateResponse(text_delta=sayable(said)))
                continue
            await whole()
            if isinstance(said, Thinking):
                await send(v1.GenerateResponse(part=v1.ModelPart(thinking=sayable(said.text))))
            elif isinstance(said, ToolCall):
                calls += 1
                wanted = v1.ModelCall(call_id=said.call_id or f"call-{calls}", tool=said.tool, args=to_struct(said.args))
                await send(v1.GenerateResponse(part=v1.ModelPart(call=wanted)))
            elif isinstance(said, End):
                end = v1.GenerateEnd(stop=said.stop, input_tokens=said.input_tokens, output_tokens=said.output_tokens)
                return await send(v1.GenerateResponse(end=end))
            else:
                raise TypeError(f"a model says str, Thinking, ToolCall and End, not a {type(said).__name__}")
        task.result()
        await whole()
        await send(v1.GenerateResponse(end=v1.GenerateEnd()))
    except Refused:
        raise
    except (Exception, Cancelled) as cause:
        tell(cause)
        retryable = isinstance(cause, ToolError) and (cause.retryable or cause.code == "unavailable")
        await send(v1.GenerateResponse(failure=v1.GenerateFailure(message=words_of(cause), retryable=retryable)))
    finally:
        task.cancel()


def _model_request(request: Any) -> ModelRequest:
    messages = [Message(one.role, [_model_part(part) for part in one.parts]) for one in request.messages]
    tools = [ToolFacts(one.name, one.description, to_dict(one.input_schema)) for one in request.tools]
    return ModelRequest(request.model, request.system, messages, tools, request.max_tokens or None)


def _model_part(part: Any) -> Any:
    kind = part.WhichOneof("part")
    if kind == "call":
        return ToolCall(part.call.tool, to_dict(part.call.args), part.call.call_id)
    if kind == "result":
        return ToolResult(part.result.call_id, part.result.text, part.result.is_error)
    return Thinking(part.thinking) if kind == "thinking" else part.text
