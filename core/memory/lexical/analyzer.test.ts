import { expect, test } from "vitest";
import { createAnalyzer } from "./analyzer.ts";
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
  ["ΑΘΗΝΑ Straße привет", ["αθηνα", "straße", "привет"]],
  ["sha256", ["sha", "256", "sha256"]],
])("%j gives its terms", (text, terms) => {
  expect(analyze(text)).toEqual(terms);
});

test("the full stop list is in force", () => {
  expect(STOP_WORDS.size).toBe(127);
  expect(analyze([...STOP_WORDS].join(" "))).toEqual([]);
});
