"""The services of the host, in plain values."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import grpc
import grpc.aio
from google.protobuf import json_format
from google.protobuf.message import Message

from .gen.clawd.plugin.v1 import host_pb2 as wire
from .types import Hit, HostError, Message as Said, Offered, ToolReply, Words
from .values import sayable, to_dict, to_plain, to_struct, to_value

MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024
LIMITS: Sequence[Tuple[str, Any]] = (
    ("grpc.max_receive_message_length", MESSAGE_LIMIT_BYTES),
    ("grpc.max_send_message_length", MESSAGE_LIMIT_BYTES),
)
TIMEOUT_S = 30.0
#: A person, or a tool that a person has to allow, takes its time; the host draws the end.
UNHURRIED_TIMEOUT_S = 24 * 60 * 60.0
ARTIFACT_PIECE_BYTES = 1024 * 1024


class HostClient:
    """HostService at its socket. Opens no connection before the first call."""

    def __init__(self, path: str, token: str) -> None:
        # The name stands in a header of each request; a path with odd letters would be no name.
        options = [*LIMITS, ("grpc.default_authority", "host"), ("grpc.enable_http_proxy", 0)]
        self._channel = grpc.aio.insecure_channel(f"unix:{path}", options=options)
        self._bearer = (("authorization", f"Bearer {token}"),)

    async def _call(self, method: str, request: Message, answer: Any, timeout_s: float = TIMEOUT_S) -> Any:
        ask = self._channel.unary_unary(
            f"/clawd.plugin.v1.HostService/{method}",
            # The same offer is the same bytes: keys of schemas in their order.
            request_serializer=lambda message: message.SerializeToString(deterministic=True),
            response_deserializer=answer.FromString,
        )
        try:
            return await ask(request, timeout=timeout_s, metadata=self._bearer)
        except grpc.aio.AioRpcError as cause:
            raise HostError(cause.details() or method, cause.code().name) from cause

    async def recall(self, query: str, limit: int) -> List[Hit]:
        answer = await self._call("Recall", wire.RecallRequest(query=query, limit=limit), wire.RecallResponse)
        return [Hit(hit.text, hit.source) for hit in answer.hits]

    async def progress(self, call_id: str, text: str) -> None:
        request = wire.ProgressRequest(call_id=call_id, text=sayable(text))
        await self._call("Progress", request, wire.ProgressResponse)

    async def ask(self, call_id: str, question: str) -> Optional[bool]:
        request = wire.AskRequest(call_id=call_id, question=question)
        answer = await self._call("Ask", request, wire.AskResponse, UNHURRIED_TIMEOUT_S)
        return bool(answer.yes) if answer.answered else None

    async def ask_form(self, call_id: str, question: str, schema: Mapping[str, Any]) -> Tuple[bool, bool, Dict[str, Any]]:
        """Whether it was a yes, whether anybody answered, and what was filled in."""
        request = wire.AskRequest(call_id=call_id, question=question, requested_schema=to_struct(schema))
        answer = await self._call("Ask", request, wire.AskResponse, UNHURRIED_TIMEOUT_S)
        return bool(answer.yes), bool(answer.answered), to_dict(answer.content)

    async def generate(
        self, call_id: str, asked: Union[str, Sequence[Said]], max_tokens: int, system: str
    ) -> Words:
        request = wire.HostServiceGenerateRequest(call_id=call_id, system=sayable(system), max_tokens=max_tokens)
        for one in [Said("user", [asked])] if isinstance(asked, str) else asked:
            said = request.messages.add(role=one.role)
            for part in one.parts:
                if not isinstance(part, str):
                    raise TypeError(f"a model of a conversation is asked with texts, not with a {type(part).__name__}")
                said.parts.add(text=sayable(part))
        answer = await self._call("Generate", request, wire.HostServiceGenerateResponse, UNHURRIED_TIMEOUT_S)
        return Words(answer.text, answer.stop, answer.model, answer.tokens, answer.tokens_left)

    async def offer(self, tools: Sequence[Mapping[str, Any]], commands: Sequence[Mapping[str, Any]]) -> Offered:
        """Declarations as plugin.json has them."""
        said = json_format.ParseDict({"tools": list(tools), "slashCommands": list(commands)}, wire.OfferRequest())
        answer = await self._call("Offer", said, wire.OfferResponse)
        return Offered(list(answer.names), list(answer.problems))

    async def call_tool(self, call_id: str, tool: str, args: Mapping[str, Any]) -> ToolReply:
        request = wire.HostServiceCallToolRequest(call_id=call_id, tool=tool, args=to_struct(args))
        answer = await self._call("CallTool", request, wire.HostServiceCallToolResponse, UNHURRIED_TIMEOUT_S)
        return ToolReply(answer.text, answer.is_error)


class AsyncValues:
    """Values of the plugin's own that survive it: keys of 1 to 256 characters, any JSON of at most 64 KiB each."""

    def __init__(self, host: HostClient) -> None:
        self._host = host

    async def get(self, key: str, default: Any = None) -> Any:
        answer = await self._host._call("GetValue", wire.GetValueRequest(key=key), wire.GetValueResponse)
        return to_plain(answer.value) if answer.found else default

    async def set(self, key: str, value: Any) -> None:
        """Returns when it is durable."""
        request = wire.SetValueRequest(key=key, value=to_value(value))
        await self._host._call("SetValue", request, wire.SetValueResponse)

    async def delete(self, key: str) -> None:
        await self._host._call("DeleteValue", wire.DeleteValueRequest(key=key), wire.DeleteValueResponse)

    async def keys(self, prefix: str = "") -> List[str]:
        """In their order; all, or those that begin so."""
        answer = await self._host._call("ListKeys", wire.ListKeysRequest(prefix=prefix), wire.ListKeysResponse)
        return list(answer.keys)


