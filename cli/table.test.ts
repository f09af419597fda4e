import { expect, test } from "vitest";
import { alignTable } from "./table.ts";

test("columns are aligned, numbers to the right, wide letters counted as two", () => {
  const lines = alignTable(
    ["NAME", "N"],
    [
      ["你好", "5"],
      ["abc", "12"],
    ],
    80,
  );
  expect(lines).toEqual(["NAME   N", "你好   5", "abc   12"]);
});

test("foreign cells cannot break out of their line or steer the terminal", () => {
  const [, line] = alignTable(["A"], [["x\n\u001b[2Jy"]], 80);
  expect(line).toBe("x ␛[2Jy");
});

test("a line never gets wider than the terminal", () => {
  const lines = alignTable(["A", "B"], [["x".repeat(50), "y".repeat(50)]], 60);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
});

test("the widest columns give way, so that narrow ones behind them stay to be read", () => {
  const [, line] = alignTable(["ID", "TEXT", "MS"], [["abc", "x".repeat(500), "12"]], 40);
  expect(line).toBe(`abc  ${"x".repeat(30)}…  12`);
});
