import { expect, test } from "vitest";
import { createAnalyzer, locateWords } from "./analyzer.ts";
import { STOP_WORDS } from "./stop-words.ts";

const analyze = createAnalyzer();

test.each([
  ["Where do the connections get closed?", ["connect", "get", "close"]],
  [
    "HTTPServer2go parse_request maxRetriesMs $el",
    [
      "http",
      "server",
      "2",
      "go",
      "httpserver2go",
      "pars",
      "request",
      "parserequest",
      "max",
      "retri",
      "ms",
      "maxretriesm".concat("s"),
      "el",
    ],
  ],
  ["Ünïcode CAFÉ cafe\u0301 ﬁne", ["unicod", "cafe", "cafe", "fine"]],
  ["東京タワー 한국어 x", ["東京", "京タ", "タワ", "ワー", "한국", "국어", "x"]],
  ["naïve東京test", ["naiv", "東京", "test"]],
  ["toBe", ["tobe"]],
  ["the and of", []],
  [`${"a".repeat(81)} ok ${"東".repeat(3)}`, ["ok", "東東", "東東"]],
  ["ΑΘΗΝΑ Straße привет", ["αθηνα", "strass", "привет"]],
  ["🎉party❤️ ok👍🏽", ["🎉", "parti", "❤", "ok", "👍"]],
  ["İstanbul Işık ışık ΣΑΣ σας", ["istanbul", "isik", "isik", "σασ", "σασ"]],
  ["1,000.50 v1.2 ２０２６", ["1", "000", "50", "v", "1", "v1", "2", "2026"]],
  ["/usr/local_dir/x.ts", ["usr", "local", "dir", "localdir", "x", "ts"]],
  ["ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]],
  ["हिन्दी שָׁלוֹם", ["हिन्दी", "שלום"]],
  ["a—b “c” …", ["b", "c"]],
  ["sha256", ["sha", "256", "sha256"]],
])("%j gives its terms", (text, terms) => {
  expect(analyze(text)).toEqual(terms);
});

test("the full stop list is in force", () => {
  expect(STOP_WORDS.size).toBe(127);
  expect(analyze([...STOP_WORDS].join(" "))).toEqual([]);
});

test("a token of ten million letters gives nothing, and a text after it is read", () => {
  const long = "a".repeat(10_000_000);
  expect(analyze(`${long} ok`)).toEqual(["ok"]);
  expect(analyze(`${"é".repeat(100_000)} ok`)).toEqual(["ok"]);
  expect(analyze(`${"\uD83D".repeat(1_000)} ok`)).toEqual(["ok"]);
});

test("terms are the same whatever was read before", () => {
  const fresh = createAnalyzer();
  const used = createAnalyzer();
  for (let index = 0; index < 140_000; index += 1) used(`token${index}`);
  const text = "The quickBrown fox_jumps over 12 lazy dogs; naïve 東京 token17 token139999";
  expect(used(text)).toEqual(fresh(text));
  expect(used(text)).toEqual(fresh(text));
});

test("located words lie where they are read, and give the analyzer's terms", () => {
  const text = "See parseRequest2 and naïve Cafe\u0301 東京タワー.";
  const words = locateWords(text);
  expect(words.map(({ start, end }) => text.slice(start, end))).toEqual([
    "See",
    "parse",
    "Request",
    "2",
    "and",
    "naïve",
    "Cafe\u0301",
    "東",
    "京",
    "タ",
    "ワ",
    "ー",
  ]);
  expect(new Set(words.flatMap(({ terms }) => terms))).toEqual(new Set(analyze(text)));
});
