import type { ContentBlock, Usage } from "../../proto/gen/clawd/v1/content_pb.ts";
import {
  type ApprovalAnswered,
  type ApprovalAsked,
  ApprovalScope,
  type ContextBuilt,
  type Event,
  type HookRan,
  type MemoryRecalled,
  type ToolCallAsked,
  type ToolCallEnded,
  type ToolCallStarted,
  ToolCallStatus,
  type ToolsChosen,
  type TurnEnded,
  TurnOutcome,
} from "../../proto/gen/clawd/v1/event_pb.ts";
import { failureFromProto } from "./failure.ts";
import { contextBlock, recalledBlock } from "./prompt.ts";
import type { Message, ReplyBlock, ResultBlock, TokenUsage, WordsBlock } from "./provider.ts";
import {
  type Approval,
  answerKey,
  definitionKey,
  type EndedTurn,
  readHookCallId,
  type Session,
  type ToolCall,
  type Turn,
} from "./session.ts";

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
    case "turnStarted": {
      const { turnId, model, allow, yolo, attended, caller } = body.value;
      const turn = { ...FRESH_TURN, id: turnId, model, allow, yolo, attended, caller };
      return { turn, title: session.title === "" ? titleOf(caller) : session.title, programCalls: new Map() };
    }
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

function addBlock(session: Session, content: ContentBlock | undefined): Partial<Session> {
  const block = replyBlock(content);
  if (block === undefined) return {};
  const reply = [...session.reply, block];
  if (block.kind !== "toolCall") return { reply };
  const { callId, tool, args } = block;
  return { reply, calls: new Map(session.calls).set(callId, { callId, tool, args, status: "asked" }) };
}

/** A stored block as the prompt shows it; undefined for a kind that this build does not know. */
function replyBlock(content: ContentBlock | undefined): ReplyBlock | undefined {
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
  const said = session.reply.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("");
  const turn = session.turn === undefined ? undefined : { ...session.turn, steps: session.turn.steps + 1, said };
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

function hearHook({ turn }: Session, { point, turnId }: HookRan): Partial<Session> {
  if (turn === undefined || point !== "context.build" || turnId !== turn.id) return {};
  return { turn: { ...turn, contextHeard: true } };
}

/** What holds for the whole turn joins its words for good: what a model has read before must not change under it. */
function buildContext({ turn, messages }: Session, built: ContextBuilt): Partial<Session> {
  const { turnId, step, context, system } = built;
  if (turn === undefined || turnId !== turn.id) return {};
  if (step > 0) return { turn: { ...turn, built: { step, context, system } } };
  if (messages.at(-1)?.role !== "user" || turn.contextHeard) return {};
  return {
    turn: { ...turn, context, contextHeard: true },
    messages: context === "" ? messages : withWords(messages, [contextBlock(context)]),
  };
}

/** Before the first reply only, for the same reason. */
function recallMemory({ turn, messages }: Session, { turnId, text }: MemoryRecalled): Partial<Session> {
  if (turn === undefined || turnId !== turn.id || turn.recalled || turn.steps > 0) return {};
  if (messages.at(-1)?.role !== "user" || text === "") return {};
  return { turn: { ...turn, recalled: true }, messages: withWords(messages, [recalledBlock(text)]) };
}

function chooseTools({ turn }: Session, { turnId, step, leftOut }: ToolsChosen): Partial<Session> {
  if (turn === undefined || turnId !== turn.id) return {};
  return { turn: { ...turn, hidden: { step, tools: leftOut.map(({ tool }) => tool) } } };
}

/** A tool that was called stays with the model until the turn ends, though it had not been shown. */
function showCalled(turn: Turn | undefined, tool: string): Turn | undefined {
  if (turn?.hidden?.tools.includes(tool) !== true) return turn;
  return { ...turn, hidden: { ...turn.hidden, tools: turn.hidden.tools.filter((name) => name !== tool) } };
}

/** Only a program's turn has calls that no reply asked for. */
function askCall(session: Session, { turnId, callId, tool, args = {} }: ToolCallAsked): Partial<Session> {
  if (session.turn?.id !== turnId || session.turn.caller === "") return {};
  return { programCalls: new Map(session.programCalls).set(callId, { callId, tool, args, status: "asked" }) };
}

function startCall(session: Session, { callId, turnId, tool, args = {}, attempt }: ToolCallStarted): Partial<Session> {
  if (session.calls.has(callId)) {
    return { calls: new Map(session.calls).set(callId, { callId, tool, args, status: "running", attempt }) };
  }
  if (session.programCalls.has(callId)) {
    return { programCalls: new Map(session.programCalls).set(callId, { callId, tool, args, status: "running" }) };
  }
  const own = readHookCallId(callId);
  if (own === undefined) return {};
  return {
    hookCalls: new Map(session.hookCalls).set(callId, { callId, tool, turnId }),
    lastHookCall: Math.max(session.lastHookCall, own.number),
  };
}

function endHookCall(session: Session, callId: string): Partial<Session> {
  const own = readHookCallId(callId);
  if (own === undefined) return {};
  const hookCalls = new Map(session.hookCalls);
  hookCalls.delete(callId);
  return { hookCalls, lastHookCall: Math.max(session.lastHookCall, own.number) };
}

function endCall(session: Session, ended: ToolCallEnded): Partial<Session> {
  if (session.programCalls.has(ended.callId)) {
    const programCalls = new Map(session.programCalls);
    programCalls.delete(ended.callId);
    return { programCalls };
  }
  const call = session.calls.get(ended.callId);
  if (call === undefined) return endHookCall(session, ended.callId);
  const isError = ended.status !== ToolCallStatus.DONE && ended.status !== ToolCallStatus.ANSWERED;
  const result: ResultBlock = { kind: "toolResult", callId: ended.callId, text: ended.output, isError };
  const calls = new Map<string, ToolCall>(session.calls).set(ended.callId, { ...call, status: "ended", result });
  return { calls, turn: showCalled(session.turn, ended.tool), ...settleResults({ ...session, calls }) };
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
    messages: withWords(
      withResults(session.messages, results),
      session.steering.map((text) => ({ kind: "text", text })),
    ),
    calls: new Map(),
    steering: [],
    steered: session.steered || session.steering.length > 0,
  };
}

