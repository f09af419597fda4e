import type { Failure } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { Started } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { Clock } from "./clock.ts";
import { type DiskShare, watchDisk } from "./disk-watch.ts";
import { watchHealth } from "./health-watch.ts";
import type { Incarnation } from "./incarnation.ts";
import { countUses } from "./uses.ts";

/** An old process finishes its calls no longer than this, whatever their limits. */
const LONGEST_DRAIN_MS = 60_000;
/** After its last call it may tidy up. */
const TIDY_MS = 10_000;

/** One version of a plugin with one grant: how it starts, and what holds for each of its processes. */
export type Generation = {
  readonly version: string;
  readonly start: (signal: AbortSignal) => Promise<Started<Incarnation>>;
  /** Why it may not start just now; asked before each start that a call wants. It changes nothing. */
  readonly blocked: () => Failure | undefined;
  /** Without a use for this long it is stopped. */
  readonly idleStopMs: number;
  /** Two of its processes never overlap. */
  readonly singleton: boolean;
  /** No use lasts longer. */
  readonly longestUseMs: number;
  readonly disk: DiskShare;
};

/** A running plugin that somebody uses. A process that is drained or stopped for idleness waits until nobody does. */
export type Held = {
  readonly incarnation: Incarnation;
  /** To be called when the use is over; a second call does nothing. */
  release(): void;
};

/** One process in its place: who uses it, whether it is well, and how it leaves. */
export type Tenure = {
  readonly sinceMs: number;
  hold(): Held;
  /** True when its end is our doing; a death before is one that nobody wanted. */
  isDismissed(): boolean;
  /** Ends the process at once: no more than seven seconds. */
  stop(reason: string): Promise<void>;
  /** Waits for its uses to end, as long as they may last, then stops it. `hurry` cuts the waiting short. */
  retire(reason: string, hurry: AbortSignal): Promise<void>;
};

export type TenureParts = {
  readonly incarnation: Incarnation;
  readonly generation: Generation;
  readonly clock: Clock;
  readonly log: LogRing;
  /** Hears that nobody used it for as long as its generation says. */
  readonly onIdle: () => void;
};

export function beginTenure({ incarnation, generation, clock, log, onIdle }: TenureParts): Tenure {
  let isDismissed = false;
  let forgetIdle = () => {};
  const uses = countUses(() => {
    forgetIdle();
    if (uses.count() === 0) armIdle();
  });
  const armIdle = () => {
    forgetIdle = clock.after(generation.idleStopMs, onIdle);
  };
  armIdle();
  const kill = (because: string) => {
    log.add("host", `killed: ${because}`);
    incarnation.kill(because);
  };
  const unwatch = [
    watchHealth(incarnation.link, clock, kill),
    watchDisk(generation.disk, clock, kill),
    () => forgetIdle(),
  ];
  void incarnation.exited.then(() => {
    for (const end of unwatch) end();
  });
  const stop = async (reason: string, tidyMs: number, hurry?: AbortSignal) => {
    isDismissed = true;
    for (const end of unwatch) end();
    await incarnation.stop(reason, tidyMs, hurry);
  };
  return {
    sinceMs: clock.now(),
    hold: () => ({ incarnation, release: uses.take() }),
    isDismissed: () => isDismissed,
    stop: (reason) => stop(reason, 0),
    retire: async (reason, hurry) => {
      const limitMs = Math.min(generation.longestUseMs, LONGEST_DRAIN_MS);
      const over = Promise.race([uses.ended(), incarnation.exited]);
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(limitMs, resolve);
      await waitFor(Promise.race([over, promise]), LONGEST_DRAIN_MS * 2, hurry);
      cancel();
      await stop(reason, TIDY_MS, hurry);
    },
  };
}
