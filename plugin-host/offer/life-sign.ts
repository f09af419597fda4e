import type { Incarnation } from "../life/incarnation.ts";
import type { LogRing } from "../link/log-ring.ts";

/** A plugin that let something run out of time has this long to show that it lives. */
const LIFE_SIGN_MS = 2_000;

/** A process that serves nobody any more is killed, so that the next call finds a fresh one. */
export async function killIfSilent(incarnation: Incarnation, log: LogRing): Promise<void> {
  if (await incarnation.link.answers(LIFE_SIGN_MS)) return;
  const because = `no sign of life within ${LIFE_SIGN_MS} ms after a call ran out of time`;
  log.add("host", `killed: ${because}`);
  incarnation.kill(because);
}
