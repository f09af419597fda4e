import { ToolCallStatus } from "../../../proto/gen/clawd/v1/event_pb.ts";
import { DeltaKind } from "../../../proto/gen/clawd/v1/session_pb.ts";
import { type Failure, failureToProto } from "../../domain/failure.ts";
import type { ToolOutcome } from "../../domain/tool.ts";
import type { Call } from "./gates.ts";
import type { OpenDesk } from "./open-desk.ts";
import type { TurnContext } from "./turn-context.ts";

/** A tool that does not end this long after it was told to is left behind, milliseconds. */
const ABANDON_MS = 5_000;

/** What running a tool came to, and how long that took. */
export type Run = { readonly outcome: ToolOutcome; readonly ms: number };

/** Runs a tool within its time. Never throws. */
export async function runTool(turn: TurnContext, call: Call, openDesk: OpenDesk): Promise<Run> {
  const startedMs = turn.now();
  const outcome = await runWithin(turn, call, openDesk);
  return { outcome, ms: turn.now() - startedMs };
}

/**
 * The end of a call that ran, with what of its output is to be read. An artifact that is not named there any more, since a hook
 * withheld or cut what named it, is not given out.
 */
export function endOf({ turnId, limits }: TurnContext, { callId, tool }: Call, { outcome, ms }: Run, output: string) {
  const failure = outcome.status === "failed" ? outcome.failure : undefined;
  const shown = clip(output, limits.outputChars);
  return {
    turnId,
    callId,
    tool: tool.name,
    status: statusOf(failure),
    output: shown,
    ms,
    artifacts: (outcome.artifacts ?? []).filter(({ artifactId }) => shown.includes(artifactId)),
    ...(failure === undefined ? {} : { failure: failureToProto(failure) }),
  };
}

async function runWithin(turn: TurnContext, call: Call, openDesk: OpenDesk): Promise<ToolOutcome> {
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
  const offer = openDesk({ ...turn, signal }, callId);
  try {
    const running = tool.run(args, { sessionId, callId, workspace, signal, progress, desk: offer.desk });
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
    await offer.close();
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

function statusOf(failure: Failure | undefined): ToolCallStatus {
  if (failure === undefined) return ToolCallStatus.DONE;
  return failure.code === "cancelled" ? ToolCallStatus.CANCELLED : ToolCallStatus.FAILED;
}

/** A text that is too long loses its middle. */
export function clip(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text;
  const half = Math.floor(limitChars / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[… ${left} characters left out …]\n${text.slice(-half)}`;
}
