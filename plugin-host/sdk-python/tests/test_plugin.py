# python -m pytest
import asyncio

import pytest
from clawd_plugin import AsyncContext, Context, Plugin
from clawd_plugin.running import News, WAITING_LINES, Work


def plugin() -> Plugin:
    return Plugin("p", "1.0.0")


def test_the_manifest_is_what_the_code_says_over_what_only_its_author_can():
    one = plugin()

    @one.tool
    def count(text: str, ctx: Context, to: int = 3) -> str:
        """Counts."""
        return text

    written = {"description": "Mine.", "permissions": [{"permission": "net"}], "hooks": [{"at": "gone"}], "version": "0"}
    assert one.manifest(written) == {
        "manifestVersion": 1,
        "name": "p",
        "version": "1.0.0",
        "description": "Mine.",
        "permissions": [{"permission": "net"}],
        "protocolMajors": [1, 2],
        "launch": {"command": ["python3", "main.py"], "startTimeoutMs": 60_000},
        "tools": [
            {
                "name": "count",
                "description": "Counts.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "to": {"type": "integer", "default": 3}},
                    "required": ["text"],
                    "additionalProperties": False,
                },
            }
        ],
    }


def test_a_tool_says_what_it_is_for():
    with pytest.raises(TypeError, match="without a docstring"):

        @plugin().tool
        def silent() -> None: ...


def test_a_context_is_of_the_functions_kind():
    with pytest.raises(TypeError, match="its context is one Context"):

        @plugin().hook("tool.before")
        def wrong(event: object, ctx: AsyncContext) -> None: ...

    with pytest.raises(TypeError, match="its context is one AsyncContext"):

        @plugin().tool(description="x")
        async def wrong_too(ctx: Context) -> None: ...


def test_beyond_so_many_lines_the_oldest_go_and_no_output_does():
    async def said():
        news = News()

        async def work():
            await news.write("first")
            for number in range(WAITING_LINES + 5):
                news.line(f"{number}")
            await news.write("ż" * 100_000)

        return [item async for item in news.during(asyncio.ensure_future(work()))]

    items = asyncio.run(said())
    lines = [item for item in items if isinstance(item, str)]
    assert b"".join(item for item in items if isinstance(item, bytes)).decode() == "first" + "ż" * 100_000
    assert (len(lines), lines[0], lines[-1]) == (WAITING_LINES, "5", f"{WAITING_LINES + 4}")


def test_who_writes_waits_for_a_slow_reader():
    async def waiting():
        news = News()
        task = asyncio.ensure_future(news.write(b"x" * 1_000_000))
        for _ in range(20):
            await asyncio.sleep(0)
        held = not task.done()
        read = sum([len(item) async for item in news.during(task)])
        return held, read

    assert asyncio.run(waiting()) == (True, 1_000_000)


def test_nothing_new_begins_once_it_is_to_end():
    async def drained():
        work = Work()
        work.begin()
        work.refuse_more()
        with pytest.raises(Exception, match="takes nothing new"):
            work.begin()
        work.end()
        await work.idle(5)

    asyncio.run(drained())
