/** setTimeout and setInterval over one wake-up call of the host. Runs inside the isolate. */

import { TIMERS_MAX } from "./guest-protocol.ts";
import { ownMap } from "./own-map.ts";

type Timer = {
  readonly id: number;
  dueMs: number;
  readonly everyMs: number | undefined;
  /** Whether the guest lives on for it alone. */
  holds: boolean;
  readonly run: () => void;
};

/** Longest delay, milliseconds; more is cut. */
const DELAY_MAX_MS = 2 ** 31 - 1;
/** The host's clock and the guest's may differ by this much, milliseconds. */
const EARLY_MS = 1;

export type Timers = {
  /** `holds` false for one that is not worth waiting for when nothing else goes on. */
  set(callback: unknown, delay: unknown, args: readonly unknown[], repeat: boolean, holds?: boolean): number;
  clear(id: unknown): void;
  /** From now on the timer is worth waiting for, or is not any more. */
  hold(id: number, holds: boolean): void;
  /** Runs the one timer that is due, so that its promises settle before the next. */
  wake(): void;
  /** How many are worth waiting for. */
  holding(): number;
  /** Must be called when what else goes on has begun or ended. */
  refresh(): void;
};

const { apply } = Reflect;
const { min, max } = Math;
const NumberOf = Number;
const RangeErrorOf = RangeError;

/**
 * `askWake` gets the milliseconds until the next timer, undefined for none; `isBusy` says whether something else goes
 * on that the guest waits for.
 */
export function guestTimers(
  nowMs: () => number,
  askWake: (inMs: number | undefined) => void,
  isBusy: () => boolean,
): Timers {
  const timers = ownMap<number, Timer>();
  let lastId = 0;
  let holding = 0;

  function remove(timer: Timer): void {
    timers.delete(timer.id);
    if (timer.holds) holding -= 1;
  }

  function earliest(): Timer | undefined {
    let first: Timer | undefined;
    timers.forEach((timer) => {
      if (!first || timer.dueMs < first.dueMs) first = timer;
    });
    return first;
  }

  function schedule(): void {
    const first = holding > 0 || isBusy() ? earliest() : undefined;
    askWake(first && max(0, first.dueMs - nowMs()));
  }

  return {
    set(callback, delay, args, repeat, holds = true) {
      if (typeof callback !== "function") throw new TypeError("a timer needs a function");
      if (timers.size() >= TIMERS_MAX) throw new RangeErrorOf(`more than ${TIMERS_MAX} timers at once`);
      const wanted = NumberOf(delay);
      const delayMs = min(max(wanted > 0 ? wanted : 0, 1), DELAY_MAX_MS);
      lastId += 1;
      const run = () => apply(callback, undefined, args);
      timers.set(lastId, { id: lastId, dueMs: nowMs() + delayMs, everyMs: repeat ? delayMs : undefined, holds, run });
      if (holds) holding += 1;
      schedule();
      return lastId;
    },
    clear(id) {
      const timer = timers.get(NumberOf(id));
      if (!timer) return;
      remove(timer);
      schedule();
    },
    hold(id, holds) {
      const timer = timers.get(id);
      if (!timer || timer.holds === holds) return;
      timer.holds = holds;
      holding += holds ? 1 : -1;
      schedule();
    },
    wake() {
      const timer = earliest();
      if (timer && timer.dueMs <= nowMs() + EARLY_MS) {
        if (timer.everyMs === undefined) remove(timer);
        else timer.dueMs = nowMs() + timer.everyMs;
        // Asked for before it runs: what it throws or how long it takes must not stop the others.
        schedule();
        timer.run();
      } else schedule();
    },
    holding: () => holding,
    refresh() {
      if (timers.size() > holding) schedule();
    },
  };
}