function withResults(messages: readonly Message[], results: readonly ResultBlock[]): readonly Message[] {
  return results.length === 0 ? messages : [...messages, { role: "user", content: results }];
}

function withWords(messages: readonly Message[], blocks: readonly WordsBlock[]): readonly Message[] {
  if (blocks.length === 0) return messages;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: blocks }];
  return [...messages.slice(0, -1), { role: "user", content: [...last.content, ...blocks] }];
}

const SCOPES: Readonly<Record<number, Approval["scope"]>> = {
  [ApprovalScope.SESSION]: "session",
  [ApprovalScope.ALWAYS]: "always",
};

function askApproval(session: Session, asked: ApprovalAsked): Partial<Session> {
  const { approvalId, callId, tool, permission, principal, edition, requestedSchema } = asked;
  const approval: Approval = {
    ...{ callId, tool, permission, principal, edition, status: "open", scope: "once" },
    ...(requestedSchema === undefined ? {} : { requestedSchema }),
  };
  return { approvals: new Map(session.approvals).set(approvalId, approval) };
}

/** What was said about a hook or a plugin is never taken for a word about the model, or the other way round. */
function answerApproval(session: Session, { approvalId, allowed, scope, content }: ApprovalAnswered): Partial<Session> {
  const approval = session.approvals.get(approvalId);
  if (approval === undefined) return {};
  const reach = SCOPES[scope] ?? "once";
  const status = allowed ? "allowed" : "refused";
  const approvals = new Map(session.approvals).set(approvalId, {
    ...{ ...approval, status, scope: reach },
    ...(content === undefined ? {} : { content }),
  });
  const { callId, tool, permission, principal } = approval;
  const definition = definitionKey(tool, approval.edition);
  // What a plugin asks in its own words is answered once, whatever a client says of the answer's reach.
  const isOwnWords = tool === "" && permission === "";
  if (reach === "once" || isOwnWords) return { approvals };
  const hook = permission === "" && !session.calls.has(callId) ? readHookCallId(callId) : undefined;
  const key =
    permission !== "" ? answerKey(principal, permission) : hook && answerKey(hook.principal, `calls ${definition}`);
  if (key !== undefined) return { approvals, hookAnswers: new Map(session.hookAnswers).set(key, allowed) };
  return allowed ? { approvals, allowedTools: [...session.allowedTools, definition] } : { approvals };
}

function expireApproval(session: Session, id: string): Partial<Session> {
  const approval = session.approvals.get(id);
  if (approval === undefined) return {};
  return { approvals: new Map(session.approvals).set(id, { ...approval, status: "expired" }) };
}

/** The questions of a turn end with it; one from outside a turn may still be open. */
function openApprovals({ approvals }: Session): Session["approvals"] {
  return new Map([...approvals].filter(([, { status }]) => status === "open"));
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
