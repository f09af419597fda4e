# python -m pytest
import asyncio
import dataclasses
import enum
from typing import Any, Dict, List, Literal, Optional

import pytest
from clawd_plugin import Argument, AsyncContext, Context, Message, Offered, OfferedCommand, OfferedTool, Plugin, Show, Thinking
from clawd_plugin.forms import form_schema, read_form
from clawd_plugin.gen.clawd.plugin.v1 import host_pb2 as wire
from clawd_plugin.host import HostClient
from clawd_plugin.offered import LiveOffers


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclasses.dataclass
class Order:
    name: str
    size: Size
    color: Literal["red", "blue"] = "red"
    age: Optional[int] = None


class Host(HostClient):
    """One whose answers a test gives."""

    def __init__(self, answers: List[Any]) -> None:
        self.answers, self.asked = answers, []

    async def _call(self, method: str, request: Any, answer: Any, timeout_s: float = 0) -> Any:
        self.asked.append(request)
        said = self.answers.pop(0)
        return said() if callable(said) else said


def word(name: str) -> OfferedTool:
    def say(text: str, ctx: Context) -> str:
        """Says a word."""
        return name

    return OfferedTool(say, name=name)


def command(name: str) -> OfferedCommand:
    async def show(args: str, ctx: AsyncContext) -> Show:
        return Show(name)

    return OfferedCommand(show, name=name, description="Shows.", takes=[Argument("who", required=True)])


def test_an_offer_takes_the_place_of_the_last_one_and_none_is_missing_while_the_host_hears_of_it():
    async def offered():
        host = Host([wire.OfferResponse(names=["p_a", "p_b"])])
        offers = LiveOffers(host)
        assert await offers.replace([word("a"), word("b")], [command("x")]) == Offered(["p_a", "p_b"], [])
        while_told: List[Any] = []

        def hear() -> Any:
            while_told.extend([sorted(offers.tools), sorted(offers.commands)])
            return wire.OfferResponse()

        host.answers.append(hear)
        await offers.replace([word("b"), word("c")], [command("y")])
        return host.asked[0], while_told, sorted(offers.tools), sorted(offers.commands)

    request, while_told, tools, commands = asyncio.run(offered())
    assert (while_told, tools, commands) == ([["a", "b", "c"], ["x", "y"]], ["b", "c"], ["y"])
    said = request.tools[0]
    assert (said.name, said.description, list(said.input_schema["properties"])) == ("a", "Says a word.", ["text"])
    assert (request.slash_commands[0].arguments[0].name, request.slash_commands[0].arguments[0].required) == ("who", True)


def test_what_the_host_did_not_take_may_still_have_been_heard():
    async def offered():
        def fail() -> Any:
            raise OSError("gone")

        offers = LiveOffers(Host([wire.OfferResponse(), fail, fail]))
        await offers.replace([word("a")], [])
        for name in ("b", "c"):
            with pytest.raises(OSError):
                await offers.replace([word(name)], [])
        return sorted(offers.tools)

    assert asyncio.run(offered()) == ["a", "c"]


def test_an_offered_tool_may_have_a_schema_that_is_known_late():
    async def anything(**args: Any) -> Dict[str, Any]:
        return args

    schema = {"type": "object", "required": ["x"]}
    tool = OfferedTool(anything, description="Takes anything.", schema=schema, timeout_ms=5)
    assert tool._tool.facts == {
        **{"name": "anything", "description": "Takes anything."},
        **{"inputSchema": schema, "timeoutMs": 5},
    }
    with pytest.raises(TypeError, match="without a docstring"):
        OfferedCommand(anything)


def test_every_field_of_a_form_is_one_that_a_person_can_fill_in():
    schema = form_schema(Order)
    assert schema["properties"] == {
        "name": {"type": "string"},
        "size": {"type": "string", "enum": ["small", "large"]},
        "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "age": {"type": "integer"},
    }
    assert schema["required"] == ["name", "size"]
    assert read_form(Order, {"name": "Ada", "size": "large", "age": 36}) == Order("Ada", Size.LARGE, age=36)
    assert read_form(schema, {"name": "Ada"}) == {"name": "Ada"}
    with pytest.raises(TypeError, match="a form is a dataclass"):
        form_schema(int)


def test_a_model_is_asked_with_texts_alone():
    async def asked():
        host = Host([wire.HostServiceGenerateResponse(text="because", tokens_left=4)])
        said = await host.generate("c1", "why?", 7, "short")
        with pytest.raises(TypeError, match="with texts"):
            await host.generate("c1", [Message("user", [Thinking("hm")])], 7, "")
        return said, host.asked[0]

    said, request = asyncio.run(asked())
    assert (said.text, said.tokens_left) == ("because", 4)
    assert (request.call_id, request.max_tokens, request.messages[0].parts[0].text) == ("c1", 7, "why?")


def test_what_a_command_takes_stands_in_the_manifest():
    plugin = Plugin("p", "1.0.0")

    @plugin.slash_command("hi", takes=[Argument("who", "Whom", required=True), Argument("how")])
    def hi(args: str) -> Show:
        return Show(args)

    taken = [{"name": "who", "description": "Whom", "required": True}, {"name": "how"}]
    assert plugin.manifest()["slashCommands"] == [{"name": "hi", "arguments": taken}]