class AsyncSecrets:
    """Texts of the plugin's own that stand in no journal and are blotted out in its log: at most 32 of 64 KiB each."""

    def __init__(self, host: HostClient) -> None:
        self._host = host

    async def get(self, key: str) -> Optional[str]:
        """None when there is none."""
        answer = await self._host._call("GetSecret", wire.GetSecretRequest(key=key), wire.GetSecretResponse)
        return str(answer.value) if answer.found else None

    async def set(self, key: str, value: str) -> None:
        """Returns when it is durable; an empty text takes it out."""
        await self._host._call("SetSecret", wire.SetSecretRequest(key=key, value=value), wire.SetSecretResponse)


class AsyncArtifacts:
    """Files of the plugin's own, for what is too large for a message. A result names one: ``Artifact(id)``."""

    def __init__(self, host: HostClient) -> None:
        self._host = host

    async def write(self, data: Union[bytes, str], mime_type: str = "", to: str = "") -> str:
        """Keeps bytes of any length, or adds them to the artifact ``to``; gives its id."""
        whole = data.encode() if isinstance(data, str) else bytes(data)
        # At least one message, so that an empty artifact is one, too.
        for at in range(0, max(len(whole), 1), ARTIFACT_PIECE_BYTES):
            piece = whole[at : at + ARTIFACT_PIECE_BYTES]
            request = wire.WriteArtifactRequest(artifact_id=to, data=piece, mime_type=mime_type)
            to = (await self._host._call("WriteArtifact", request, wire.WriteArtifactResponse)).artifact_id
        return to

    async def read(self, id: str, offset_bytes: int = 0, limit_bytes: Optional[int] = None) -> bytes:
        """All of it, or what is from ``offset_bytes`` on, at most ``limit_bytes``."""
        read = bytearray()
        while limit_bytes is None or len(read) < limit_bytes:
            most = ARTIFACT_PIECE_BYTES if limit_bytes is None else min(limit_bytes - len(read), ARTIFACT_PIECE_BYTES)
            at: Dict[str, Any] = {"offset_bytes": offset_bytes + len(read), "limit_bytes": most}
            request = wire.ReadArtifactRequest(artifact_id=id, **at)
            data = (await self._host._call("ReadArtifact", request, wire.ReadArtifactResponse)).data
            if not data:
                break
            read += data
        return bytes(read)
