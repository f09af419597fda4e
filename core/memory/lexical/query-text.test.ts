import { expect, test } from "vitest";
import { analyze } from "./fixtures/index-group.ts";
import { termsOfQuery } from "./query-terms.ts";
import { literalQuery, type ParsedQuery, parseQuery } from "./query-text.ts";

const NOW_MS = Date.UTC(2026, 5, 8);

function read(text: string): ParsedQuery {
  const parsed = parseQuery(text, NOW_MS);
  if (!parsed.ok) throw new Error(parsed.failure.message);
  return parsed.value;
}

function shown(text: string): string[] {
  return read(text).parts.map(({ kind, need, text }) => `${need} ${kind} ${text}`);
}

test.each([
  ["plain words", ["any word plain", "any word words"]],
  ['"a phrase" more', ["all phrase a phrase", "any word more"]],
  ["“curly quotes”", ["all phrase curly quotes"]],
  ['-"not this" +must', ["none phrase not this", "all word must"]],
  ["auth* NOT foo -bar", ["any prefix auth", "none word foo", "none word bar"]],
  ["a* src/*.ts", ["any word a*", "any word src/*.ts"]],
  ["run --watch - x", ["any word run", "any word --watch", "any word -", "any word x"]],
  ["http://x.org foo:bar kind: x", ["any word http://x.org", "any word foo:bar", "any word kind:", "any word x"]],
  ['unclosed "quote here', ["any word unclosed", 'any word "quote', "any word here"]],
  ['"" NOT', []],
  ["", []],
])("%j is read", (text, parts) => {
  expect(shown(text)).toEqual(parts);
});

test("filters are read from the words, and what is asked is free of them", () => {
  const { filter, plainText } = read(
    'kind:note kind:pdf author:owner path:"my docs/x" label:work session:s1 after:2026-05-01 before:2026-06-01T12:30+02:00 big "red tea" -milk',
  );
  expect(filter).toEqual({
    kinds: ["note", "pdf"],
    authors: ["owner"],
    path: "my docs/x",
    label: "work",
    sessionId: "s1",
    afterMs: Date.UTC(2026, 4, 1),
    beforeMs: Date.UTC(2026, 5, 1, 10, 30),
  });
  expect(plainText).toBe("big red tea");
  expect(read("after:7d x").filter).toEqual({ afterMs: Date.UTC(2026, 5, 1) });
  expect(read("after:2026 after:2026-03 before:2027-01-01T00:00:00.5Z x").filter).toEqual({
    afterMs: Date.UTC(2026, 2, 1),
    beforeMs: Date.UTC(2027, 0, 1, 0, 0, 0, 500),
  });
});

test.each([
  ["after:yesterday", /after: "yesterday" is no date/],
  ["before:2026-02-30", /no such time as "2026-02-30"/],
  ["before:2026-02-03T25:00", /no such time/],
  ["after:2026-5-1", /is no date/],
  ["kind:picture", /no kind "picture"/],
  ["author:me", /no author "me"/],
  ["-kind:note x", /kind: cannot be negated/],
  ["label:a label:b", /label: twice/],
])("%s is refused in words", (text, message) => {
  const parsed = parseQuery(text, NOW_MS);
  expect(parsed.ok ? "" : parsed.failure.message).toMatch(message);
  expect(parsed.ok ? "" : parsed.failure.hint).toBeTruthy();
});

test("hostile queries end at once and stay within limits", () => {
  for (const text of [
    '"'.repeat(100_001),
    '"a'.repeat(50_000),
    "-".repeat(100_000),
    "NOT ".repeat(25_000),
    "a*".repeat(50_000),
    "kind:".repeat(20_000),
    "“".repeat(99_999),
  ]) {
    const parsed = parseQuery(text, NOW_MS);
    if (parsed.ok) expect(parsed.value.parts.length).toBeLessThanOrEqual(512);
  }
  const many = termsOfQuery(
    read(Array.from({ length: 5_000 }, (_, index) => `w${index} p${index}* +r${index} "q${index} x"`).join(" ")),
    analyze,
  );
  expect([many.terms.length, many.prefixes.length, many.required.length, many.phrases.length]).toEqual([64, 8, 32, 32]);
});

test("a literal query takes no sign for one", () => {
  const { parts, filter } = literalQuery('-a "b c" kind:x NOT');
  expect(parts.map(({ need, text }) => `${need} ${text}`)).toEqual([
    "any -a",
    'any "b',
    'any c"',
    "any kind:x",
    "any NOT",
  ]);
  expect(filter).toEqual({});
});
