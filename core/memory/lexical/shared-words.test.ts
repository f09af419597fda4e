import { expect, test } from "vitest";
import { createAnalyzer } from "./analyzer.ts";
import type { IndexGroup } from "./index-document.ts";
import { openSegment } from "./segment.ts";
import { buildSegment } from "./segment-build.ts";
import { judgeShared } from "./shared-words.ts";

const analyze = createAnalyzer();
const GROUP: IndexGroup = {
  ...{ key: "", kind: "note", author: "owner", scope: "", sessionId: "", labels: [], weight: 1, expiresAtMs: 0 },
};

/** What each of these texts shares with the question. */
function shared(question: string, ...texts: readonly string[]) {
  const documents = texts.map((text, id) => ({ id, group: 0, title: "", text, atMs: 0 }));
  const segment = openSegment(buildSegment({ groups: [GROUP], documents }, analyze));
  if (segment === undefined) throw new Error("the segment is damaged");
  const judge = judgeShared([{ segment, mask: undefined }], question, analyze);
  return texts.map((_, row) => judge(0, row));
}

test("a text with all the words shares all of the question, one with none nothing", () => {
  expect(shared("Which tea do I like?", "I like my tea green.", "The harbour is closed.")).toEqual([
    { share: 1, words: 2, telling: 1 },
    { share: 0, words: 0, telling: 0 },
  ]);
});

test("everyday words weigh little, however rare they are among a few notes, and tell nothing", () => {
  const [start, penicillin] = shared("start the penicillin", "We start at nine.", "No penicillin!");
  expect(start).toMatchObject({ words: 1, telling: 0 });
  expect(penicillin).toMatchObject({ words: 1, telling: 1 });
  expect(start?.share).toBeLessThan(0.3);
  expect((start?.share ?? 0) + (penicillin?.share ?? 0)).toBeCloseTo(1);
});

test("a word that half of the documents hold tells nothing", () => {
  const texts = Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? `plugin number${at}` : `hook number${at}`));
  expect(shared("plugin", ...texts)[0]).toMatchObject({ words: 1, telling: 0 });
});

test("what nothing holds weighs most, so that one word in common is a small part of a question", () => {
  const [hit] = shared("a birthday poem about sailing to Valparaíso", "My birthday is in May.");
  expect(hit).toMatchObject({ telling: 1 });
  expect(hit?.share).toBeLessThan(0.25);
});

test("an identifier is one word, in whatever form it is written; a short number tells nothing", () => {
  expect(shared("moveToSQLite", "move it to SQLite")[0]).toMatchObject({ words: 1 });
  expect(shared("SQLite", "sqLite 3", "sq")).toMatchObject([{ words: 1 }, { words: 0 }]);
  expect(shared("2 or 4471", "2", "4471")).toMatchObject([{ telling: 0 }, { telling: 1 }]);
});

test("in scripts without spaces every pair of characters is a word", () => {
  const [hit] = shared("東京都の天気", "東京都に住んでいる");
  expect(hit?.words).toBe(2);
  expect(hit?.share).toBeGreaterThan(0.2);
});

test("a long message counts as one of six rare words: what else it says takes nothing away", () => {
  const rest = Array.from({ length: 40 }, (_, at) => `unheard${String.fromCharCode(97 + (at % 26))}${at}`).join(" ");
  const [one, both] = shared(`walnut cake ${rest}`, "A cake.", "The walnut cake.");
  expect(one?.share).toBeGreaterThan(0.1);
  expect(both?.share).toBeGreaterThan(0.2);
});

test("a question of no words shares nothing", () => {
  expect(shared("…?", "words")).toEqual([{ share: 0, words: 0, telling: 0 }]);
});
