import { expect, test } from "vitest";
import { createRestartBudget } from "./restart-budget.ts";
import { afterCrash, BREAKER_LIMITS, type CrashHistory, NO_CRASHES } from "./restart-policy.ts";

/** The pause after each of several crashes, `everyMs` apart, at full jitter. */
function pauses(crashes: number, everyMs: number, readyMs = 0, limits = BREAKER_LIMITS) {
  let history: CrashHistory = NO_CRASHES;
  return Array.from({ length: crashes }, (_, index) => {
    const atMs = index * everyMs;
    const next = afterCrash(history, { atMs, readyMs, random: 1 }, limits);
    history = next.history;
    return { waitMs: next.untilMs - atMs, breaker: next.breaker };
  });
}

test("each crash in a row doubles the pause, up to thirty seconds", () => {
  const waits = pauses(10, 200_000).map(({ waitMs }) => waitMs);
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test("jitter spreads the pause from nothing to all of it", () => {
  const untilMs = (random: number) =>
    afterCrash(NO_CRASHES, { atMs: 1000, readyMs: 0, random }, BREAKER_LIMITS).untilMs;
  expect([untilMs(0), untilMs(0.5)]).toEqual([1000, 1125]);
});

test("having been ready for a minute wipes the slate", () => {
  expect(pauses(4, 200_000, 60_000).map(({ waitMs }) => waitMs)).toEqual([250, 250, 250, 250]);
});

test("the fifth crash in five minutes opens the breaker, five spread over more do not", () => {
  expect(pauses(5, 10_000).map(({ breaker }) => breaker)).toEqual(["closed", "closed", "closed", "closed", "open"]);
  expect(pauses(5, 80_000).every(({ breaker }) => breaker === "closed")).toBe(true);
});

test("an open breaker waits 5 minutes for its first try, then twice as long each time, at most an hour", () => {
  const open = pauses(10, 10_000).filter(({ breaker }) => breaker === "open");
  expect(open.map(({ waitMs }) => waitMs / 60_000)).toEqual([5, 10, 20, 40, 60, 60]);
});

test("a try that was ready for a minute closes it", () => {
  let history: CrashHistory = NO_CRASHES;
  for (let atMs = 0; atMs < 5; atMs++)
    history = afterCrash(history, { atMs, readyMs: 0, random: 1 }, BREAKER_LIMITS).history;
  const next = afterCrash(history, { atMs: 400_000, readyMs: 60_000, random: 1 }, BREAKER_LIMITS);
  expect(next).toMatchObject({ breaker: "closed", untilMs: 400_250 });
});

test("the breaker can be set", () => {
  const open = pauses(3, 1_000, 0, { crashesAllowed: 2, windowMs: 1_500 }).map(({ breaker }) => breaker);
  expect(open).toEqual(["closed", "open", "open"]);
  expect(pauses(3, 2_000, 0, { crashesAllowed: 2, windowMs: 1_500 }).at(-1)?.breaker).toBe("closed");
});

test("ten restarts may happen at once, then one a second", () => {
  let nowMs = 1_000_000;
  const budget = createRestartBudget(() => nowMs);
  expect(Array.from({ length: 11 }, () => budget.take())).toEqual([...Array(10).fill(0), 1000]);
  nowMs += 400;
  expect(budget.take()).toBe(600);
  nowMs += 600;
  expect([budget.take(), budget.take()]).toEqual([0, 1000]);
  nowMs -= 10_000;
  expect(budget.take()).toBe(1000);
  nowMs += 60_000;
  expect(Array.from({ length: 11 }, () => budget.take()).at(-1)).toBe(1000);
});
