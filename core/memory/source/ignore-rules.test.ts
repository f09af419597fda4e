import { expect, test } from "vitest";
import { isIgnored, parseIgnoreRules } from "./ignore-rules.ts";

const FILE = `# comment
*.log
!keep.log
/build
cache/
docs/**/*.tmp
**/deep
a/**/z
[a-c]?.txt
[!x]1.md
\\#odd
trailing   `;

const rules = [...parseIgnoreRules(FILE, ""), ...parseIgnoreRules("inner.ts\n/top.ts", "sub/")];

test.each([
  ["x.log", true],
  ["a/b/x.log", true],
  ["keep.log", false],
  ["build", true],
  ["a/build", false],
  ["cache", false],
  ["docs/x.tmp", true],
  ["docs/a/b/x.tmp", true],
  ["x/docs/x.tmp", false],
  ["q/deep", true],
  ["a/z", true],
  ["a/b/c/z", true],
  ["b1.txt", true],
  ["d1.txt", false],
  ["y1.md", true],
  ["x1.md", false],
  ["#odd", true],
  ["trailing", true],
  ["inner.ts", false],
  ["sub/a/inner.ts", true],
  ["sub/top.ts", true],
  ["sub/a/top.ts", false],
])("%s ignored: %s", (path, expected) => {
  expect(isIgnored(rules, path, false)).toBe(expected);
});

test("a folder pattern matches folders only", () => {
  expect([isIgnored(rules, "x/cache", true), isIgnored(rules, "x/cache", false)]).toEqual([true, false]);
});

test("a pattern made to explode is matched in no time", () => {
  const hostile = parseIgnoreRules(`${"*a".repeat(200)}b\n${"**/a/".repeat(90)}b`, "");
  const path = `${"a/".repeat(500)}${"a".repeat(250)}`;
  for (let round = 0; round < 50; round += 1) expect(isIgnored(hostile, path, false)).toBe(false);
});

test("patterns that are made to take for ever stop when their budget is spent, and honest ones leave most of it", () => {
  const bomb = parseIgnoreRules(Array.from({ length: 1_000 }, () => `*${"a".repeat(120)}b`).join("\n"), "");
  const spent = { left: 1_000_000 };
  expect(isIgnored(bomb, "a".repeat(250), false, spent)).toBe(false);
  expect(spent.left).toBeLessThan(0);
  const honest = { left: 1_000_000 };
  const rules = parseIgnoreRules("*.log\nbuild/\n/coverage\n**/*.tmp\n!keep.tmp", "");
  expect(isIgnored(rules, "src/deep/below/the/module.ts", false, honest)).toBe(false);
  expect(honest.left).toBeGreaterThan(999_000);
});
