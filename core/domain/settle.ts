import { StopReason, ToolCallStatus, TurnOutcome } from "../../proto/gen/clawd/v1/event_pb.ts";
import { FailureCode } from "../../proto/gen/clawd/v1/failure_pb.ts";
import type { EventBody } from "./event.ts";
import type { Session, ToolCall, Turn } from "./session.ts";

/** After this many restarts in its middle a turn is given up: it may be what stops the daemon. */
export const RESUME_LIMIT = 3;
const LOST = "Lost: the daemon stopped while this call ran. It may or may not have taken effect.";

/**
 * Closes what a stop of the daemon left open. A call that was running is `lost`, unless `mayRerun` says that its tool
 * is safe to run again; a call that never started is cancelled; a hook's call is lost, since the hook is gone. The turn
 * then goes on, or ends when a person had asked for that or when it has been taken up too often. An empty list means that
 * nothing was open.
 */
export function settle(session: Session, mayRerun: (tool: string) => boolean): readonly EventBody[] {
  const { turn } = session;
  const bodies: EventBody[] = [];
  for (const [approvalId, { status }] of session.approvals) {
    if (status === "open") bodies.push({ case: "approvalExpired", value: { approvalId } });
  }
  for (const call of session.hookCalls.values()) {
    bodies.push({ case: "toolCallEnded", value: { ...call, status: ToolCallStatus.LOST, output: LOST } });
  }
  if (turn === undefined) return bodies;
  if (turn.caller !== "") return [...bodies, ...closedProgramTurn(session, turn)];
  const turnId = turn.id;
  const goesOn = !turn.interrupted && turn.resumed < RESUME_LIMIT;
  if (session.reply.length > 0) {
    bodies.push({ case: "replyEnded", value: { turnId, step: turn.steps + 1, stop: StopReason.LOST } });
  }
  for (const call of session.calls.values()) {
    if (call.status === "ended") continue;
    if (call.status === "running" && goesOn && mayRerun(call.tool)) continue;
    bodies.push({ case: "toolCallEnded", value: closedCall(turnId, call) });
  }
  bodies.push(goesOn ? { case: "turnResumed", value: { turnId, attempt: turn.resumed + 1 } } : givenUp(turn));
  return bodies;
}

function closedCall(turnId: string, call: Pick<ToolCall, "callId" | "tool" | "status">) {
  const { callId, tool } = call;
  if (call.status === "asked") {
    const output = "The daemon stopped before this call ran. It had no effect.";
    return { turnId, callId, tool, status: ToolCallStatus.CANCELLED, output };
  }
  return { turnId, callId, tool, status: ToolCallStatus.LOST, output: LOST };
}

/** Whoever called lost the connection with the daemon: nothing is run for it any more, and it is the one to call again. */
function closedProgramTurn(session: Session, { id: turnId, interrupted }: Turn): readonly EventBody[] {
  const calls = [...session.programCalls.values()];
  const failure = { code: FailureCode.LOST, message: "the daemon stopped during this turn" };
  const outcome = interrupted ? TurnOutcome.CANCELLED : TurnOutcome.FAILED;
  return [
    ...calls.map((call): EventBody => ({ case: "toolCallEnded", value: closedCall(turnId, call) })),
    { case: "turnEnded", value: { turnId, outcome, ...(interrupted ? {} : { failure }) } },
  ];
}

function givenUp(turn: Turn): EventBody {
  const { id: turnId } = turn;
  if (turn.interrupted) return { case: "turnEnded", value: { turnId, outcome: TurnOutcome.CANCELLED } };
  const failure = {
    code: FailureCode.LOST,
    message: `the daemon stopped ${RESUME_LIMIT + 1} times during this turn`,
    hint: "look into clawd.log, then say what to do next",
  };
  return { case: "turnEnded", value: { turnId, outcome: TurnOutcome.FAILED, failure } };
}
