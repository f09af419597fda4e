import { expect, test } from "vitest";
import { CASES } from "./escape/cases.ts";
import { escapeSuite } from "./escape/escape-suite.ts";

escapeSuite("auto");

test("at least 150 ways out are tried, in every area", () => {
  const counts = Object.values(CASES).map((cases) => cases.length);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(150);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(5);
  const names = Object.values(CASES).flatMap((cases) => cases.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});
