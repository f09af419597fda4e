import { ToolCallStatus } from "../../proto/gen/clawd/v1/event_pb.ts";
import { DeltaKind } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { EventBody } from "../domain/event.ts";
import { type Failure, failureToProto } from "../domain/failure.ts";
import type { ToolOutcome } from "../domain/tool.ts";
import { type Call, textOf } from "./gates.ts";
import { receiptBodies } from "./receipts.ts";
import type { TurnContext } from "./turn-context.ts";

/** A tool that does not end this long after it was told to is left behind, milliseconds. */
const ABANDON_MS = 5_000;

/** Runs a call that all gates let through and whose start is durable. Returns the events that close it. */
export async function runCall(turn: TurnContext, call: Call): Promise<readonly EventBody[]> {
  const { turnId, hooks, writer } = turn;
  const { callId, tool, args } = call;
  const { id: sessionId, workspace } = writer.state();
  const startedMs = turn.now();
  const outcome = await runWithin(turn, call);
  const ms = turn.now() - startedMs;
  const event = {
    at: "tool.after",
    sessionId,
    turnId,
    callId,
    workspace,
    value: { tool: tool.name, args, status: outcome.status, output: outcome.output },
  } as const;
  const { answer, receipts } = await hooks.run(event, turn.signal);
  const output = clip(hookedOutput(answer, outcome.output), turn.limits.outputChars);
  const failure = outcome.status === "failed" ? outcome.failure : undefined;
  return [
    ...receiptBodies(turnId, callId, "tool.after", receipts),
    {
      case: "toolCallEnded",
      value: {
        turnId,
        callId,
        tool: tool.name,
        status: statusOf(failure),
        output,
        ms,
        ...(failure === undefined ? {} : { failure: failureToProto(failure) }),
      },
    },
  ];
}

async function runWithin(turn: TurnContext, call: Call): Promise<ToolOutcome> {
  const { tool, callId, args } = call;
  const { id: sessionId, workspace } = turn.writer.state();
  if (turn.signal.aborted) {
    const message = `${tool.name} was interrupted before it began`;
    return { status: "failed", output: `${message}.`, failure: { code: "cancelled", message } };
  }
  const deadline = AbortSignal.timeout(tool.timeoutMs);
  const signal = AbortSignal.any([turn.signal, deadline]);
  const stopped = (): Failure =>
    turn.signal.aborted
      ? { code: "cancelled", message: `${tool.name} was interrupted` }
      : { code: "timed_out", message: `${tool.name} did not end within ${tool.timeoutMs / 1000} s` };
  const progress = (line: string) => turn.tell({ turnId: turn.turnId, kind: DeltaKind.PROGRESS, text: line, callId });
  const abandoned = abandonment(signal);
  try {
    const running = tool.run(args, { sessionId, callId, workspace, signal, progress });
    const outcome = await Promise.race([running, abandoned.promise]);
    if (outcome === undefined) {
      const failure = stopped();
      return { status: "failed", output: `${failure.message}, and did not stop when told to.`, failure };
    }
    if (outcome.status === "done" || !signal.aborted) return outcome;
    const failure = stopped();
    return { status: "failed", output: `${failure.message}.\n${outcome.output}`.trimEnd(), failure };
  } catch (cause) {
    // A tool promises not to throw. One that does is broken, but its conversation need not be.
    const message = `${tool.name} broke: ${cause instanceof Error ? cause.message : String(cause)}`;
    return { status: "failed", output: message, failure: { code: "unavailable", message, cause } };
  } finally {
    abandoned.cancel();
  }
}

/** Resolves some time after the signal aborted. */
function abandonment(signal: AbortSignal): { promise: Promise<undefined>; cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const promise = new Promise<undefined>((resolve) => {
    onAbort = () => {
      timer = setTimeout(resolve, ABANDON_MS, undefined);
    };
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    promise,
    cancel: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

function hookedOutput(answer: Awaited<ReturnType<TurnContext["hooks"]["run"]>>["answer"], output: string): string {
  switch (answer.do) {
    case "modify":
      return typeof answer.value.output === "string" ? answer.value.output : textOf(answer.value);
    case "answer":
      return textOf(answer.result);
    case "block":
      return `A hook withheld the output: ${answer.because}`;
    default:
      return output;
  }
}

function statusOf(failure: Failure | undefined): ToolCallStatus {
  if (failure === undefined) return ToolCallStatus.DONE;
  return failure.code === "cancelled" ? ToolCallStatus.CANCELLED : ToolCallStatus.FAILED;
}

function clip(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text;
  const half = Math.floor(limitChars / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[… ${left} characters left out …]\n${text.slice(-half)}`;
}
