"""One life of a plugin: Boot, Hello, serving, the end."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, List, Union

from google.protobuf import json_format

from .gen.clawd.plugin.v1 import plugin_pb2 as wire
from .host import HostClient
from .life import Life
from .offered import LiveOffers
from .offers import Offers
from .running import Work
from .server import open_server
from .services import serve_all

SDK = "clawd-sdk-python/1"
#: The only form of Boot and Hello that this library speaks, and the majors of clawd.plugin.
BOOT_VERSION = 1
MAJORS = (1, 2)
MAX_BOOT_BYTES = 64 * 1024
HELLO_DESCRIPTOR = 3
#: How long everything may take to tidy up after the host is gone, and after it has said to end.
TIDY_S = 0.5
STOP_S = 2.0
#: The kernel counts stacks as data of the process, eight MiB each if nobody says less.
STACK_BYTES = 2 * 1024 * 1024

Stops = List[Callable[[], Any]]


def live(offers: Offers, stops: Stops, threads: int) -> None:
    """Never returns."""
    threading.stack_size(STACK_BYTES)
    # Whatever is printed is log, and is to be seen when it is printed.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    stdin = _take_stdin()
    boot = _read_boot(stdin)
    major = _choose_major(boot)
    if isinstance(major, str):
        _say_hello(error=major)
        _exit(1)
    else:
        asyncio.run(_serve(offers, stops, threads, boot, major, stdin))


def _exit(code: int) -> None:
    """At once: a thread that an author's function holds would be waited for."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(code)


def _take_stdin() -> int:
    """Standard input is the host's; what an author's function starts must not read it, nor keep it open."""
    mine = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return mine


def _read_boot(stdin: int) -> Any:
    line = b""
    while not line.endswith(b"\n") and len(line) <= MAX_BOOT_BYTES:
        byte = os.read(stdin, 1)
        if not byte:
            sys.exit("standard input ended before the Boot line")
        line += byte
    try:
        # A newer host may say more than this library knows.
        return json_format.Parse(line, wire.Boot(), ignore_unknown_fields=True)
    except json_format.ParseError as cause:
        sys.exit(f"the first line on standard input is not a Boot line: {cause}")


def _choose_major(boot: Any) -> Union[int, str]:
    """The highest that both sides speak, or why there is none."""
    if boot.boot_version != BOOT_VERSION:
        return f"{SDK} knows form {BOOT_VERSION} of Boot, the host speaks form {boot.boot_version}"
    common = [major for major in MAJORS if major in boot.protocol_majors]
    if common:
        return max(common)
    offered = ", ".join(str(major) for major in boot.protocol_majors) or "none"
    return f"{SDK} speaks clawd.plugin major {' and '.join(map(str, MAJORS))}, the host speaks {offered}"


def _say_hello(**facts: Any) -> None:
    hello = wire.Hello(boot_version=BOOT_VERSION, sdk=SDK, **facts)
    line = json_format.MessageToJson(hello, indent=None)
    os.write(HELLO_DESCRIPTOR, line.encode() + b"\n")
    os.close(HELLO_DESCRIPTOR)


async def _serve(offers: Offers, stops: Stops, threads: int, boot: Any, major: int, stdin: int) -> None:
    """Ends the process, when its time has come."""
    loop = asyncio.get_running_loop()
    over: "asyncio.Future[str]" = loop.create_future()

    def end(why: str) -> None:
        if not over.done():
            over.set_result(why)

    host = HostClient(boot.host, boot.outbound_token)
    life = Life(
        offers,
        host,
        loop,
        pool=ThreadPoolExecutor(threads, "call"),
        hook_pool=ThreadPoolExecutor(threads, "hook"),
        work=Work(),
        shut_down=lambda: end("told"),
        offered=LiveOffers(host),
    )
    server = open_server(boot.listen, boot.inbound_token)
    serve_all(server, life, major)
    await server.start()
    _say_hello(protocol_major=major, wire=wire.WIRE_GRPC)
    watch = threading.Thread(target=_watch_host, args=(stdin, lambda: loop.call_soon_threadsafe(end, "gone")), daemon=True)
    watch.start()
    gone = await over == "gone"
    for stream in life.streams:
        stream.put_nowait(None)
    # With a grace, the answers under way, that of Shutdown included, are still sent.
    await server.stop(None if gone else STOP_S)
    await _stop(stops, TIDY_S if gone else STOP_S)
    # From here: on its way out, asyncio.run would wait for threads that do not end.
    _exit(0)


def _watch_host(stdin: int, gone: Callable[[], Any]) -> None:
    """The end of standard input means that the host is gone; the process ends, also when its loop is held up."""
    while os.read(stdin, 4096):
        pass
    gone()
    time.sleep(2 * TIDY_S)
    _exit(0)


async def _stop(stops: Stops, timeout_s: float) -> None:
    """What they raise is for their author; the process ends all the same."""
    loop = asyncio.get_running_loop()

    async def run() -> None:
        for one in stops:
            await (one() if inspect.iscoroutinefunction(one) else loop.run_in_executor(None, one))

    try:
        await asyncio.wait_for(run(), timeout_s)
    except Exception:
        traceback.print_exc()
