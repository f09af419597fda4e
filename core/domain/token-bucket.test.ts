import { expect, test } from "vitest";
import { openTokenBucket } from "./token-bucket.ts";

test("so much at once, then so much a second, and never more than at once", () => {
  let nowMs = 0;
  const bucket = openTokenBucket(10, 5, () => nowMs);
  expect([bucket.take(10), bucket.take(1), bucket.waitMs(1)]).toEqual([true, false, 200]);
  nowMs = 200;
  expect([bucket.waitMs(1), bucket.take(1), bucket.take(1)]).toEqual([0, true, false]);
  nowMs = 1_000_000;
  expect([bucket.take(11), bucket.take(10)]).toEqual([false, true]);
});

test("a clock that is set back gives nothing, and takes nothing away", () => {
  let nowMs = 1000;
  const bucket = openTokenBucket(2, 1, () => nowMs);
  expect(bucket.take(1)).toBe(true);
  nowMs = 0;
  expect([bucket.take(1), bucket.take(1)]).toEqual([true, false]);
  nowMs = 1000;
  expect(bucket.take(1)).toBe(true);
});
