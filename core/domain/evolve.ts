import { type Event, type TurnEnded, TurnOutcome, type TurnStarted } from "../../proto/gen/clawd/v1/event_pb.ts";
import { answerApproval, askApproval, expireApproval, openApprovals } from "./evolve-approval.ts";
import { askCall, endCall, startCall } from "./evolve-call.ts";
import { buildContext, chooseTools, hearHook, recallMemory } from "./evolve-prompt.ts";
import { addBlock, endReply, settleResults, withWords } from "./evolve-reply.ts";
import { failureFromProto } from "./failure.ts";
import type { ResultBlock } from "./provider.ts";
import type { EndedTurn, Session, ToolCall } from "./session.ts";

const TITLE_LIMIT_CHARS = 80;

const FRESH_TURN = {
  steps: 0,
  resumed: 0,
  interrupted: false,
  said: "",
  context: "",
  contextHeard: false,
  recalled: false,
  built: undefined,
  hidden: undefined,
};

/**
 * Folds one event into a session. Total: whatever a journal holds, in whatever order, the result is a session; events
 * that this build does not know, or that fit nothing, change only `seq`.
 */
export function evolve(session: Session, event: Event): Session {
  return { ...session, ...changes(session, event.body), seq: event.seq };
}

function changes(session: Session, body: Event["body"]): Partial<Session> {
  switch (body.case) {
    case "sessionOpened":
      return { workspace: body.value.workspace, title: body.value.title, model: body.value.model };
    case "userSpoke":
      return hear(session, body.value.text);
    case "turnStarted":
      return startTurn(session, body.value);
    case "turnResumed":
      return session.turn === undefined ? {} : { turn: { ...session.turn, resumed: body.value.attempt } };
    case "blockEnded":
      return addBlock(session, body.value.content);
    case "replyEnded":
      return endReply(session, body.value.usage);
    case "hookRan":
      return hearHook(session, body.value);
    case "contextBuilt":
      return buildContext(session, body.value);
    case "memoryRecalled":
      return recallMemory(session, body.value);
    case "profileShown":
      return { profile: body.value.text };
    case "toolsChosen":
      return chooseTools(session, body.value);
    case "approvalAsked":
      return askApproval(session, body.value);
    case "approvalAnswered":
      return answerApproval(session, body.value);
    case "approvalExpired":
      return expireApproval(session, body.value.approvalId);
    case "toolCallAsked":
      return askCall(session, body.value);
    case "toolCallStarted":
      return startCall(session, body.value);
    case "toolCallEnded":
      return endCall(session, body.value);
    case "interruptRequested":
      return session.turn === undefined ? {} : { turn: { ...session.turn, interrupted: true } };
    case "turnEnded":
      return endTurn(session, body.value);
    default:
      // Notes and decisions are facts for followers; a session's state does not hang on them.
      return {};
  }
}

function hear(session: Session, text: string): Partial<Session> {
  const title = session.title === "" ? titleOf(text) : session.title;
  if (session.turn !== undefined) return { title, steering: [...session.steering, text] };
  return { title, messages: withWords(session.messages, [{ kind: "text", text }]) };
}

function titleOf(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= TITLE_LIMIT_CHARS ? line : `${line.slice(0, TITLE_LIMIT_CHARS - 1)}…`;
}

function startTurn(session: Session, started: TurnStarted): Partial<Session> {
  const { turnId, model, allow, yolo, attended, caller } = started;
  const turn = { ...FRESH_TURN, id: turnId, model, allow, yolo, attended, caller };
  return { turn, title: session.title === "" ? titleOf(caller) : session.title, programCalls: new Map() };
}

const OUTCOMES: Readonly<Record<TurnOutcome, EndedTurn["outcome"]>> = {
  [TurnOutcome.UNSPECIFIED]: "failed",
  [TurnOutcome.DONE]: "done",
  [TurnOutcome.CANCELLED]: "cancelled",
  [TurnOutcome.FAILED]: "failed",
};

/** A turn that ends leaves nothing half open: a reply without end is whole now, a call without result was cancelled. */
function endTurn(session: Session, ended: TurnEnded): Partial<Session> {
  const calls = new Map<string, ToolCall>();
  for (const call of session.calls.values()) {
    const text = "The turn ended before this call did.";
    const result: ResultBlock = { kind: "toolResult", callId: call.callId, text, isError: true };
    calls.set(call.callId, call.status === "ended" ? call : { ...call, status: "ended", result });
  }
  const closed = { ...session, calls };
  const settled = session.reply.length > 0 ? endReply(closed, undefined) : settleResults(closed);
  const lastTurn: EndedTurn = {
    id: ended.turnId,
    outcome: OUTCOMES[ended.outcome] ?? "failed",
    ...(ended.failure === undefined ? {} : { failure: failureFromProto(ended.failure) }),
  };
  return { ...settled, turn: undefined, lastTurn, programCalls: new Map(), approvals: openApprovals(session) };
}
