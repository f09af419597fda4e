"""Embedders, sources of documents, slash commands."""

from __future__ import annotations

import asyncio
from typing import Any

from .gen.clawd.plugin.v1 import plugin_pb2 as v1
from .life import Life, found_or_refuse
from .running import News, invoke
from .server import Send
from .types import Document, Say, Show
from .values import sayable, to_struct


async def embed(life: Life, request: Any) -> Any:
    function = found_or_refuse(life.offers.embedders.get(request.embedder), "embedder", request.embedder)
    about = (list(request.texts), "query" if request.is_query else "document")
    vectors = await invoke(function, about, {}, life.call(), life.work, life.pool)
    return v1.EmbedResponse(vectors=[v1.Vector(values=vector) for vector in vectors])


async def list_documents(life: Life, request: Any, send: Send) -> None:
    function = found_or_refuse(life.offers.sources.get(request.source), "memory source", request.source)
    news = News()

    async def emit(document: Document) -> None:
        if not isinstance(document, Document):
            raise TypeError(f"a memory source yields Documents, not a {type(document).__name__}")
        await news.put(document, len(document.text))

    task = asyncio.ensure_future(invoke(function, (), {}, life.call(), life.work, life.pool, emit))
    try:
        async for one in news.during(task):
            words = {"document_id": sayable(one.id), "text": sayable(one.text), "title": sayable(one.title)}
            await send(v1.ListDocumentsResponse(**words))
        task.result()
    finally:
        task.cancel()


async def run_command(life: Life, request: Any) -> Any:
    found = life.offers.commands.get(request.command) or life.offered.commands.get(request.command)
    function = found_or_refuse(found, "command", f"/{request.command}")
    call = life.call(request, named=dict(request.named), whole=request.whole)
    answer = await invoke(function, (request.args,), {}, call, life.work, life.pool)
    if not isinstance(answer, (Say, Show)):
        raise TypeError(f"a slash command answers Say or Show, not a {type(answer).__name__}")
    messages = [to_struct(one) for one in answer.messages] if call.whole else []
    if isinstance(answer, Say):
        return v1.RunSlashCommandResponse(say=sayable(answer.text), messages=messages)
    return v1.RunSlashCommandResponse(show=sayable(answer.text), messages=messages)
