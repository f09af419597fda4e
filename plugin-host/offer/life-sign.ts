import type { Incarnation } from "../life/incarnation.ts";
import type { LogRing } from "../link/log-ring.ts";

/** A plugin that let something run out of time has this long to show that it lives. */
const LIFE_SIGN_MS = 2_000;

/** Hook events in a row that one process may leave without an answer: who answers pings and no event is hung all the same. */
const MISSED_EVENTS_LIMIT = 5;

/** How many hook events of each process ran out of time since it last answered one. */
export type MissedEvents = {
  answered(incarnation: Incarnation): void;
  /** Kills a process that missed too many, or that shows no sign of life now. */
  missed(incarnation: Incarnation, log: LogRing): Promise<void>;
};

export function countMissedEvents(): MissedEvents {
  const missed = new WeakMap<Incarnation, number>();
  return {
    answered: (incarnation) => missed.delete(incarnation),
    async missed(incarnation, log) {
      const count = (missed.get(incarnation) ?? 0) + 1;
      missed.set(incarnation, count);
      if (count < MISSED_EVENTS_LIMIT) await killIfSilent(incarnation, log);
      else if (!incarnation.isGone()) killSilent(incarnation, log, `no answer to ${count} hook events in a row`);
    },
  };
}

/** A process that serves nobody any more is killed, so that the next call finds a fresh one. */
export async function killIfSilent(incarnation: Incarnation, log: LogRing): Promise<void> {
  if (await incarnation.link.answers(LIFE_SIGN_MS)) return;
  killSilent(incarnation, log, `no sign of life within ${LIFE_SIGN_MS} ms after a call ran out of time`);
}

function killSilent(incarnation: Incarnation, log: LogRing, because: string): void {
  log.add("host", `killed: ${because}`);
  incarnation.kill(because);
}
