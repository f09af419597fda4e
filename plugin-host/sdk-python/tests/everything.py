# A plugin that offers and uses everything, in functions of both kinds. sdk-python.test.ts installs it.
import dataclasses
import enum
import sys
import time
from pathlib import Path
from typing import Annotated, Any, AsyncIterator, Dict, Iterator, List, Literal, Optional

sys.path.insert(0, str(Path(__file__).parent / "vendor"))
from clawd_plugin import (
    Answer,
    Artifact,
    AsyncContext,
    Block,
    Context,
    Document,
    End,
    Event,
    HostError,
    Json,
    ModelRequest,
    Modify,
    Plugin,
    Say,
    Show,
    Skip,
    Thinking,
    ToolCall,
    ToolError,
    Verdict,
)


@dataclasses.dataclass
class Settings:
    city: str = "Ulm"
    depth: int = 1

    def __post_init__(self) -> None:
        if self.depth > 9:
            raise ValueError("nobody can look that deep")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0


plugin = Plugin("everything", "1.0.0", settings=Settings)


@plugin.tool(rerun_safe=True, timeout_ms=20_000)
def typed(
    color: Color,
    points: List[Point],
    size: Literal["s", "m"] = "s",
    label: Annotated[Optional[str], "What it is called"] = None,
    weights: Optional[Dict[str, float]] = None,
) -> Dict[str, Any]:
    """Gives back what it was given,
    as its types have it.

    Twice, if you like.
    """
    assert all(isinstance(point, Point) for point in points)
    return {"color": color, "points": points, "size": size, "label": label, "weights": weights}


@plugin.tool(description="Gives parts.")
async def parts(what: str) -> Any:
    if what == "several":
        return "see:", Json({"found": [1, 2.5]}), Artifact("a1")
    if what == "missing":
        raise ToolError("there is no page 7", "not_found", hint="ask for 1 to 6")
    return {"list": [1, 2], "number": 5, "odd": object(), "nan": float("nan"), "half": "\ud800"}[what]


@plugin.tool(description="Yields its output.")
def pieces(to: int) -> Iterator[str]:
    for number in range(to):
        yield f"{number} żółć\n"


@plugin.tool(description="Yields it, too.")
async def async_pieces(to: int, ctx: AsyncContext) -> AsyncIterator[str]:
    for number in range(to):
        ctx.progress(f"{number} comes")
        yield f"{number} żółć\n"


@plugin.tool(description="Leaves.")
def leave(how: str) -> None:
    if how == "exit":
        sys.exit(3)
    raise StopIteration


@plugin.tool(description="Uses the host.")
def use(what: str, ctx: Context) -> Any:
    if what == "values":
        ctx.values.set("a/1", {"deep": [1, None, "żółć"]})
        ctx.values.set("b", None)
        kept = [ctx.values.get("a/1"), ctx.values.get("b", 7), ctx.values.keys("a/")]
        ctx.values.delete("a/1")
        return [*kept, ctx.values.get("a/1", "gone")]
    if what == "artifact":
        made = ctx.artifacts.write(b"\7" * 2_621_440, "application/octet-stream")
        same = ctx.artifacts.write("end", to=made) == made
        return [same, ctx.artifacts.read(made, 2_621_440).decode(), len(ctx.artifacts.read(made))]
    if what == "ask":
        return [ctx.ask("may I?")]
    if what == "call":
        return dataclasses.asdict(ctx.call_tool("read", {"path": "notes.md"}))
    ctx.log("a line of its own", "warning")
    return [ctx.settings.city, ctx.settings.depth, ctx.granted, ctx.data_folder, ctx.workspace, ctx.cancelled]


@plugin.tool(description="Uses the host, too.")
async def async_use(what: str, ctx: AsyncContext) -> Any:
    if what == "values":
        await ctx.values.set("c", 1)
        return [await ctx.values.get("c"), await ctx.values.keys()]
    if what == "artifact":
        return len(await ctx.artifacts.read(await ctx.artifacts.write("")))
    try:
        return [await ctx.ask("may I?"), await ctx.recall("fish")]
    except HostError as refused:
        return refused.code


@plugin.hook("tool.before", priority=100, on_error="deny")
async def before(event: Event) -> Verdict:
    tool = event.value["tool"]
    if tool == "wrong":
        return "no verdict"  # type: ignore[return-value]
    if tool == "circle":
        circle: Dict[str, Any] = {}
        circle["itself"] = circle
        return Modify(circle)
    verdicts: Dict[str, Verdict] = {"stop": Block("not here"), "know": Answer([1]), "skip": Skip()}
    return verdicts.get(tool)


@plugin.hook("tool.after")
def after(event: Event, ctx: Context) -> Verdict:
    ctx.progress("looked at it")
    return Modify({**event.value, "output": event.value["output"].upper()})


@plugin.model("parrot", default_model="grey")
def parrot(request: ModelRequest) -> Iterator[Any]:
    words = "".join(part for part in request.messages[-1].parts if isinstance(part, str))
    if words == "fail":
        raise ToolError("no quota", "unavailable")
    yield Thinking("hm")
    yield f"{request.model} "
    yield f"says {words}"
    if words == "call":
        yield ToolCall("read", {"path": "notes.md"})
    yield End(input_tokens=3, output_tokens=4)


@plugin.embedder("three", dimensions=3)
async def three(texts: List[str], kind: str) -> List[List[float]]:
    return [[len(text), 1.0 if kind == "query" else 0.0, 0.5] for text in texts]


@plugin.memory_source("fish", description="All fish.")
def fish(ctx: Context) -> Iterator[Document]:
    yield Document("1", "a trout", "Trout")
    yield Document("2", str(ctx.settings.city))
    raise ValueError("the lake is dry")


@plugin.slash_command("shout", description="Says it louder.")
def shout(args: str) -> Say:
    return Say(args.upper())


@plugin.slash_command("where", description="Where it is.")
async def where(args: str, ctx: AsyncContext) -> Show:
    return Show(f"{ctx.session_id} in {ctx.workspace}")


@plugin.on_stop
def stop() -> None:
    time.sleep(0.01)
    print("tidied up")


if __name__ == "__main__":
    plugin.run()
