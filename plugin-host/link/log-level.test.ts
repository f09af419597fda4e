import { expect, test } from "vitest";
import { readLevels } from "./log-level.ts";

const levelsOf = (...lines: string[]) => {
  const read = readLevels();
  return lines.map((line) => read(line).level);
};

test.each([
  ["[WARN] disk is slow", "warning"],
  ["ERROR no such city", "error"],
  ["error: no such city", "error"],
  ["debug: x", "debug"],
  ["Error handling is fun", undefined],
  ["12:00 error", undefined],
  ["[42] error", undefined],
  ["", undefined],
])("%j is of level %s", (line, level) => {
  expect(readLevels()(line).level).toBe(level);
});

test("JSON with level and msg is a line of that level; other JSON is a line", () => {
  expect(readLevels()('{"level":"Warn","msg":"slow","ms":9}')).toEqual({ level: "warning", text: "slow" });
  for (const line of ['{"level":"loud","msg":"x"}', '{"level":"info"}', '{"level":3,"msg":"x"}', '{"level', "{}"]) {
    expect(readLevels()(line)).toEqual({ level: undefined, text: line });
  }
});

test("a Python traceback is an error up to the line that names it", () => {
  expect(levelsOf("Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: no", "going on")).toEqual(
    ["error", "error", "error", undefined],
  );
});

test("a Go panic is an error to the end", () => {
  expect(levelsOf("hello", "panic: nil map", "", "goroutine 1 [running]:", "main.main()")).toEqual([
    undefined,
    ...Array(4).fill("error"),
  ]);
});
