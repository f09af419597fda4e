import { expect, test } from "vitest";
import { analyze, seeded } from "./fixtures/index-group.ts";
import { termsOfQuery } from "./query-terms.ts";
import { parseQuery } from "./query-text.ts";
import { snippetOf, verifyPhrases } from "./snippet.ts";

function queryOf(text: string) {
  const parsed = parseQuery(text, 0);
  if (!parsed.ok) throw new Error(parsed.failure.message);
  return termsOfQuery(parsed.value, analyze);
}

function marked(text: string, query: string, title = ""): string[] {
  const snippet = snippetOf(title, text, queryOf(query));
  return snippet.marks.map(([start, end]) => snippet.text.slice(start, end));
}

test.each([
  ["Connections are closed.", "connecting", ["Connections"]],
  ["const maxRetryMs = 5; retries", "retry", ["Retry", "retries"]],
  ["call parse_request() now", "parseRequest", ["parse", "request"]],
  ["call parseRequest() now", "parseRequest", ["parseRequest"]],
  ["Le CAFÉ, cafe\u0301s 🎉 fin", "cafe 🎉", ["CAFÉ", "cafe\u0301s", "🎉"]],
  ["今日は東京タワーに行く", "東京タワー", ["東京タワー"]],
  ["authors authenticate", "auth*", ["authors", "authenticate"]],
  ["the retriever barked", "retreiver", ["retriever"]],
  ["red tea", "tea -red", ["tea"]],
  ["nothing here", "absent", []],
])("%j for %j marks %j", (text, query, words) => {
  expect(marked(text, query)).toEqual(words);
});

test("the stretch with most of the query is shown, whole words at its ends", () => {
  const filler = "lorem ipsum dolor ".repeat(40);
  const text = `tea ${filler} green tea with lemon ${filler} lemon`;
  const snippet = snippetOf("", text, queryOf("green tea lemon"));
  expect(snippet.text).toContain("green tea with lemon");
  expect(snippet.text.length).toBeLessThanOrEqual(240);
  expect(` ${text} `).toContain(` ${snippet.text} `);
  // The title shows tea already.
  const other = `${"tea ".repeat(3)}${filler} lemon`;
  expect(snippetOf("About tea", other, queryOf("tea lemon")).text).toContain("lemon");
});

test("without a hit the head is shown, and no pair of units is cut in two", () => {
  const text = `${"x".repeat(239)}🎉 more`;
  expect(snippetOf("", text, queryOf("absent"))).toEqual({ text: "x".repeat(239), marks: [] });
  expect(snippetOf("", "", queryOf("absent"))).toEqual({ text: "", marks: [] });
});

test("whatever the text, a snippet is a stretch of it with marks in order and inside", () => {
  const random = seeded(11);
  const pieces = [
    "tea",
    "🎉",
    " ",
    "\n",
    "東京",
    "Café",
    "é",
    "x".repeat(300),
    "fooBar_baz",
    "—",
    "\uD83D",
    "ﬁne",
    "\u0301",
  ];
  for (let round = 0; round < 300; round += 1) {
    const text = Array.from(
      { length: Math.floor(random() * 120) },
      () => pieces[Math.floor(random() * pieces.length)],
    ).join("");
    const snippet = snippetOf("", text, queryOf('tea "foo bar" 東京 fin* café'));
    expect(text).toContain(snippet.text);
    let last = 0;
    for (const [start, end] of snippet.marks) {
      expect(start).toBeGreaterThanOrEqual(last);
      expect(end).toBeGreaterThan(start);
      last = end;
    }
    expect(last).toBeLessThanOrEqual(snippet.text.length);
  }
});

test.each([
  ['"green tea"', "Green  TEA!", true],
  ['"green tea"', "green teas", false],
  ['"green tea"', "green iced tea", false],
  ['"state of the art"', "a state of the art thing", true],
  ['"state of the art"', "state art", false],
  ['"parse request"', "call parseRequest()", true],
  ['"parseRequest"', "parse request", true],
  ['"東京タワー"', "今日は東京タワーズ", true],
  ['-"green tea" tea', "black tea", true],
  ['-"green tea" tea', "green tea", false],
  ['"a b" "c d"', "c d a b", true],
  ["plain", "anything", true],
])("%s holds for %j: %s", (query, text, holds) => {
  expect(verifyPhrases({ title: "", text }, queryOf(query))).toBe(holds);
  expect(verifyPhrases({ title: text, text: "" }, queryOf(query))).toBe(holds);
});

test("a snippet begins where its sentence, line or row does, and cuts no word that stands between signs", () => {
  const begun = (text: string, query: string) => snippetOf("", text, queryOf(query)).text;
  const filler = "lorem ipsum dolor sit amet ".repeat(20);
  expect(begun(`${filler}end. A short one about the needle, and more. ${filler}`, "needle")).toMatch(/^A short one/);
  expect(begun(`${filler}\n| needle | 5 |\n${filler}`, "needle")).toMatch(/^\| needle/);
  expect(begun(`${"前の文です。".repeat(60)}針はここ。${"次の文です。".repeat(60)}`, "針は")).toMatch(/^針はここ/);
  const code = `${"call(alpha.beta);".repeat(40)}needle();${"call(gamma.delta);".repeat(40)}`;
  expect(begun(code, "needle")).toMatch(/^(?:call|alpha|beta)\b.*\b(?:call|gamma|delta)$/);
});
