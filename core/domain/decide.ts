import { ApprovalScope } from "../../proto/gen/clawd/v1/event_pb.ts";
import { fillForm, readForm } from "./answer-form.ts";
import type { Command } from "./command.ts";
import type { EventBody } from "./event.ts";
import { type Failed, fail, ok, type Result, unreachable } from "./failure.ts";
import { checkRulePattern } from "./policy.ts";
import type { Session, Turn } from "./session.ts";
import { showableLine } from "./showable.ts";

/** The longest message a person may send, UTF-16 code units. */
export const MESSAGE_LIMIT_CHARS = 1_000_000;
/** The longest name of a tool or of a program that calls one, UTF-16 code units. */
const NAME_LIMIT_CHARS = 200;
/** Calls of a program that may be open in one session. */
const OPEN_CALLS_MAX = 32;

/** Answers a command with the events it causes, or refuses it. The only place with rules about commands. */
export function decide(session: Session, command: Command): Result<readonly EventBody[]> {
  if (command.kind === "open") return decideOpen(session, command);
  if (session.seq === 0) {
    return fail("not_found", `there is no session "${session.id}"`, { hint: "list them: claw sessions list" });
  }
  switch (command.kind) {
    case "say":
      return decideSay(session, command);
    case "call":
      return decideCall(session, command);
    case "answer":
      return decideAnswer(session, command);
    case "interrupt":
      if (session.turn === undefined) return fail("conflict", `session ${session.id} has no running turn to stop`);
      return ok([{ case: "interruptRequested", value: { turnId: session.turn.id } }]);
    default:
      return unreachable(command);
  }
}

function decideOpen(session: Session, command: Extract<Command, { kind: "open" }>): Result<readonly EventBody[]> {
  if (session.seq !== 0) return fail("conflict", `session "${session.id}" exists already`);
  const { sessionId, workspace, model } = command;
  return ok([{ case: "sessionOpened", value: { sessionId, workspace, model } }]);
}

function decideSay(session: Session, command: Extract<Command, { kind: "say" }>): Result<readonly EventBody[]> {
  const { messageId, turnId, text, model, allow, yolo, attended } = command;
  if (text.trim() === "") return fail("invalid", "the message is empty", { hint: "say something: claw say TEXT" });
  if (text.length > MESSAGE_LIMIT_CHARS) {
    return fail("invalid", `the message has ${text.length} characters; the limit is ${MESSAGE_LIMIT_CHARS}`, {
      hint: "put it into a file of the workspace and ask for that file to be read",
    });
  }
  const checked = checkPatterns(allow);
  if (!checked.ok) return checked;
  if (session.turn !== undefined && session.turn.caller !== "") return callsRun(session, session.turn);
  const spoke: EventBody = { case: "userSpoke", value: { messageId, text } };
  if (session.turn === undefined) {
    return ok([spoke, { case: "turnStarted", value: { turnId, model, allow: [...allow], yolo, attended } }]);
  }
  if (allow.length > 0 || yolo) {
    return fail(
      "conflict",
      `a turn of session ${session.id} is running, and what it is allowed is fixed at its start`,
      {
        hint: "send the message without --allow and --yolo, or stop the turn first",
      },
    );
  }
  return ok([spoke]);
}

function checkPatterns(allow: readonly string[]): Result<void> {
  for (const pattern of allow) {
    const checked = checkRulePattern(pattern);
    if (!checked.ok) return checked;
  }
  return ok(undefined);
}

function callsRun({ id }: Session, { caller }: Turn): Failed {
  return fail("conflict", `in session ${id} calls of ${showableLine(caller)} run`, {
    hint: "try again when they have ended, or stop them first",
  });
}

/** The first open call of a program starts a turn; what it calls meanwhile joins it, so that neither waits for the other. */
function decideCall(session: Session, command: Extract<Command, { kind: "call" }>): Result<readonly EventBody[]> {
  const { callId, turnId, tool, args, caller, allow, yolo } = command;
  for (const [what, name] of Object.entries({ tool, caller })) {
    if (name.trim() === "") return fail("invalid", `the call names no ${what}`);
    if (name.length <= NAME_LIMIT_CHARS) continue;
    return fail("invalid", `the name of the ${what} has ${name.length} characters; the limit is ${NAME_LIMIT_CHARS}`);
  }
  const checked = checkPatterns(allow);
  if (!checked.ok) return checked;
  const { id, turn } = session;
  const asked = (joined: string): EventBody => ({
    case: "toolCallAsked",
    value: { turnId: joined, callId, tool, args },
  });
  if (turn === undefined) {
    return ok([{ case: "turnStarted", value: { turnId, caller, allow: [...allow], yolo } }, asked(turnId)]);
  }
  if (turn.caller === "") {
    return fail("conflict", `a turn of session ${id} is running`, { hint: "call again when it has ended" });
  }
  const isSame = turn.caller === caller && turn.yolo === yolo && sameTexts(turn.allow, allow);
  if (!isSame) return callsRun(session, turn);
  if (turn.interrupted) return fail("conflict", `the calls of session ${id} are being stopped`);
  if (session.programCalls.size >= OPEN_CALLS_MAX) {
    return fail("exhausted", `session ${id} has ${OPEN_CALLS_MAX} open calls`, {
      hint: "wait for some of them to end",
    });
  }
  return ok([asked(turn.id)]);
}

function sameTexts(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}

const SCOPES = {
  once: ApprovalScope.ONCE,
  session: ApprovalScope.SESSION,
  always: ApprovalScope.ALWAYS,
} as const;

function decideAnswer(session: Session, command: Extract<Command, { kind: "answer" }>): Result<readonly EventBody[]> {
  const { approvalId, allowed } = command;
  const approval = session.approvals.get(approvalId);
  if (approval?.status !== "open") {
    return fail("conflict", `question "${approvalId}" is not open: it was answered, has lapsed, or never was`);
  }
  const answered = { approvalId, allowed, scope: SCOPES[command.scope] };
  if (!allowed || approval.requestedSchema === undefined) return ok([{ case: "approvalAnswered", value: answered }]);
  const fields = readForm(approval.requestedSchema);
  if (!fields.ok) return fields;
  const content = fillForm(fields.value, command.content ?? {});
  if (!content.ok) return content;
  return ok([{ case: "approvalAnswered", value: { ...answered, content: content.value } }]);
}
