import { waitFor } from "../link/wait.ts";

/** Time as the life of a plugin sees it; a test moves its own by hand. */
export type Clock = {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number;
  /** Does something once, later; the value takes that back. It never keeps the daemon alive. */
  after(delayMs: number, act: () => void): () => void;
};

/** The clock of the machine. */
export function machineClock(now: () => number): Clock {
  return {
    now,
    after: (delayMs, act) => {
      const timer = setTimeout(act, delayMs).unref();
      return () => clearTimeout(timer);
    },
  };
}

/** The longest wait that a timer of the machine can be asked for, about 24 days. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Lets time pass; false when the signal cut it short. No timer stays behind. */
export async function letPass(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(delayMs, resolve);
  try {
    return (await waitFor(promise, LONGEST_WAIT_MS, signal)).came === "value";
  } finally {
    cancel();
  }
}
