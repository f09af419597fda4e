import { ToolCallStatus } from "../../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "../../domain/event.ts";
import { type Failure, type FailureCode, failureToProto } from "../../domain/failure.ts";
import type { Call, Trace } from "./gates.ts";

/** The intention to run a call. */
export function callStarted(turnId: string, { callId, tool, args }: Call, trace: readonly Trace[], attempt: number) {
  const value = { turnId, callId, tool: tool.name, args, trace: [...trace], attempt };
  return { case: "toolCallStarted", value } as const satisfies EventBody;
}

const REFUSED: Readonly<Partial<Record<FailureCode, ToolCallStatus>>> = {
  denied: ToolCallStatus.DENIED,
  cancelled: ToolCallStatus.CANCELLED,
};

/** The end of a call that did not run. */
export function refusal(
  turnId: string,
  callId: string,
  tool: string,
  failure: Failure,
  trace: readonly Trace[],
): EventBody {
  const output = failure.hint === undefined ? failure.message : `${failure.message} (${failure.hint})`;
  const status = REFUSED[failure.code] ?? ToolCallStatus.FAILED;
  return {
    case: "toolCallEnded",
    value: { turnId, callId, tool, status, output, failure: failureToProto(failure), trace: [...trace] },
  };
}
