import type { EventBody } from "../domain/event.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import { hookThatSaid, receiptBodies } from "./turn/receipts.ts";
import { quietContext } from "./turn/run-hooks.ts";
import type { TurnServices } from "./turn/turn-context.ts";

/** A session that is about to begin. */
export type Opening = { readonly sessionId: string; readonly workspace: string; readonly model: string };

/**
 * Lets the hooks of session.created see a session before there is anything of it. Gives their receipts, to be written with
 * its first event; what a hook decides meanwhile is kept outside of it, so that a refusal leaves its trace as well.
 */
export async function hearOpening(
  { hooks, record }: TurnServices,
  { sessionId, workspace, model }: Opening,
  signal: AbortSignal,
): Promise<Result<readonly EventBody[]>> {
  const at = "session.created";
  if (!(await hooks.hears(at))) return ok([]);
  const event = { at, sessionId, turnId: "", callId: "", workspace, value: { model } } as const;
  const { answer, receipts } = await hooks.run(event, quietContext(signal, record));
  if (answer.do !== "block" && answer.do !== "ask") return ok(receiptBodies("", "", at, receipts));
  return fail("denied", `${hookThatSaid(answer.do, receipts)} refused the session: ${answer.because}`);
}
