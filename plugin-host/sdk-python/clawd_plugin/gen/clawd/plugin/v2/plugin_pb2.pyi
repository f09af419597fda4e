from clawd_plugin.gen.clawd.plugin.v1 import manifest_pb2 as _manifest_pb2
from clawd_plugin.gen.clawd.plugin.v1 import plugin_pb2 as _plugin_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InitializeRequest(_message.Message):
    __slots__ = ("facts",)
    FACTS_FIELD_NUMBER: _ClassVar[int]
    facts: _plugin_pb2.InitializeRequest
    def __init__(self, facts: _Optional[_Union[_plugin_pb2.InitializeRequest, _Mapping]] = ...) -> None: ...

class InitializeResponse(_message.Message):
    __slots__ = ("facts",)
    FACTS_FIELD_NUMBER: _ClassVar[int]
    facts: _plugin_pb2.InitializeResponse
    def __init__(self, facts: _Optional[_Union[_plugin_pb2.InitializeResponse, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("progress", "output", "result")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    progress: str
    output: _plugin_pb2.OutputChunk
    result: ToolResult
    def __init__(self, progress: _Optional[str] = ..., output: _Optional[_Union[_plugin_pb2.OutputChunk, _Mapping]] = ..., result: _Optional[_Union[ToolResult, _Mapping]] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("parts", "failure")
    PARTS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[ResultPart]
    failure: ToolFailure
    def __init__(self, parts: _Optional[_Iterable[_Union[ResultPart, _Mapping]]] = ..., failure: _Optional[_Union[ToolFailure, _Mapping]] = ...) -> None: ...

class ResultPart(_message.Message):
    __slots__ = ("text", "json", "artifact_id")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    text: str
    json: _struct_pb2.Value
    artifact_id: str
    def __init__(self, text: _Optional[str] = ..., json: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., artifact_id: _Optional[str] = ...) -> None: ...

class ToolFailure(_message.Message):
    __slots__ = ("code", "message", "hint", "category", "retryable")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    hint: str
    category: str
    retryable: bool
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., hint: _Optional[str] = ..., category: _Optional[str] = ..., retryable: bool = ...) -> None: ...

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
