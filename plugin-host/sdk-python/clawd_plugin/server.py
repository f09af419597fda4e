"""gRPC on the plugin's socket, for whoever shows the token."""

from __future__ import annotations

import asyncio
import hmac
import sys
import traceback
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Mapping, Union

import grpc
import grpc.aio
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from .host import LIMITS, MESSAGE_LIMIT_BYTES
from .running import Refused
from .values import words_of

Send = Callable[[Message], Awaitable[None]]
#: One answer a request; or any number of them, by ``send``.
Once = Callable[[Any], Awaitable[Message]]
Streamed = Callable[[Any, Send], Awaitable[None]]
Methods = Mapping[str, Union[Once, Streamed]]

#: serving: true. It is the same in every plugin, and takes no package of its own.
_SERVING = b"\x08\x01"
_OPTIONS = [
    *LIMITS,
    # The host looks after a plugin by pings, also while nothing runs: that is no strike.
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.keepalive_permit_without_calls", 1),
]


def open_server(listen: str, token: str) -> grpc.aio.Server:
    """Listens when it is started. Messages have at most 4 MiB either way."""
    server = grpc.aio.server(interceptors=[_Doorkeeper(token)], options=_OPTIONS)
    health = grpc.unary_unary_rpc_method_handler(_serving)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": health})])
    server.add_insecure_port(f"unix:{listen}")
    return server


async def _serving(request: bytes, context: Any) -> bytes:
    return _SERVING


class _Doorkeeper(grpc.aio.ServerInterceptor):  # type: ignore[misc, type-arg, unused-ignore]
    """Nothing of a stranger is looked at."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        shown = dict(details.invocation_metadata or ()).get("authorization", "")
        if hmac.compare_digest(str(shown).encode(), self._expected):
            return await continuation(details)
        return grpc.stream_stream_rpc_method_handler(_turn_away)


async def _turn_away(requests: Any, context: Any) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token of this call is missing or wrong")


def add_service(server: grpc.aio.Server, file: Any, service: str, methods: Methods) -> None:
    """Adds methods of a service of a .proto; those that are left out are answered by "unimplemented"."""
    described = file.services_by_name[service]
    handlers: Dict[str, Any] = {}
    for name, run in methods.items():
        method = described.methods_by_name[name]
        kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
        make = getattr(grpc, f"{kind}_rpc_method_handler")
        handlers[name] = make(
            _streaming(run) if method.server_streaming else _answering(run),
            request_deserializer=GetMessageClass(method.input_type).FromString,
            # The same answer is the same bytes: keys of objects in their order.
            response_serializer=lambda message: message.SerializeToString(deterministic=True),
        )
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(described.full_name, handlers)])


def _answering(run: Any) -> Callable[[Any, Any], Awaitable[Message]]:
    async def answer(request: Any, context: Any) -> Message:
        try:
            return _in_size(await run(request))
        except BaseException as cause:
            raise await _ended(cause, context)

    return answer


def _streaming(run: Any) -> Callable[[Any, Any], Awaitable[None]]:
    async def stream(request: Union[Message, AsyncIterator[Any]], context: Any) -> None:
        async def send(message: Message) -> None:
            await context.write(_in_size(message))

        try:
            await run(request, send)
        except BaseException as cause:
            raise await _ended(cause, context)

    return stream


def _in_size(message: Message) -> Message:
    size = message.ByteSize()
    if size > MESSAGE_LIMIT_BYTES:
        words = f"the message has {size} bytes, more than {MESSAGE_LIMIT_BYTES}"
        raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, words)
    return message


async def _ended(cause: BaseException, context: Any) -> BaseException:
    """The author's words reach the host, with a code by which it knows them from those of a process that breaks."""
    if isinstance(cause, (asyncio.CancelledError, grpc.aio.AbortError, GeneratorExit)):
        return cause
    if isinstance(cause, Refused):
        code = cause.code
    else:
        code = grpc.StatusCode.ABORTED
        traceback.print_exception(type(cause), cause, cause.__traceback__, file=sys.stderr)
        sys.stderr.flush()
    try:
        await context.abort(code, words_of(cause))
    except BaseException as aborted:
        return aborted
    return cause
