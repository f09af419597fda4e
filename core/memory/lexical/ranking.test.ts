import { expect, test } from "vitest";
import { createAnalyzer } from "./analyzer.ts";
import { rankDocuments } from "./ranking.ts";
import { buildSegment, openSegment, type Segment, type SegmentDocument } from "./segment.ts";

const analyze = createAnalyzer();

/** A small generator with a seed, so that a failure can be run again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomCorpus(random: () => number, documents: number): SegmentDocument[] {
  // Squaring makes low word numbers frequent, as in real texts.
  const word = () => `w${Math.floor(random() ** 2 * 300)}x`;
  return Array.from({ length: documents }, (_, index) => ({
    id: Math.floor(random() * 2 ** 40) * 1_000 + index,
    text: Array.from({ length: Math.floor(random() * 120) }, word).join(" "),
  }));
}

function segmentOf(documents: readonly SegmentDocument[]): Segment {
  const segment = openSegment(buildSegment(documents, analyze));
  if (segment === undefined) throw new Error("a fresh segment is not whole");
  return segment;
}

/** BM25 straight from its formula, with maps. */
function plainRanking(documents: readonly SegmentDocument[], query: string, limit: number) {
  const analyzed = documents.map(({ id, text }) => ({ id, terms: analyze(text) }));
  const length = (terms: readonly string[]) => Math.max(terms.length, 20);
  const average = analyzed.reduce((sum, { terms }) => sum + length(terms), 0) / documents.length;
  const queryTerms = [...new Set(analyze(query))].slice(0, 64);
  const frequencies = queryTerms.map((term) => analyzed.filter(({ terms }) => terms.includes(term)).length);
  const scored = analyzed.map(({ id, terms }) => {
    let score = 0;
    for (const [index, term] of queryTerms.entries()) {
      const found = frequencies[index] ?? 0;
      const frequency = terms.filter((other) => other === term).length;
      if (frequency === 0) continue;
      const idf = Math.log(1 + (documents.length - found + 0.5) / (found + 0.5));
      score += (idf * (frequency * 2.2)) / (frequency + 1.2 * (0.25 + (0.75 * length(terms)) / average));
    }
    return { id, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, limit);
}

test("the ranking is that of the formula, however the documents are divided", () => {
  const random = seeded(7);
  for (let round = 0; round < 12; round += 1) {
    const corpus = randomCorpus(random, 60 + round * 20);
    const query = Array.from({ length: 1 + round }, () => `w${Math.floor(random() ** 2 * 320)}x`).join(" ");
    const expected = plainRanking(corpus, query, 15);
    for (const pieces of [1, 2, 7]) {
      const segments = Array.from({ length: pieces }, (_, piece) =>
        segmentOf(corpus.filter((_, index) => index % pieces === piece)),
      );
      const ranked = rankDocuments(segments, analyze(query), 15);
      expect(ranked.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      for (const [index, { score }] of ranked.entries())
        expect(score).toBeCloseTo(expected[index]?.score ?? Number.NaN, 9);
    }
  }
});

test("equal scores are ordered by id, and empty segments and queries give nothing", () => {
  const same = [9, 3, 7, 1].map((id) => ({ id, text: "green tea" }));
  const halves = [segmentOf(same.slice(0, 2)), segmentOf([]), segmentOf(same.slice(2))];
  expect(rankDocuments(halves, ["tea"], 3).map(({ id }) => id)).toEqual([1, 3, 7]);
  expect(rankDocuments(halves, ["coffe"], 3)).toEqual([]);
  expect(rankDocuments(halves, [], 3)).toEqual([]);
  expect(rankDocuments([], ["tea"], 3)).toEqual([]);
});

test("damaged bytes are no segment", () => {
  const buffer = buildSegment([{ id: 1, text: "tea" }], analyze);
  expect(openSegment(buffer.slice(0, buffer.byteLength - 1))).toBeUndefined();
  expect(openSegment(new SharedArrayBuffer(4))).toBeUndefined();
  new Uint8Array(buffer)[5] = 77;
  expect(openSegment(buffer)).toBeUndefined();
});
