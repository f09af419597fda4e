import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Result } from "../../core/domain/failure.ts";
import type { HostService } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";

type Methods = typeof HostService.method;

/** One method of the host's. Its caller is known to be the plugin; everything in its request is a stranger's. */
export type HostMethod<Name extends keyof Methods> = (
  request: MessageShape<Methods[Name]["input"]>,
  signal: AbortSignal,
) => Result<MessageInitShape<Methods[Name]["output"]>> | Promise<Result<MessageInitShape<Methods[Name]["output"]>>>;

export type HostMethods<Name extends keyof Methods> = { readonly [One in Name]: HostMethod<One> };
export type AllHostMethods = HostMethods<keyof Methods>;
