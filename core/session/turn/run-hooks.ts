import type { JsonObject } from "@bufbuild/protobuf";
import { decisionEvent } from "../../domain/decision-event.ts";
import { quietDesk } from "../../domain/desk.ts";
import type { EventBody } from "../../domain/event.ts";
import { ok, type Result } from "../../domain/failure.ts";
import { type HookContext, type HookOutcome, type HookPoint, NO_HOOKS } from "../../domain/hook.ts";
import type { PermissionDecision } from "../../domain/permission-decision.ts";
import { receiptBodies } from "./receipts.ts";
import type { TurnContext } from "./turn-context.ts";

/** A moment of a session. */
export type Moment = {
  readonly at: HookPoint;
  readonly value: JsonObject;
  /** Empty at points without a call. */
  readonly callId?: string;
  /** When hooks are no longer waited for; the turn's own signal unless it says otherwise. */
  readonly signal?: AbortSignal;
};

/** What the hooks of a point said, and their receipts as the caller has to write them. */
export type Fired = HookOutcome & { readonly bodies: readonly EventBody[] };

export const UNHEARD: Fired = { ...NO_HOOKS, bodies: [] };

export async function runHooks(turn: TurnContext, moment: Moment, context: HookContext): Promise<Fired> {
  const { at, value, callId = "" } = moment;
  const { hooks, turnId, writer } = turn;
  const { id: sessionId, workspace } = writer.state();
  const outcome = await hooks.run({ at, sessionId, turnId, callId, workspace, value }, context);
  return { ...outcome, bodies: receiptBodies(turnId, callId, at, outcome.receipts) };
}

/** For moments at which nobody can be asked and nothing can be called: a question, and a session that is not there yet. */
export function quietContext(signal: AbortSignal, record: HookContext["record"]): HookContext {
  return { signal, ...quietDesk(record) };
}

/** Makes a decision durable in its session. */
export async function recordDecision(turn: TurnContext, decision: PermissionDecision): Promise<Result<void>> {
  const { writer, turnId } = turn;
  const written = await writer.write((session) => ok([decisionEvent(decision, session.id, turnId)]));
  return written.ok ? ok(undefined) : written;
}
