/** The first wait is at most this; each further crash in a row doubles it. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** Having been ready this long, a plugin starts again with a clean slate. */
export const SETTLED_MS = 60_000;
/** An open breaker lets one start through after this; each one that fails doubles the wait for the next. */
const FIRST_PROBE_MS = 5 * 60_000;
const LONGEST_PROBE_MS = 60 * 60_000;

/** So many crashes within the window open the breaker. */
export type BreakerLimits = { readonly crashesAllowed: number; readonly windowMs: number };

export const BREAKER_LIMITS: BreakerLimits = { crashesAllowed: 5, windowMs: 5 * 60_000 };

/** `streak`: crashes since it last was settled. `openings`: how often the breaker opened since then. */
export type CrashHistory = {
  readonly crashedAtMs: readonly number[];
  readonly streak: number;
  readonly openings: number;
};

export const NO_CRASHES: CrashHistory = { crashedAtMs: [], streak: 0, openings: 0 };

/** A crash, or a start that failed. */
export type Crash = {
  readonly atMs: number;
  /** How long it had been ready; 0 for never. */
  readonly readyMs: number;
  /** From 0 up to 1. */
  readonly random: number;
};

/**
 * When to start again. Full jitter, so that plugins felled by one cause do not come back in step. A breaker that is open
 * lets one start through at a time, and closes when that one settled.
 */
export function afterCrash(
  before: CrashHistory,
  { atMs, readyMs, random }: Crash,
  { crashesAllowed, windowMs }: BreakerLimits,
): { readonly history: CrashHistory; readonly untilMs: number; readonly breaker: "open" | "closed" } {
  const { crashedAtMs, streak, openings } = readyMs >= SETTLED_MS ? NO_CRASHES : before;
  const recent = [...crashedAtMs, atMs].filter((at) => at > atMs - windowMs).slice(-crashesAllowed);
  if (openings > 0 || recent.length >= crashesAllowed) {
    const untilMs = atMs + Math.min(LONGEST_PROBE_MS, FIRST_PROBE_MS * 2 ** openings);
    return { history: { crashedAtMs: recent, streak: streak + 1, openings: openings + 1 }, untilMs, breaker: "open" };
  }
  const waitMs = random * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** streak);
  const history = { crashedAtMs: recent, streak: streak + 1, openings };
  return { history, untilMs: atMs + waitMs, breaker: "closed" };
}
