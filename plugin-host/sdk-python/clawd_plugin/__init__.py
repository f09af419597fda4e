"""Everything a clawd plugin written in Python needs.

    from clawd_plugin import Context, Plugin

    plugin = Plugin("hello", "1.0.0")

    @plugin.tool
    def greet(name: str, ctx: Context) -> str:
        "Greets somebody by name."
        ctx.progress("thinking")
        return f"Hello, {name}!"

    if __name__ == "__main__":
        plugin.run()

``python main.py --manifest`` writes what the code says into plugin.json, which tells people and the model before
anything runs. Whatever a plugin prints is its log (``claw plugin logs NAME``). docs/python.md has the rest.
"""

from .context import AsyncContext, Context
from .offered import OfferedCommand, OfferedTool
from .plugin import Plugin
from .types import (
    Answer,
    Argument,
    Artifact,
    Block,
    Cancelled,
    Document,
    End,
    ErrorCode,
    Event,
    FormReply,
    Hit,
    HostError,
    Json,
    Message,
    ModelRequest,
    Modify,
    NeedsRestart,
    Offered,
    Pass,
    Say,
    Show,
    Skip,
    Thinking,
    ToolCall,
    ToolError,
    ToolFacts,
    ToolReply,
    ToolResult,
    Verdict,
    Words,
)

__all__ = [
    "Answer",
    "Argument",
    "Artifact",
    "AsyncContext",
    "Block",
    "Cancelled",
    "Context",
    "Document",
    "End",
    "ErrorCode",
    "Event",
    "FormReply",
    "Hit",
    "HostError",
    "Json",
    "Message",
    "ModelRequest",
    "Modify",
    "NeedsRestart",
    "Offered",
    "OfferedCommand",
    "OfferedTool",
    "Pass",
    "Plugin",
    "Say",
    "Show",
    "Skip",
    "Thinking",
    "ToolCall",
    "ToolError",
    "ToolFacts",
    "ToolReply",
    "ToolResult",
    "Verdict",
    "Words",
]
