import type { JsonObject } from "@bufbuild/protobuf";
import type { EventBody } from "../../domain/event.ts";
import { type Failure, ok, unreachable } from "../../domain/failure.ts";
import type { PermissionQuestion, PersonsWord } from "../../domain/permission-decision.ts";
import { subjectOf } from "../../domain/policy.ts";
import { type Approval, answerKey, type Session } from "../../domain/session.ts";
import type { Call } from "./gates.ts";
import { hookThatSaid } from "./receipts.ts";
import { quietContext, recordDecision, runHooks } from "./run-hooks.ts";
import type { TurnContext } from "./turn-context.ts";

/** How long a script's question about a permission waits at most, milliseconds. */
const PERMISSION_LIMIT_MS = 60_000;

export type PersonsAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly because: string; readonly hint?: string };

/**
 * Asks whoever is connected about a call and waits for the answer, which any client may give. With nobody there, or
 * nobody in time, the answer is no, with guidance.
 */
export async function askPerson(turn: TurnContext, call: Call, because: string): Promise<PersonsAnswer> {
  const { approvalMs } = turn.limits;
  const { callId, args } = call;
  const { id, workspace } = turn.writer.state();
  const tool = call.tool.name;
  const hint = `allow it in advance with --allow ${JSON.stringify(`${tool}:${subjectOf(args, workspace)}`)}, or answer on a terminal: claw attach ${id}`;
  const question = { callId, tool, args, permission: "", principal: "", edition: call.tool.edition ?? "", because };
  const reply = await putQuestion(turn, question, approvalMs);
  switch (reply.kind) {
    case "answered":
      return reply.allowed ? { allowed: true } : { allowed: false, because: "the person said no" };
    case "alone":
      return { allowed: false, because: `${because}, and nobody is there to give it`, hint };
    case "stopped":
      return { allowed: false, because: "the turn was stopped before anybody answered" };
    case "lapsed":
      return { allowed: false, because: `nobody answered within ${Math.round(approvalMs / 1000)} seconds`, hint };
    case "blocked":
      return { allowed: false, because: reply.because };
    case "failed":
      return { allowed: false, because: reply.failure.message };
    default:
      return unreachable(reply);
  }
}

/**
 * Asks about something that a hook wants to touch. What was answered for the session is not asked again. A hook that says
 * no to the question, a lapse and an empty room are one to the one who wanted it: nobody said yes.
 */
export function askAboutPermission(
  turn: TurnContext,
  callId: string,
  { principal, permission }: PermissionQuestion,
): Promise<PersonsWord> {
  return turn.oneQuestion(async () => {
    const known = turn.writer.state().hookAnswers.get(answerKey(principal, permission));
    if (known !== undefined) return { said: known ? "yes" : "no", scope: "session" };
    const because = "it was neither granted nor denied";
    const question = { callId, tool: "", args: {}, permission, principal, edition: "", because };
    const reply = await putQuestion(turn, question, Math.min(PERMISSION_LIMIT_MS, turn.limits.approvalMs));
    if (reply.kind === "answered") return { said: reply.allowed ? "yes" : "no", scope: reply.scope };
    return { said: "nobody" };
  }, turn.signal);
}

/** A question in a stranger's own words, which must be safe to show. */
export type StrangersQuestion = {
  readonly principal: string;
  readonly question: string;
  /** What is to be filled in beside the yes. */
  readonly requestedSchema: JsonObject | undefined;
};

export function confirmWithPerson(
  turn: TurnContext,
  callId: string,
  { principal, question, requestedSchema }: StrangersQuestion,
): Promise<PersonsWord> {
  return turn.oneQuestion(async () => {
    const words = { callId, tool: "", args: {}, permission: "", principal, edition: "", because: question };
    const asked = requestedSchema === undefined ? words : { ...words, requestedSchema };
    const reply = await putQuestion(turn, asked, turn.limits.approvalMs);
    if (reply.kind !== "answered") return { said: "nobody" };
    if (!reply.allowed) return { said: "no", scope: "once" };
    return { said: "yes", scope: "once", ...(reply.content === undefined ? {} : { content: reply.content }) };
  }, turn.signal);
}

type Question = Pick<Approval, "callId" | "tool" | "permission" | "principal" | "edition"> & {
  readonly args: JsonObject;
  readonly because: string;
  readonly requestedSchema?: JsonObject;
};

type Reply =
  | {
      readonly kind: "answered";
      readonly allowed: boolean;
      readonly scope: Approval["scope"];
      readonly content?: JsonObject | undefined;
    }
  /** A hook of approval.asked said no. */
  | { readonly kind: "blocked"; readonly because: string }
  | { readonly kind: "alone" | "stopped" | "lapsed" }
  | { readonly kind: "failed"; readonly failure: Failure };

/** Makes a question an event and waits for what comes of it. Nothing of it is open when this returns. */
async function putQuestion(turn: TurnContext, question: Question, limitMs: number): Promise<Reply> {
  const { writer, turnId } = turn;
  if (turn.signal.aborted) return { kind: "stopped" };
  if (turn.answerers(question.callId) === 0) return { kind: "alone" };
  const heard = await hearQuestion(turn, question);
  if (turn.signal.aborted) return { kind: "stopped" };
  const bodies: EventBody[] = [...heard.bodies];
  const approvalId = turn.newId("approval");
  const expiresAtMs = turn.now() + limitMs;
  if (heard.blocked === undefined) {
    bodies.push({ case: "approvalAsked", value: { ...question, approvalId, turnId, expiresAtMs } });
  }
  const asked = await writer.write(() => ok(bodies));
  if (!asked.ok) return { kind: "failed", failure: asked.failure };
  if (heard.blocked !== undefined) return { kind: "blocked", because: heard.blocked };

  const isOpen = (session: Session) => session.approvals.get(approvalId)?.status === "open";
  const deadline = AbortSignal.any([turn.signal, AbortSignal.timeout(limitMs)]);
  await writer
    .until((session) => !isOpen(session), deadline)
    .catch(() => {
      // Out of time, or the turn is being stopped. An answer that comes in just now still counts: the writer's order decides.
      return writer.write((session) => ok(isOpen(session) ? [{ case: "approvalExpired", value: { approvalId } }] : []));
    });
  const approval = writer.state().approvals.get(approvalId);
  if (approval?.status === "allowed")
    return { kind: "answered", allowed: true, scope: approval.scope, content: approval.content };
  if (approval?.status === "refused") return { kind: "answered", allowed: false, scope: approval.scope };
  return { kind: turn.signal.aborted ? "stopped" : "lapsed" };
}

type Heard = { readonly bodies: readonly EventBody[]; readonly blocked: string | undefined };

/** Hooks may say no before a person is bothered; none can say yes, or have a question of its own. */
async function hearQuestion(turn: TurnContext, question: Question): Promise<Heard> {
  if (!(await turn.hooks.hears("approval.asked"))) return { bodies: [], blocked: undefined };
  const { callId, tool, args, permission, because } = question;
  const context = quietContext(turn.signal, (decision) => recordDecision(turn, decision));
  const moment = { at: "approval.asked", callId, value: { tool, args, permission, because } } as const;
  const { answer, receipts, bodies } = await runHooks(turn, moment, context);
  if (answer.do !== "block") return { bodies, blocked: undefined };
  return { bodies, blocked: `${hookThatSaid("block", receipts)} said no: ${answer.because}` };
}
