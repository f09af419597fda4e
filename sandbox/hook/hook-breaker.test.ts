import { expect, test } from "vitest";
import { hookBreaker } from "./hook-breaker.ts";

test("so many kills within the time are too many, and the count begins anew after that", () => {
  let nowMs = 0;
  const breaker = hookBreaker({ killsAllowed: 3, killWindowMs: 600_000 }, () => nowMs);
  const killed = () => breaker.killed("a", "h") !== undefined;
  expect([killed(), killed()]).toEqual([false, false]);
  nowMs = 600_000;
  expect([killed(), killed(), killed(), killed()]).toEqual([false, false, true, false]);
});

test("another hook, another program and a reset count for themselves", () => {
  const breaker = hookBreaker({ killsAllowed: 2, killWindowMs: 1000 }, () => 0);
  const killed = (hook: string, hash: string) => breaker.killed(hook, hash) !== undefined;
  expect([killed("a", "1"), killed("b", "1"), killed("a", "2")]).toEqual([false, false, false]);
  breaker.reset("a");
  expect([killed("a", "2"), killed("a", "2")]).toEqual([false, true]);
});
