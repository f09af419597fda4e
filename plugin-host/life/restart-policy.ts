/** The first wait is at most this; each further crash in a row doubles it. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** Having been ready this long, a plugin starts again with a clean slate. */
const SETTLED_MS = 60_000;
const BREAKER_CRASHES = 5;
const BREAKER_WINDOW_MS = 5 * 60_000;

/** `streak`: crashes since it last was settled. */
export type CrashHistory = { readonly crashedAtMs: readonly number[]; readonly streak: number };

export const NO_CRASHES: CrashHistory = { crashedAtMs: [], streak: 0 };

/**
 * When to start again after a crash or a failed start at `nowMs`, having been ready for `readyMs` (0 for never).
 * `random` is from 0 up to 1: full jitter, so that plugins felled by one cause do not come back in step. The fifth crash
 * within five minutes opens the breaker: the wait then lasts until the oldest of them is five minutes old.
 */
export function afterCrash(
  history: CrashHistory,
  nowMs: number,
  readyMs: number,
  random: number,
): { readonly history: CrashHistory; readonly untilMs: number; readonly breaker: boolean } {
  const streak = readyMs >= SETTLED_MS ? 0 : history.streak;
  const crashedAtMs = [...history.crashedAtMs, nowMs]
    .filter((at) => at > nowMs - BREAKER_WINDOW_MS)
    .slice(-BREAKER_CRASHES);
  const waitMs = random * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** streak);
  const breaker = crashedAtMs.length === BREAKER_CRASHES;
  const untilMs = breaker ? (crashedAtMs[0] ?? nowMs) + BREAKER_WINDOW_MS : nowMs + waitMs;
  return { history: { crashedAtMs, streak: streak + 1 }, untilMs, breaker };
}
