import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openTimeLimit } from "./time-limit.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function started(limitMs: number) {
  const seen = { over: false };
  const limit = openTimeLimit(limitMs, Date.now);
  void limit.over.then(() => {
    seen.over = true;
  });
  return { limit, seen };
}

test("it is over when its time is up", async () => {
  const { seen } = started(100);
  await vi.advanceTimersByTimeAsync(99);
  expect(seen.over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(seen.over).toBe(true);
});

test("while a person is waited for it stands still, and what was left is left afterwards", async () => {
  const { limit, seen } = started(100);
  await vi.advanceTimersByTimeAsync(60);
  const [one, other] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const [first, second] = [limit.hold(one.promise), limit.hold(other.promise)];
  await vi.advanceTimersByTimeAsync(10_000);
  one.resolve("yes");
  expect(await first).toBe("yes");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.over).toBe(false);
  other.reject(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  await vi.advanceTimersByTimeAsync(39);
  expect(seen.over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(seen.over).toBe(true);
});

test("once closed it is never over, and leaves no timer behind", async () => {
  const { limit, seen } = started(100);
  const asked = Promise.withResolvers<void>();
  const held = limit.hold(asked.promise);
  limit.close();
  asked.resolve();
  await held;
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(seen.over).toBe(false);
});
