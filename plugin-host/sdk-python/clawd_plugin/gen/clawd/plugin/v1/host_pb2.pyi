from clawd_plugin.gen.clawd.plugin.v1 import manifest_pb2 as _manifest_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LogLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOG_LEVEL_UNSPECIFIED: _ClassVar[LogLevel]
    LOG_LEVEL_DEBUG: _ClassVar[LogLevel]
    LOG_LEVEL_INFO: _ClassVar[LogLevel]
    LOG_LEVEL_WARNING: _ClassVar[LogLevel]
    LOG_LEVEL_ERROR: _ClassVar[LogLevel]
LOG_LEVEL_UNSPECIFIED: LogLevel
LOG_LEVEL_DEBUG: LogLevel
LOG_LEVEL_INFO: LogLevel
LOG_LEVEL_WARNING: LogLevel
LOG_LEVEL_ERROR: LogLevel

class LogRequest(_message.Message):
    __slots__ = ("level", "message")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    level: LogLevel
    message: str
    def __init__(self, level: _Optional[_Union[LogLevel, str]] = ..., message: _Optional[str] = ...) -> None: ...

class LogResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RecallRequest(_message.Message):
    __slots__ = ("query", "limit")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    query: str
    limit: int
    def __init__(self, query: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class RecallResponse(_message.Message):
    __slots__ = ("hits",)
    HITS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[Recollection]
    def __init__(self, hits: _Optional[_Iterable[_Union[Recollection, _Mapping]]] = ...) -> None: ...

class Recollection(_message.Message):
    __slots__ = ("text", "source")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    text: str
    source: str
    def __init__(self, text: _Optional[str] = ..., source: _Optional[str] = ...) -> None: ...

class ProgressRequest(_message.Message):
    __slots__ = ("call_id", "text")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    text: str
    def __init__(self, call_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class ProgressResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AskRequest(_message.Message):
    __slots__ = ("call_id", "question", "requested_schema")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    question: str
    requested_schema: _struct_pb2.Struct
    def __init__(self, call_id: _Optional[str] = ..., question: _Optional[str] = ..., requested_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class AskResponse(_message.Message):
    __slots__ = ("yes", "answered", "content")
    YES_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    yes: bool
    answered: bool
    content: _struct_pb2.Struct
    def __init__(self, yes: bool = ..., answered: bool = ..., content: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class HostServiceCallToolRequest(_message.Message):
    __slots__ = ("call_id", "tool", "args")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    args: _struct_pb2.Struct
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class HostServiceCallToolResponse(_message.Message):
    __slots__ = ("text", "is_error")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    text: str
    is_error: bool
    def __init__(self, text: _Optional[str] = ..., is_error: bool = ...) -> None: ...

class GetValueRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: str
    def __init__(self, key: _Optional[str] = ...) -> None: ...

class GetValueResponse(_message.Message):
    __slots__ = ("found", "value")
    FOUND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    found: bool
    value: _struct_pb2.Value
    def __init__(self, found: bool = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class SetValueRequest(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: _struct_pb2.Value
    def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class SetValueResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DeleteValueRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: str
    def __init__(self, key: _Optional[str] = ...) -> None: ...

class DeleteValueResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListKeysRequest(_message.Message):
    __slots__ = ("prefix",)
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    prefix: str
    def __init__(self, prefix: _Optional[str] = ...) -> None: ...

class ListKeysResponse(_message.Message):
    __slots__ = ("keys",)
    KEYS_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, keys: _Optional[_Iterable[str]] = ...) -> None: ...

class WriteArtifactRequest(_message.Message):
    __slots__ = ("artifact_id", "data", "mime_type")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    data: bytes
    mime_type: str
    def __init__(self, artifact_id: _Optional[str] = ..., data: _Optional[bytes] = ..., mime_type: _Optional[str] = ...) -> None: ...

class WriteArtifactResponse(_message.Message):
    __slots__ = ("artifact_id", "size_bytes")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    size_bytes: float
    def __init__(self, artifact_id: _Optional[str] = ..., size_bytes: _Optional[float] = ...) -> None: ...

class ReadArtifactRequest(_message.Message):
    __slots__ = ("artifact_id", "offset_bytes", "limit_bytes")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    offset_bytes: float
    limit_bytes: int
    def __init__(self, artifact_id: _Optional[str] = ..., offset_bytes: _Optional[float] = ..., limit_bytes: _Optional[int] = ...) -> None: ...

class ReadArtifactResponse(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class OfferRequest(_message.Message):
    __slots__ = ("tools", "slash_commands")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SLASH_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[_manifest_pb2.ToolDeclaration]
    slash_commands: _containers.RepeatedCompositeFieldContainer[_manifest_pb2.SlashCommandDeclaration]
    def __init__(self, tools: _Optional[_Iterable[_Union[_manifest_pb2.ToolDeclaration, _Mapping]]] = ..., slash_commands: _Optional[_Iterable[_Union[_manifest_pb2.SlashCommandDeclaration, _Mapping]]] = ...) -> None: ...

class OfferResponse(_message.Message):
    __slots__ = ("names", "problems")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    problems: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ..., problems: _Optional[_Iterable[str]] = ...) -> None: ...

class GetSecretRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: str
    def __init__(self, key: _Optional[str] = ...) -> None: ...

class GetSecretResponse(_message.Message):
    __slots__ = ("found", "value")
    FOUND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    found: bool
    value: str
    def __init__(self, found: bool = ..., value: _Optional[str] = ...) -> None: ...

class SetSecretRequest(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class SetSecretResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class HostServiceGenerateRequest(_message.Message):
    __slots__ = ("call_id", "system", "messages", "max_tokens")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    system: str
    messages: _containers.RepeatedCompositeFieldContainer[GenerateMessage]
    max_tokens: int
    def __init__(self, call_id: _Optional[str] = ..., system: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[GenerateMessage, _Mapping]]] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class GenerateMessage(_message.Message):
    __slots__ = ("role", "parts")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    role: str
    parts: _containers.RepeatedCompositeFieldContainer[GeneratePart]
    def __init__(self, role: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[GeneratePart, _Mapping]]] = ...) -> None: ...

class GeneratePart(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class HostServiceGenerateResponse(_message.Message):
    __slots__ = ("text", "stop", "model", "tokens", "tokens_left")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_LEFT_FIELD_NUMBER: _ClassVar[int]
    text: str
    stop: str
    model: str
    tokens: int
    tokens_left: int
    def __init__(self, text: _Optional[str] = ..., stop: _Optional[str] = ..., model: _Optional[str] = ..., tokens: _Optional[int] = ..., tokens_left: _Optional[int] = ...) -> None: ...
