import type { ContentBlock, Usage } from "../../proto/gen/clawd/v1/content_pb.ts";
import {
  type ApprovalAnswered,
  ApprovalScope,
  type Event,
  type ToolCallEnded,
  ToolCallStatus,
  type TurnEnded,
  TurnOutcome,
} from "../../proto/gen/clawd/v1/event_pb.ts";
import { failureFromProto } from "./failure.ts";
import type { Message, ReplyBlock, ResultBlock, TokenUsage } from "./provider.ts";
import type { Approval, EndedTurn, Session, ToolCall } from "./session.ts";

const TITLE_LIMIT_CHARS = 80;

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
    case "turnStarted": {
      const { turnId, model, allow, yolo, attended } = body.value;
      return { turn: { id: turnId, model, allow, yolo, attended, steps: 0, resumed: 0, interrupted: false } };
    }
    case "turnResumed":
      return session.turn === undefined ? {} : { turn: { ...session.turn, resumed: body.value.attempt } };
    case "blockEnded":
      return addBlock(session, body.value.content);
    case "replyEnded":
      return endReply(session, body.value.usage);
    case "approvalAsked": {
      const { approvalId, callId, tool } = body.value;
      return { approvals: new Map(session.approvals).set(approvalId, { callId, tool, status: "open" }) };
    }
    case "approvalAnswered":
      return answerApproval(session, body.value);
    case "approvalExpired":
      return { approvals: closeApproval(session, body.value.approvalId, "expired") };
    case "toolCallStarted": {
      const { callId, tool, args = {}, attempt } = body.value;
      if (!session.calls.has(callId)) return {};
      return { calls: new Map(session.calls).set(callId, { callId, tool, args, status: "running", attempt }) };
    }
    case "toolCallEnded":
      return endCall(session, body.value);
    case "interruptRequested":
      return session.turn === undefined ? {} : { turn: { ...session.turn, interrupted: true } };
    case "turnEnded":
      return endTurn(session, body.value);
    default:
      // Receipts and notes are facts for followers; a session's state does not hang on them.
      return {};
  }
}

function hear(session: Session, text: string): Partial<Session> {
  const title = session.title === "" ? titleOf(text) : session.title;
  if (session.turn !== undefined) return { title, steering: [...session.steering, text] };
  return { title, messages: withUserText(session.messages, [text]) };
}

function titleOf(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= TITLE_LIMIT_CHARS ? line : `${line.slice(0, TITLE_LIMIT_CHARS - 1)}…`;
}

function addBlock(session: Session, content: ContentBlock | undefined): Partial<Session> {
  const block = replyBlock(content);
  if (block === undefined) return {};
  const reply = [...session.reply, block];
  if (block.kind !== "toolCall") return { reply };
  const { callId, tool, args } = block;
  return { reply, calls: new Map(session.calls).set(callId, { callId, tool, args, status: "asked" }) };
}

/** A stored block as the prompt shows it; undefined for a kind that this build does not know. */
export function replyBlock(content: ContentBlock | undefined): ReplyBlock | undefined {
  switch (content?.kind.case) {
    case "text":
      return { kind: "text", text: content.kind.value.text };
    case "thinking": {
      const { text, signature, redacted } = content.kind.value;
      return { kind: "thinking", text, signature, redacted };
    }
    case "toolCall": {
      const { callId, tool, args = {} } = content.kind.value;
      return { kind: "toolCall", callId, tool, args };
    }
    default:
      return undefined;
  }
}

function endReply(session: Session, usage: Usage | undefined): Partial<Session> {
  const messages: readonly Message[] =
    session.reply.length === 0
      ? session.messages
      : [...session.messages, { role: "assistant", content: session.reply }];
  const turn = session.turn === undefined ? undefined : { ...session.turn, steps: session.turn.steps + 1 };
  const replied = { ...session, messages, turn, reply: [], steered: false, usage: addUsage(session.usage, usage) };
  return { ...replied, ...settleResults(replied) };
}

function addUsage(sum: TokenUsage, usage: Usage | undefined): TokenUsage {
  if (usage === undefined) return sum;
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cacheReadTokens: sum.cacheReadTokens + usage.cacheReadTokens,
    cacheWriteTokens: sum.cacheWriteTokens + usage.cacheWriteTokens,
  };
}

function endCall(session: Session, ended: ToolCallEnded): Partial<Session> {
  const call = session.calls.get(ended.callId);
  if (call === undefined) return {};
  const isError = ended.status !== ToolCallStatus.DONE && ended.status !== ToolCallStatus.ANSWERED;
  const result: ResultBlock = { kind: "toolResult", callId: ended.callId, text: ended.output, isError };
  const calls = new Map<string, ToolCall>(session.calls).set(ended.callId, { ...call, status: "ended", result });
  return { calls, ...settleResults({ ...session, calls }) };
}

/** Once the reply is whole and each of its calls has ended, the results and what was said meanwhile become a message. */
function settleResults(session: Session): Partial<Session> {
  if (session.reply.length > 0) return {};
  const results: ResultBlock[] = [];
  for (const call of session.calls.values()) {
    if (call.status !== "ended") return {};
    results.push(call.result);
  }
  return {
    messages: withUserText(withResults(session.messages, results), session.steering),
    calls: new Map(),
    steering: [],
    steered: session.steered || session.steering.length > 0,
  };
}

function withResults(messages: readonly Message[], results: readonly ResultBlock[]): readonly Message[] {
  return results.length === 0 ? messages : [...messages, { role: "user", content: results }];
}

function withUserText(messages: readonly Message[], texts: readonly string[]): readonly Message[] {
  if (texts.length === 0) return messages;
  const blocks = texts.map((text) => ({ kind: "text", text }) as const);
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: blocks }];
  return [...messages.slice(0, -1), { role: "user", content: [...last.content, ...blocks] }];
}

function answerApproval(session: Session, answer: ApprovalAnswered): Partial<Session> {
  const { approvalId, allowed, scope } = answer;
  const approvals = closeApproval(session, approvalId, allowed ? "allowed" : "refused");
  const tool = session.approvals.get(approvalId)?.tool;
  if (!allowed || scope !== ApprovalScope.SESSION || tool === undefined) return { approvals };
  return { approvals, allowedTools: [...session.allowedTools, tool] };
}

function closeApproval(session: Session, id: string, status: Approval["status"]): ReadonlyMap<string, Approval> {
  const approval = session.approvals.get(id);
  return approval === undefined ? session.approvals : new Map(session.approvals).set(id, { ...approval, status });
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
  return { ...settled, turn: undefined, lastTurn, approvals: new Map() };
}
