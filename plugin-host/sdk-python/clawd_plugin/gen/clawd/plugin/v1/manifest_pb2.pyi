from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Protocol(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROTOCOL_UNSPECIFIED: _ClassVar[Protocol]
    PROTOCOL_CLAWD: _ClassVar[Protocol]
    PROTOCOL_JSON_RPC: _ClassVar[Protocol]
PROTOCOL_UNSPECIFIED: Protocol
PROTOCOL_CLAWD: Protocol
PROTOCOL_JSON_RPC: Protocol

class Manifest(_message.Message):
    __slots__ = ("manifest_version", "name", "version", "description", "protocol_majors", "launch", "tools", "permissions", "limits", "hooks", "model_providers", "embedders", "memory_sources", "slash_commands", "config_schema", "config", "author", "dependencies", "dynamic")
    MANIFEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MAJORS_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    PERMISSIONS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    MODEL_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDERS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_SOURCES_FIELD_NUMBER: _ClassVar[int]
    SLASH_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_FIELD_NUMBER: _ClassVar[int]
    manifest_version: int
    name: str
    version: str
    description: str
    protocol_majors: _containers.RepeatedScalarFieldContainer[int]
    launch: Launch
    tools: _containers.RepeatedCompositeFieldContainer[ToolDeclaration]
    permissions: _containers.RepeatedCompositeFieldContainer[PermissionRequest]
    limits: Limits
    hooks: _containers.RepeatedCompositeFieldContainer[HookDeclaration]
    model_providers: _containers.RepeatedCompositeFieldContainer[ModelProviderDeclaration]
    embedders: _containers.RepeatedCompositeFieldContainer[EmbedderDeclaration]
    memory_sources: _containers.RepeatedCompositeFieldContainer[MemorySourceDeclaration]
    slash_commands: _containers.RepeatedCompositeFieldContainer[SlashCommandDeclaration]
    config_schema: _struct_pb2.Struct
    config: _struct_pb2.Struct
    author: str
    dependencies: _containers.RepeatedScalarFieldContainer[str]
    dynamic: bool
    def __init__(self, manifest_version: _Optional[int] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., description: _Optional[str] = ..., protocol_majors: _Optional[_Iterable[int]] = ..., launch: _Optional[_Union[Launch, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[ToolDeclaration, _Mapping]]] = ..., permissions: _Optional[_Iterable[_Union[PermissionRequest, _Mapping]]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., hooks: _Optional[_Iterable[_Union[HookDeclaration, _Mapping]]] = ..., model_providers: _Optional[_Iterable[_Union[ModelProviderDeclaration, _Mapping]]] = ..., embedders: _Optional[_Iterable[_Union[EmbedderDeclaration, _Mapping]]] = ..., memory_sources: _Optional[_Iterable[_Union[MemorySourceDeclaration, _Mapping]]] = ..., slash_commands: _Optional[_Iterable[_Union[SlashCommandDeclaration, _Mapping]]] = ..., config_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., config: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., author: _Optional[str] = ..., dependencies: _Optional[_Iterable[str]] = ..., dynamic: bool = ...) -> None: ...

class Launch(_message.Message):
    __slots__ = ("command", "env", "start_timeout_ms", "platforms", "protocol", "idle_stop_ms", "singleton")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class PlatformsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: PlatformCommand
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[PlatformCommand, _Mapping]] = ...) -> None: ...
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    START_TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    PLATFORMS_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    IDLE_STOP_MS_FIELD_NUMBER: _ClassVar[int]
    SINGLETON_FIELD_NUMBER: _ClassVar[int]
    command: _containers.RepeatedScalarFieldContainer[str]
    env: _containers.ScalarMap[str, str]
    start_timeout_ms: int
    platforms: _containers.MessageMap[str, PlatformCommand]
    protocol: Protocol
    idle_stop_ms: int
    singleton: bool
    def __init__(self, command: _Optional[_Iterable[str]] = ..., env: _Optional[_Mapping[str, str]] = ..., start_timeout_ms: _Optional[int] = ..., platforms: _Optional[_Mapping[str, PlatformCommand]] = ..., protocol: _Optional[_Union[Protocol, str]] = ..., idle_stop_ms: _Optional[int] = ..., singleton: bool = ...) -> None: ...

class PlatformCommand(_message.Message):
    __slots__ = ("command",)
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, command: _Optional[_Iterable[str]] = ...) -> None: ...

class HookDeclaration(_message.Message):
    __slots__ = ("at", "priority", "timeout_ms", "on_error", "tools")
    AT_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    ON_ERROR_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    at: str
    priority: int
    timeout_ms: int
    on_error: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, at: _Optional[str] = ..., priority: _Optional[int] = ..., timeout_ms: _Optional[int] = ..., on_error: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ...) -> None: ...

class ModelProviderDeclaration(_message.Message):
    __slots__ = ("name", "default_model")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_MODEL_FIELD_NUMBER: _ClassVar[int]
    name: str
    default_model: str
    def __init__(self, name: _Optional[str] = ..., default_model: _Optional[str] = ...) -> None: ...

class EmbedderDeclaration(_message.Message):
    __slots__ = ("id", "dimensions")
    ID_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    dimensions: int
    def __init__(self, id: _Optional[str] = ..., dimensions: _Optional[int] = ...) -> None: ...

class MemorySourceDeclaration(_message.Message):
    __slots__ = ("name", "description")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class SlashCommandDeclaration(_message.Message):
    __slots__ = ("name", "description", "arguments")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    arguments: _containers.RepeatedCompositeFieldContainer[SlashCommandArgument]
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., arguments: _Optional[_Iterable[_Union[SlashCommandArgument, _Mapping]]] = ...) -> None: ...

class SlashCommandArgument(_message.Message):
    __slots__ = ("name", "description", "required")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    required: bool
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., required: bool = ...) -> None: ...

class ToolDeclaration(_message.Message):
    __slots__ = ("name", "description", "input_schema", "rerun_safe", "timeout_ms")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RERUN_SAFE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    input_schema: _struct_pb2.Struct
    rerun_safe: bool
    timeout_ms: int
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., rerun_safe: bool = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class PermissionRequest(_message.Message):
    __slots__ = ("permission", "reason")
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    permission: str
    reason: str
    def __init__(self, permission: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("memory_mib", "processes", "concurrent_calls", "cpu_percent", "disk_mib")
    MEMORY_MIB_FIELD_NUMBER: _ClassVar[int]
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_CALLS_FIELD_NUMBER: _ClassVar[int]
    CPU_PERCENT_FIELD_NUMBER: _ClassVar[int]
    DISK_MIB_FIELD_NUMBER: _ClassVar[int]
    memory_mib: int
    processes: int
    concurrent_calls: int
    cpu_percent: int
    disk_mib: int
    def __init__(self, memory_mib: _Optional[int] = ..., processes: _Optional[int] = ..., concurrent_calls: _Optional[int] = ..., cpu_percent: _Optional[int] = ..., disk_mib: _Optional[int] = ...) -> None: ...
