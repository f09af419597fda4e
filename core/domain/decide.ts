import { ApprovalScope } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { Command } from "./command.ts";
import type { EventBody } from "./event.ts";
import { fail, ok, type Result, unreachable } from "./failure.ts";
import { checkRulePattern } from "./policy.ts";
import type { Session } from "./session.ts";

/** The longest message a person may send, UTF-16 code units. */
export const MESSAGE_LIMIT_CHARS = 1_000_000;

/** Answers a command with the events it causes, or refuses it. The only place with rules about commands. */
export function decide(session: Session, command: Command): Result<readonly EventBody[]> {
  if (command.kind === "open") return decideOpen(session, command);
  if (session.seq === 0) {
    return fail("not_found", `there is no session "${session.id}"`, { hint: "list them: claw sessions list" });
  }
  switch (command.kind) {
    case "say":
      return decideSay(session, command);
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
  for (const pattern of allow) {
    const checked = checkRulePattern(pattern);
    if (!checked.ok) return checked;
  }
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

const SCOPES = {
  once: ApprovalScope.ONCE,
  session: ApprovalScope.SESSION,
  always: ApprovalScope.ALWAYS,
} as const;

function decideAnswer(session: Session, command: Extract<Command, { kind: "answer" }>): Result<readonly EventBody[]> {
  const { approvalId, allowed } = command;
  if (session.approvals.get(approvalId)?.status !== "open") {
    return fail("conflict", `question "${approvalId}" is not open: it was answered, has lapsed, or never was`);
  }
  return ok([{ case: "approvalAnswered", value: { approvalId, allowed, scope: SCOPES[command.scope] } }]);
}
