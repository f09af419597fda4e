from clawd_plugin.gen.clawd.plugin.v1 import manifest_pb2 as _manifest_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Wire(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WIRE_UNSPECIFIED: _ClassVar[Wire]
    WIRE_GRPC: _ClassVar[Wire]
    WIRE_CONNECT_JSON: _ClassVar[Wire]
WIRE_UNSPECIFIED: Wire
WIRE_GRPC: Wire
WIRE_CONNECT_JSON: Wire

class Boot(_message.Message):
    __slots__ = ("boot_version", "protocol_majors", "listen", "host", "inbound_token", "outbound_token", "host_version")
    BOOT_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MAJORS_FIELD_NUMBER: _ClassVar[int]
    LISTEN_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    INBOUND_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OUTBOUND_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HOST_VERSION_FIELD_NUMBER: _ClassVar[int]
    boot_version: int
    protocol_majors: _containers.RepeatedScalarFieldContainer[int]
    listen: str
    host: str
    inbound_token: str
    outbound_token: str
    host_version: str
    def __init__(self, boot_version: _Optional[int] = ..., protocol_majors: _Optional[_Iterable[int]] = ..., listen: _Optional[str] = ..., host: _Optional[str] = ..., inbound_token: _Optional[str] = ..., outbound_token: _Optional[str] = ..., host_version: _Optional[str] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("boot_version", "protocol_major", "sdk", "error", "wire")
    BOOT_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    WIRE_FIELD_NUMBER: _ClassVar[int]
    boot_version: int
    protocol_major: int
    sdk: str
    error: str
    wire: Wire
    def __init__(self, boot_version: _Optional[int] = ..., protocol_major: _Optional[int] = ..., sdk: _Optional[str] = ..., error: _Optional[str] = ..., wire: _Optional[_Union[Wire, str]] = ...) -> None: ...

class InitializeRequest(_message.Message):
    __slots__ = ("host_version", "granted", "config", "features", "data_folder")
    HOST_VERSION_FIELD_NUMBER: _ClassVar[int]
    GRANTED_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    DATA_FOLDER_FIELD_NUMBER: _ClassVar[int]
    host_version: str
    granted: _containers.RepeatedScalarFieldContainer[str]
    config: _struct_pb2.Struct
    features: _containers.RepeatedScalarFieldContainer[str]
    data_folder: str
    def __init__(self, host_version: _Optional[str] = ..., granted: _Optional[_Iterable[str]] = ..., config: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., features: _Optional[_Iterable[str]] = ..., data_folder: _Optional[str] = ...) -> None: ...

class InitializeResponse(_message.Message):
    __slots__ = ("version", "tools", "features")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    version: str
    tools: _containers.RepeatedCompositeFieldContainer[_manifest_pb2.ToolDeclaration]
    features: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, version: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[_manifest_pb2.ToolDeclaration, _Mapping]]] = ..., features: _Optional[_Iterable[str]] = ...) -> None: ...

