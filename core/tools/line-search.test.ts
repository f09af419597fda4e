import { expect, test } from "vitest";
import { compilePattern, searchLines } from "./line-search.ts";

async function search(pattern: string, text: string, limit = 100) {
  const compiled = compilePattern(pattern, false);
  return compiled.ok ? searchLines(compiled.value, text, limit) : compiled;
}

test("matches carry their line and column, over chunks, CRLF and a missing last line break", async () => {
  const filler = `${"x".repeat(99)}\n`.repeat(5_000); // 500,000 characters: several chunks
  expect(await search("need.e", `needle\r\n${filler}a needle\n${filler}needle`)).toEqual({
    ok: true,
    value: [
      { line: 1, column: 0, text: "needle" },
      { line: 5_002, column: 2, text: "a needle" },
      { line: 10_003, column: 0, text: "needle" },
    ],
  });
  expect(await search("^$", "a\n\nb\n")).toMatchObject({ value: [{ line: 2 }] });
  expect(await search("(?i)ABC", "abc")).toMatchObject({ value: [{ line: 1 }] });
  expect(await search("a", "a\na\na", 2)).toMatchObject({ value: [{ line: 1 }, { line: 2 }] });
});

test("a pattern that would take years is stopped and named", async () => {
  expect(await search("^(a+)+$", `fine\n${"a".repeat(60)}!\n`)).toMatchObject({
    failure: { code: "exhausted", hint: expect.stringContaining("repeat inside a repeat") },
  });
  expect(await search("still", "still here")).toMatchObject({ ok: true });
});

test("a pattern with a mistake in it says which", async () => {
  expect(await search("a(", "a(")).toMatchObject({
    failure: { code: "invalid", hint: expect.stringContaining("backslash") },
  });
});
