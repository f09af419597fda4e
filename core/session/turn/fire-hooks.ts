import { openDesk } from "./open-desk.ts";
import { type Fired, type Moment, runHooks, UNHEARD } from "./run-hooks.ts";
import type { TurnContext } from "./turn-context.ts";

/** Lets the hooks of a point hear a moment of a session. Costs nothing where nobody listens. */
export async function fireHooks(turn: TurnContext, moment: Moment): Promise<Fired> {
  const { at, callId = "", signal = turn.signal } = moment;
  if (!(await turn.hooks.hears(at))) return UNHEARD;
  const offer = openDesk({ ...turn, signal }, callId);
  try {
    return await runHooks(turn, moment, { signal, ...offer.desk });
  } finally {
    await offer.close();
  }
}
