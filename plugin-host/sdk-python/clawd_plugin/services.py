"""All that a plugin serves."""

from __future__ import annotations

import grpc.aio

from .gen.clawd.plugin.v1 import plugin_pb2 as v1
from .life import Life
from .serve_hooks import Hooks
from .serve_models import generate
from .serve_others import embed, list_documents, run_command
from .serve_tools import Core, serve_major1, serve_major2
from .server import add_service


def serve_all(server: grpc.aio.Server, life: Life, major: int) -> None:
    """Adds what the plugin has; every method that it has no use for is left out."""
    core = Core(life)
    (serve_major1 if major == 1 else serve_major2)(server, core)
    offers, file = life.offers, v1.DESCRIPTOR
    if offers.hooks:
        hooks = Hooks(life)
        add_service(server, file, "HookService", {"StreamHooks": hooks.stream, "RunHook": hooks.run})
    if offers.models:
        add_service(server, file, "ModelService", {"Generate": lambda ask, send: generate(life, ask, send)})
    if offers.embedders:
        add_service(server, file, "EmbedService", {"Embed": lambda ask: embed(life, ask)})
    if offers.sources:
        add_service(server, file, "MemorySourceService", {"ListDocuments": lambda ask, send: list_documents(life, ask, send)})
    # Always: commands may be offered later.
    add_service(server, file, "SlashCommandService", {"RunSlashCommand": lambda ask: run_command(life, ask)})
