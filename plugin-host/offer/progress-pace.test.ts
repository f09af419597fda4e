import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { paceProgress } from "./progress-pace.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function watched(more: () => string = () => "") {
  const shown: string[] = [];
  return { shown, pace: paceProgress((lines) => shown.push(lines), more) };
}

test("ten lines are shown as they come, the next ones together, ten times a second", () => {
  const { shown, pace } = watched();
  for (let line = 1; line <= 13; line++) pace.line(`${line}`);
  expect(shown).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
  vi.advanceTimersByTime(100);
  expect(shown.slice(10)).toEqual(["11\n12\n13"]);
  pace.end();
});

test("a flood is shown at most ten times a second, and of each batch the last lines", () => {
  const { shown, pace } = watched();
  for (let ms = 0; ms < 2_000; ms++) {
    for (let line = 0; line < 100; line++) pace.line(`${ms}-${line} ${"x".repeat(90)}`);
    vi.advanceTimersByTime(1);
  }
  expect(shown.length).toBeLessThanOrEqual(30);
  expect(Math.max(...shown.map((lines) => lines.length))).toBeLessThanOrEqual(2_000);
  pace.end();
  expect(shown.at(-1)?.split("\n").at(-1)).toMatch(/^1999-99 x/);
});

test("after a pause there is room for ten again, and no timer is left", () => {
  const { shown, pace } = watched();
  for (let line = 0; line < 10; line++) pace.line("before");
  vi.advanceTimersByTime(1_000);
  expect(vi.getTimerCount()).toBe(0);
  for (let line = 0; line < 10; line++) pace.line("after");
  expect(shown.filter((line) => line === "after")).toHaveLength(10);
  pace.end();
  expect(vi.getTimerCount()).toBe(0);
});

test("further lines are fetched when they may be shown, and the end shows what is left and then nothing", () => {
  let ready = "";
  const { shown, pace } = watched(() => {
    const lines = ready;
    ready = "";
    return lines;
  });
  pace.news();
  ready = "a\nb";
  pace.news();
  ready = "c";
  pace.end();
  pace.line("late");
  ready = "later";
  pace.news();
  pace.end();
  expect(shown).toEqual(["a\nb", "c"]);
});
