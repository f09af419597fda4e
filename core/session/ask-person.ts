import { ok } from "../domain/failure.ts";
import { subjectOf } from "../domain/policy.ts";
import type { Session } from "../domain/session.ts";
import type { Call } from "./gates.ts";
import type { TurnContext } from "./turn-context.ts";

export type PersonsAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly because: string; readonly hint?: string };

/**
 * Asks whoever is connected about a call and waits for the answer, which any client may give. With nobody there, or
 * nobody in time, the answer is no, with guidance.
 */
export async function askPerson(turn: TurnContext, call: Call, because: string): Promise<PersonsAnswer> {
  const { writer, turnId, limits } = turn;
  const { callId, args } = call;
  const { id, workspace } = writer.state();
  const tool = call.tool.name;
  const hint = `allow it in advance with --allow ${JSON.stringify(`${tool}:${subjectOf(args, workspace)}`)}, or answer on a terminal: claw attach ${id}`;
  if (turn.answerers() === 0) return { allowed: false, because: `${because}, and nobody is there to give it`, hint };

  const approvalId = turn.newId("approval");
  const expiresAtMs = turn.now() + limits.approvalMs;
  const asked = await writer.write(() =>
    ok([{ case: "approvalAsked", value: { approvalId, turnId, callId, tool, args, because, expiresAtMs } }]),
  );
  if (!asked.ok) return { allowed: false, because: asked.failure.message };

  const isOpen = (session: Session) => session.approvals.get(approvalId)?.status === "open";
  const deadline = AbortSignal.any([turn.signal, AbortSignal.timeout(limits.approvalMs)]);
  await writer
    .until((session) => !isOpen(session), deadline)
    .catch(() => {
      // Out of time, or the turn is being stopped. An answer that comes in just now still counts: the writer's order decides.
      return writer.write((session) => ok(isOpen(session) ? [{ case: "approvalExpired", value: { approvalId } }] : []));
    });
  switch (writer.state().approvals.get(approvalId)?.status) {
    case "allowed":
      return { allowed: true };
    case "refused":
      return { allowed: false, because: "the person said no" };
    default:
      if (turn.signal.aborted) return { allowed: false, because: "the turn was stopped before anybody answered" };
      return {
        allowed: false,
        because: `nobody answered within ${Math.round(limits.approvalMs / 1000)} seconds`,
        hint,
      };
  }
}