class ConfigureRequest(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: _struct_pb2.Struct
    def __init__(self, config: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ConfigureResponse(_message.Message):
    __slots__ = ("problem", "restart_required")
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    RESTART_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    problem: str
    restart_required: bool
    def __init__(self, problem: _Optional[str] = ..., restart_required: bool = ...) -> None: ...

class ListToolsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListToolsResponse(_message.Message):
    __slots__ = ("tools",)
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[_manifest_pb2.ToolDeclaration]
    def __init__(self, tools: _Optional[_Iterable[_Union[_manifest_pb2.ToolDeclaration, _Mapping]]] = ...) -> None: ...

class CallToolRequest(_message.Message):
    __slots__ = ("call_id", "session_id", "tool", "args", "time_limit_ms", "workspace")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    TIME_LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    session_id: str
    tool: str
    args: _struct_pb2.Struct
    time_limit_ms: int
    workspace: str
    def __init__(self, call_id: _Optional[str] = ..., session_id: _Optional[str] = ..., tool: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., time_limit_ms: _Optional[int] = ..., workspace: _Optional[str] = ...) -> None: ...

class CallToolResponse(_message.Message):
    __slots__ = ("progress", "result", "output")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    progress: str
    result: ToolResult
    output: OutputChunk
    def __init__(self, progress: _Optional[str] = ..., result: _Optional[_Union[ToolResult, _Mapping]] = ..., output: _Optional[_Union[OutputChunk, _Mapping]] = ...) -> None: ...

class OutputChunk(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("is_error", "text")
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    is_error: bool
    text: str
    def __init__(self, is_error: bool = ..., text: _Optional[str] = ...) -> None: ...

class StreamHooksRequest(_message.Message):
    __slots__ = ("event", "cancelled")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    event: HookEvent
    cancelled: int
    def __init__(self, event: _Optional[_Union[HookEvent, _Mapping]] = ..., cancelled: _Optional[int] = ...) -> None: ...

class StreamHooksResponse(_message.Message):
    __slots__ = ("id", "answer")
    ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    id: int
    answer: HookAnswer
    def __init__(self, id: _Optional[int] = ..., answer: _Optional[_Union[HookAnswer, _Mapping]] = ...) -> None: ...

class RunHookRequest(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: HookEvent
    def __init__(self, event: _Optional[_Union[HookEvent, _Mapping]] = ...) -> None: ...

class RunHookResponse(_message.Message):
    __slots__ = ("answer",)
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    answer: HookAnswer
    def __init__(self, answer: _Optional[_Union[HookAnswer, _Mapping]] = ...) -> None: ...

class HookEvent(_message.Message):
    __slots__ = ("id", "at", "call_id", "session_id", "workspace", "value", "time_limit_ms", "hook")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TIME_LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    id: int
    at: str
    call_id: str
    session_id: str
    workspace: str
    value: _struct_pb2.Struct
    time_limit_ms: int
    hook: int
    def __init__(self, id: _Optional[int] = ..., at: _Optional[str] = ..., call_id: _Optional[str] = ..., session_id: _Optional[str] = ..., workspace: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., time_limit_ms: _Optional[int] = ..., hook: _Optional[int] = ...) -> None: ...

class HookAnswer(_message.Message):
    __slots__ = ("modify", "block", "answer", "skip", "failure", "last")
    PASS_FIELD_NUMBER: _ClassVar[int]
    MODIFY_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    modify: _struct_pb2.Struct
    block: str
    answer: _struct_pb2.Value
    skip: bool
    failure: str
    last: bool
    def __init__(self, modify: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., block: _Optional[str] = ..., answer: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., skip: bool = ..., failure: _Optional[str] = ..., last: bool = ..., **kwargs) -> None: ...

class GenerateRequest(_message.Message):
    __slots__ = ("provider", "model", "system", "messages", "tools", "max_tokens")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    provider: str
    model: str
    system: str
    messages: _containers.RepeatedCompositeFieldContainer[ModelMessage]
    tools: _containers.RepeatedCompositeFieldContainer[_manifest_pb2.ToolDeclaration]
    max_tokens: int
    def __init__(self, provider: _Optional[str] = ..., model: _Optional[str] = ..., system: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[ModelMessage, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[_manifest_pb2.ToolDeclaration, _Mapping]]] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class ModelMessage(_message.Message):
    __slots__ = ("role", "parts")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    role: str
    parts: _containers.RepeatedCompositeFieldContainer[ModelPart]
    def __init__(self, role: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[ModelPart, _Mapping]]] = ...) -> None: ...

class ModelPart(_message.Message):
    __slots__ = ("text", "thinking", "call", "result")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    text: str
    thinking: str
    call: ModelCall
    result: ModelCallResult
    def __init__(self, text: _Optional[str] = ..., thinking: _Optional[str] = ..., call: _Optional[_Union[ModelCall, _Mapping]] = ..., result: _Optional[_Union[ModelCallResult, _Mapping]] = ...) -> None: ...

class ModelCall(_message.Message):
    __slots__ = ("call_id", "tool", "args")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    args: _struct_pb2.Struct
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ModelCallResult(_message.Message):
    __slots__ = ("call_id", "text", "is_error")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    text: str
    is_error: bool
    def __init__(self, call_id: _Optional[str] = ..., text: _Optional[str] = ..., is_error: bool = ...) -> None: ...

class GenerateResponse(_message.Message):
    __slots__ = ("text_delta", "part", "end", "failure")
    TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    text_delta: str
    part: ModelPart
    end: GenerateEnd
    failure: GenerateFailure
    def __init__(self, text_delta: _Optional[str] = ..., part: _Optional[_Union[ModelPart, _Mapping]] = ..., end: _Optional[_Union[GenerateEnd, _Mapping]] = ..., failure: _Optional[_Union[GenerateFailure, _Mapping]] = ...) -> None: ...

class GenerateEnd(_message.Message):
    __slots__ = ("stop", "input_tokens", "output_tokens")
    STOP_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    stop: str
    input_tokens: int
    output_tokens: int
    def __init__(self, stop: _Optional[str] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ...) -> None: ...

class GenerateFailure(_message.Message):
    __slots__ = ("message", "retryable")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    message: str
    retryable: bool
    def __init__(self, message: _Optional[str] = ..., retryable: bool = ...) -> None: ...

class EmbedRequest(_message.Message):
    __slots__ = ("embedder", "texts", "is_query")
    EMBEDDER_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    IS_QUERY_FIELD_NUMBER: _ClassVar[int]
    embedder: str
    texts: _containers.RepeatedScalarFieldContainer[str]
    is_query: bool
    def __init__(self, embedder: _Optional[str] = ..., texts: _Optional[_Iterable[str]] = ..., is_query: bool = ...) -> None: ...

class EmbedResponse(_message.Message):
    __slots__ = ("vectors",)
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    vectors: _containers.RepeatedCompositeFieldContainer[Vector]
    def __init__(self, vectors: _Optional[_Iterable[_Union[Vector, _Mapping]]] = ...) -> None: ...

class Vector(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: str
    def __init__(self, source: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("document_id", "text", "title")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    text: str
    title: str
    def __init__(self, document_id: _Optional[str] = ..., text: _Optional[str] = ..., title: _Optional[str] = ...) -> None: ...

class RunSlashCommandRequest(_message.Message):
    __slots__ = ("command", "args", "session_id", "workspace", "call_id", "named", "whole")
    class NamedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    command: str
    args: str
    session_id: str
    workspace: str
    call_id: str
    named: _containers.ScalarMap[str, str]
    whole: bool
    def __init__(self, command: _Optional[str] = ..., args: _Optional[str] = ..., session_id: _Optional[str] = ..., workspace: _Optional[str] = ..., call_id: _Optional[str] = ..., named: _Optional[_Mapping[str, str]] = ..., whole: bool = ...) -> None: ...

class RunSlashCommandResponse(_message.Message):
    __slots__ = ("say", "show", "messages")
    SAY_FIELD_NUMBER: _ClassVar[int]
    SHOW_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    say: str
    show: str
    messages: _containers.RepeatedCompositeFieldContainer[_struct_pb2.Struct]
    def __init__(self, say: _Optional[str] = ..., show: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_struct_pb2.Struct, _Mapping]]] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("time_limit_ms",)
    TIME_LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    time_limit_ms: int
    def __init__(self, time_limit_ms: _Optional[int] = ...) -> None: ...

class DrainResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShutdownRequest(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class ShutdownResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
