/** setTimeout and setInterval over one wake-up call of the host. Runs inside the isolate. */

import { TIMERS_MAX } from "./guest-protocol.ts";

type Timer = { readonly id: number; dueMs: number; readonly everyMs: number | undefined; readonly run: () => void };

/** Longest delay, milliseconds; more is cut, as in browsers. */
const DELAY_MAX_MS = 2 ** 31 - 1;
/** The host's clock and the guest's may differ by this much, milliseconds. */
const EARLY_MS = 1;

export type Timers = {
  set(callback: unknown, delay: unknown, args: readonly unknown[], repeat: boolean): number;
  clear(id: unknown): void;
  /** Runs the one timer that is due, so that its promises settle before the next. */
  wake(): void;
};

/** `askWake` gets the milliseconds until the next timer, undefined for none. */
export function guestTimers(nowMs: () => number, askWake: (inMs: number | undefined) => void): Timers {
  const timers = new Map<number, Timer>();
  let lastId = 0;

  function earliest(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers.values()) if (!first || timer.dueMs < first.dueMs) first = timer;
    return first;
  }

  function schedule(): void {
    const first = earliest();
    askWake(first && Math.max(0, first.dueMs - nowMs()));
  }

  return {
    set(callback, delay, args, repeat) {
      if (typeof callback !== "function") throw new TypeError("a timer needs a function");
      if (timers.size >= TIMERS_MAX) throw new RangeError(`more than ${TIMERS_MAX} timers at once`);
      const wanted = Number(delay);
      const delayMs = Math.min(Math.max(wanted > 0 ? wanted : 0, 1), DELAY_MAX_MS);
      lastId += 1;
      const run = () => Reflect.apply(callback, undefined, args);
      timers.set(lastId, { id: lastId, dueMs: nowMs() + delayMs, everyMs: repeat ? delayMs : undefined, run });
      schedule();
      return lastId;
    },
    clear(id) {
      if (timers.delete(Number(id))) schedule();
    },
    wake() {
      const timer = earliest();
      if (timer && timer.dueMs <= nowMs() + EARLY_MS) {
        if (timer.everyMs === undefined) timers.delete(timer.id);
        else timer.dueMs = nowMs() + timer.everyMs;
        // Asked for before it runs: what it throws or how long it takes must not stop the others.
        schedule();
        timer.run();
      } else schedule();
    },
  };
}
