"""What every plugin serves: its start and its end, its settings, its tools; in both majors of the protocol."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Tuple

import grpc
import grpc.aio

from .context import Facts
from .gen.clawd.plugin.v1 import plugin_pb2 as v1
from .gen.clawd.plugin.v2 import plugin_pb2 as v2
from .life import Life, found_or_refuse, tell
from .running import News, Refused, invoke
from .server import Send, add_service
from .types import Artifact, Cancelled, Json, NeedsRestart, ToolError
from .values import sayable, to_dict, to_plain, to_text, to_value, words_of


@dataclass
class Core:
    """What every major of PluginService says in its own messages."""

    life: Life

    async def _take_settings(self, config: Any, before: Facts) -> Tuple[Facts, bool]:
        """What is in force with them, and whether that is so at the next start only. Raises what the author raises."""
        life = self.life
        # In a thread: settings may read files.
        settings = await life.loop.run_in_executor(life.pool, life.offers.settings_of, to_dict(config))
        facts = Facts(settings, before.granted, before.data_folder)
        try:
            for function in life.offers.configures:
                call = life.call()
                call.facts = facts
                await invoke(function, (settings,), {}, call, life.work, life.pool)
        except NeedsRestart:
            return facts, True
        return facts, life.offers.settings_need_restart

    async def initialize(self, facts: Any) -> v1.InitializeResponse:
        granted = Facts({}, list(facts.granted), facts.data_folder or None)
        try:
            self.life.facts, _ = await self._take_settings(facts.config, granted)
        except (Exception, Cancelled) as cause:
            raise Refused(grpc.StatusCode.FAILED_PRECONDITION, words_of(cause)) from cause
        return v1.InitializeResponse(version=self.life.offers.version, tools=self.tools())

    async def configure(self, config: Any) -> Dict[str, Any]:
        try:
            facts, restart = await self._take_settings(config, self.life.facts)
        except (Exception, Cancelled) as cause:
            return {"problem": words_of(cause)}
        if restart:
            return {"restart_required": True}
        self.life.facts = facts
        return {}

    def tools(self) -> List[Any]:
        return [{"name": name} for name in self.life.offers.tools]

    async def drain(self, request: Any) -> None:
        self.life.work.refuse_more()
        await self.life.work.idle(request.time_limit_ms / 1000)

    def shut_down(self) -> None:
        self.life.work.refuse_more()
        self.life.shut_down()

    async def call_tool(self, request: Any, send: Callable[..., Any]) -> None:
        """Tells ``send`` progress=…, output=… and at last result=(parts, failure)."""
        life, news = self.life, News()
        found = life.offers.tools.get(request.tool) or life.offered.tools.get(request.tool)
        tool = found_or_refuse(found, "tool", request.tool)
        call = life.call(request, line=news.line, write=news.write)

        async def run() -> Any:
            named = tool.parameters.read(to_dict(request.args))
            return await invoke(tool.function, (), named, call, life.work, life.pool, news.write)

        task = asyncio.ensure_future(run())
        try:
            async for item in news.during(task):
                await send(**({"progress": item} if isinstance(item, str) else {"output": v1.OutputChunk(data=item)}))
            await send(result=_settled(task))
        finally:
            task.cancel()


def _settled(task: "asyncio.Task[Any]") -> Tuple[List[Any], Any]:
    try:
        return _parts_of(task.result()), None
    except (Refused, asyncio.CancelledError):
        raise
    except (Exception, Cancelled) as cause:
        tell(cause)
        words = words_of(cause)
        known = cause if isinstance(cause, ToolError) else ToolError(words)
        hint, category = sayable(known.hint), sayable(known.category)
        failure = v2.ToolFailure(
            code=known.code, message=words, hint=hint, category=category, retryable=known.retryable
        )
        return [{"text": words}], failure


def _parts_of(result: Any) -> List[Any]:
    """A tuple is several parts; what is neither text nor a part is data."""
    if result is None:
        return []
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return [part for one in result for part in _parts_of(one)]
    if isinstance(result, str):
        return [{"text": sayable(result)}]
    if isinstance(result, Artifact):
        return [{"artifact_id": result.id}]
    return [{"json": to_value(result.value if isinstance(result, Json) else result)}]


def serve_major1(server: grpc.aio.Server, core: Core) -> None:
    async def initialize(request: Any) -> Any:
        return await core.initialize(request)

    async def configure(request: Any) -> Any:
        return v1.ConfigureResponse(**await core.configure(request.config))

    async def list_tools(request: Any) -> Any:
        return v1.ListToolsResponse(tools=core.tools())

    async def call_tool(request: Any, send: Send) -> None:
        async def say(**news: Any) -> None:
            if "result" in news:
                parts, failure = news["result"]
                text = "\n".join(_text_of(part) for part in parts)
                news = {"result": v1.ToolResult(is_error=failure is not None, text=text)}
            await send(v1.CallToolResponse(**news))

        await core.call_tool(request, say)

    _serve_core(server, core, v1, initialize, configure, list_tools, call_tool)


def serve_major2(server: grpc.aio.Server, core: Core) -> None:
    async def initialize(request: Any) -> Any:
        return v2.InitializeResponse(facts=await core.initialize(request.facts))

    async def configure(request: Any) -> Any:
        return v2.ConfigureResponse(**await core.configure(request.config))

    async def list_tools(request: Any) -> Any:
        return v2.ListToolsResponse(tools=core.tools())

    async def call_tool(request: Any, send: Send) -> None:
        async def say(**news: Any) -> None:
            if "result" in news:
                parts, failure = news["result"]
                news = {"result": v2.ToolResult(parts=[v2.ResultPart(**part) for part in parts], failure=failure)}
            await send(v2.CallToolResponse(**news))

        await core.call_tool(request, say)

    _serve_core(server, core, v2, initialize, configure, list_tools, call_tool)


def _serve_core(server: grpc.aio.Server, core: Core, wire: Any, *methods: Any) -> None:
    async def drain(request: Any) -> Any:
        await core.drain(request)
        return wire.DrainResponse()

    async def shutdown(request: Any) -> Any:
        core.shut_down()
        return wire.ShutdownResponse()

    names = ["Initialize", "Configure", "ListTools", "CallTool"]
    both = {"Drain": drain, "Shutdown": shutdown}
    add_service(server, wire.DESCRIPTOR, "PluginService", {**dict(zip(names, methods)), **both})


def _text_of(part: Dict[str, Any]) -> str:
    """A part, where there is only text."""
    if "text" in part:
        return str(part["text"])
    if "artifact_id" in part:
        return f"[artifact {part['artifact_id']}]"
    return to_text(to_plain(part["json"]))
