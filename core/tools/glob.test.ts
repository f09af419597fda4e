import { expect, test } from "vitest";
import { compileGlob } from "./glob.ts";

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "deep/er/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["*.{ts,js}", "x/a.js", true],
  ["src/**/*.ts", "src/a.ts", true],
  ["src/**/*.ts", "src/b/c/a.ts", true],
  ["src/**/*.ts", "lib/a.ts", false],
  ["src/*.ts", "src/b/a.ts", false],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["**", "x/y", true],
  ["{a,b}/{c,d}.md", "b/c.md", true],
  ["a.b", "axb", false],
])("%s on %s: %s", (pattern, path, expected) => {
  expect(compileGlob(pattern)?.(path)).toBe(expected);
});

test("a pattern that would be slow for a backtracking matcher ends, and one with too many braces is refused", () => {
  expect(compileGlob(`${"*a".repeat(60)}b`)?.("a".repeat(255))).toBe(false);
  expect(compileGlob("{a,b}".repeat(10))).toBeUndefined();
});
