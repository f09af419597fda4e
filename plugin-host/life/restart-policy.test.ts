import { expect, test } from "vitest";
import { afterCrash, type CrashHistory, NO_CRASHES } from "./restart-policy.ts";

/** The pause after each of several crashes, `everyMs` apart, at full jitter. */
function pauses(crashes: number, everyMs: number, readyMs = 0): { waitMs: number; breaker: boolean }[] {
  let history: CrashHistory = NO_CRASHES;
  return Array.from({ length: crashes }, (_, index) => {
    const nowMs = index * everyMs;
    const next = afterCrash(history, nowMs, readyMs, 1);
    history = next.history;
    return { waitMs: next.untilMs - nowMs, breaker: next.breaker };
  });
}

test("each crash in a row doubles the pause, up to thirty seconds", () => {
  const waits = pauses(10, 200_000).map(({ waitMs }) => waitMs);
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test("jitter spreads the pause from nothing to all of it", () => {
  expect(afterCrash(NO_CRASHES, 1000, 0, 0).untilMs).toBe(1000);
  expect(afterCrash(NO_CRASHES, 1000, 0, 0.5).untilMs).toBe(1125);
});

test("having been ready for a minute wipes the slate", () => {
  expect(pauses(4, 200_000, 60_000).map(({ waitMs }) => waitMs)).toEqual([250, 250, 250, 250]);
});

test("the fifth crash in five minutes opens the breaker until the first of them is five minutes old", () => {
  expect(pauses(5, 10_000).at(-1)).toEqual({ waitMs: 300_000 - 40_000, breaker: true });
  expect(pauses(5, 80_000).map(({ breaker }) => breaker)).toEqual([false, false, false, false, false]);
});
