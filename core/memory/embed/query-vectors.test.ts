import { afterEach, beforeEach, expect, test } from "vitest";
import type { Embedder } from "../../domain/embedder.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { openQueryVectors, type QueryVectors } from "./query-vectors.ts";

type Question = {
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
  answer(found: Result<number>): void;
};

const never = new AbortController().signal;
let questions: Question[];
let nowMs: number;
let vectors: QueryVectors;
beforeEach(() => {
  questions = [];
  nowMs = 0;
  vectors = openQueryVectors({ ticks: () => nowMs, limitMs: 20 });
});
afterEach(() => vectors.close());

/** Answers when the test says so. */
function slow(id = "one"): Embedder {
  return {
    id,
    dimensions: 1,
    embed(texts, _kind, signal) {
      const { promise, resolve } = Promise.withResolvers<Result<readonly Float32Array[]>>();
      questions.push({
        texts,
        signal,
        answer: (found) => resolve(found.ok ? ok([Float32Array.of(found.value)]) : found),
      });
      return promise;
    },
  };
}

test("words that were asked for are not asked for again, and never of another model", async () => {
  const first = vectors.vectorOf(slow(), "red", never);
  const second = vectors.vectorOf(slow(), "red", never);
  questions[0]?.answer(ok(1));
  expect(await first).toEqual(ok(Float32Array.of(1)));
  expect(await second).toEqual(ok(Float32Array.of(1)));
  expect(await vectors.vectorOf(slow(), "red", never)).toEqual(ok(Float32Array.of(1)));
  expect(questions.length).toBe(1);
  const other = vectors.vectorOf(slow("two"), "red", never);
  questions[1]?.answer(ok(2));
  expect(await other).toEqual(ok(Float32Array.of(2)));
});

test("a late answer holds no search up, and serves the next one", async () => {
  const late = await vectors.vectorOf(slow(), "red", never);
  expect(late).toMatchObject({ failure: { code: "timed_out", message: expect.stringContaining("within 0.02 s") } });
  const rested = await vectors.vectorOf(slow(), "blue", never);
  expect(rested).toMatchObject({ failure: { code: "unavailable", message: expect.stringContaining("within 0.02 s") } });
  expect(questions.length).toBe(1);
  questions[0]?.answer(ok(1));
  // The answer is kept a few turns of the loop later.
  await new Promise(setImmediate);
  expect(await vectors.vectorOf(slow(), "red", never)).toEqual(ok(Float32Array.of(1)));
  const next = vectors.vectorOf(slow(), "blue", never);
  questions[1]?.answer(ok(3));
  expect(await next).toEqual(ok(Float32Array.of(3)));
});

test("after a failure searches do not wait for ten seconds, and then ask again", async () => {
  const failed = vectors.vectorOf(slow(), "red", never);
  questions[0]?.answer(fail("unavailable", "down"));
  expect(await failed).toMatchObject({ failure: { message: "down" } });
  nowMs = 9_999;
  expect(await vectors.vectorOf(slow(), "red", never)).toMatchObject({ failure: { message: "down" } });
  expect(questions.length).toBe(1);
  nowMs = 10_000;
  const again = vectors.vectorOf(slow(), "red", never);
  questions[1]?.answer(ok(1));
  expect(await again).toEqual(ok(Float32Array.of(1)));
});

test("few questions are open at once, a stopped search leaves at once, and closing ends them all", async () => {
  const stop = new AbortController();
  const open = ["a", "b", "c", "d"].map((text) => vectors.vectorOf(slow(), text, stop.signal));
  expect(await vectors.vectorOf(slow(), "e", never)).toMatchObject({ failure: { code: "exhausted" } });
  stop.abort();
  expect(await Promise.all(open)).toMatchObject(open.map(() => ({ failure: { code: "cancelled" } })));
  expect(await vectors.vectorOf(slow(), "f", stop.signal)).toMatchObject({ failure: { code: "cancelled" } });
  expect(questions.map(({ signal }) => signal.aborted)).toEqual([false, false, false, false]);
  vectors.close();
  expect(questions.map(({ signal }) => signal.aborted)).toEqual([true, true, true, true]);
});
