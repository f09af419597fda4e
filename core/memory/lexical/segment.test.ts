import { expect, test } from "vitest";
import { findPrefix, findTerm, termCount, termText } from "./dictionary.ts";
import { analyze, documentsOf, groupOf, seeded, segmentOf } from "./fixtures/index-group.ts";
import { openSegment } from "./segment.ts";
import { buildSegment } from "./segment-build.ts";

const encoder = new TextEncoder();

test("a segment gives back its rows and groups", () => {
  const groups = [
    groupOf({ key: "/ü/päth.md", labels: ["a", "b"], weight: 1.25 }),
    groupOf({ key: "n1", kind: "note", author: "stranger", scope: "project:/w", expiresAtMs: 77 }),
    groupOf({ key: "s", kind: "conversation", sessionId: "s" }),
  ];
  const documents = [
    { id: 7, group: 1, title: "Heading word", text: "body", atMs: 1_700_000_000_123 },
    { id: 3, group: 2, title: "", text: "", atMs: 0, place: 2 ** 40 + 1 },
  ];
  const segment = segmentOf(documents, groups);
  expect(segment.groups()).toEqual(groups);
  expect(segment.groups()).toBe(segment.groups());
  expect([...segment.ids]).toEqual([7, 3]);
  expect([...segment.atMs]).toEqual([1_700_000_000_123, 0]);
  expect([...segment.rowGroups]).toEqual([1, 2]);
  expect([...segment.places]).toEqual([0, 2 ** 40 + 1]);
  expect(segmentOf(documentsOf(["nobody talks"])).places).toHaveLength(0);
  expect([...segment.lengths]).toEqual([20, 20]);
  expect(segment.traits).toEqual({ scoped: true, expiring: true, conversing: true });
  expect(findTerm(segment, encoder.encode("head"))).toBeGreaterThanOrEqual(0);
});

test("terms lie in the order of their bytes, are found, and those of a prefix stand together", () => {
  const random = seeded(5);
  const letters = ["a", "b", "z", "é", "東", "𝔘", "ﻼ", "1"];
  const words = Array.from({ length: 800 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => letters[Math.floor(random() * letters.length)]).join(""),
  );
  const segment = segmentOf(documentsOf([words.join(" ")]));
  const terms = Array.from({ length: termCount(segment) }, (_, number) => termText(segment, number));
  expect(terms).toEqual(
    [...new Set(analyze(words.join(" ")))].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  for (const [number, term] of terms.entries()) expect(findTerm(segment, encoder.encode(term))).toBe(number);
  for (const prefix of ["a", "ab", "東", "zz", "q", "\u{1D518}"]) {
    const [from, to] = findPrefix(segment, encoder.encode(prefix));
    expect(terms.slice(from, to)).toEqual(terms.filter((term) => term.startsWith(prefix)));
  }
  expect(findTerm(segment, encoder.encode("missing"))).toBe(-1);
});

test("a frequency that is over its limit stays at it, and many documents keep their order", () => {
  const segment = segmentOf(documentsOf(["tea ".repeat(1_000), ...Array.from({ length: 3_000 }, () => "tea")]));
  expect([...segment.postingFrequencies.subarray(0, 2)]).toEqual([255, 1]);
  expect([...segment.postingDocuments]).toEqual(Array.from({ length: 3_001 }, (_, row) => row));
});

test("damaged bytes are no segment", () => {
  const buffer = buildSegment({ groups: [groupOf({})], documents: documentsOf(["tea"]) }, analyze);
  expect(openSegment(buffer)?.documents).toBe(1);
  expect(openSegment(buffer.slice(0, buffer.byteLength - 1))).toBeUndefined();
  expect(openSegment(new SharedArrayBuffer(4))).toBeUndefined();
  expect(openSegment(new SharedArrayBuffer(400))).toBeUndefined();
  new Uint8Array(buffer)[13] = 77;
  expect(openSegment(buffer)).toBeUndefined();
});

test("too many documents, or one without its group, are a broken promise", () => {
  const many = documentsOf(Array.from({ length: 65_537 }, () => ""));
  expect(() => buildSegment({ groups: [groupOf({})], documents: many }, analyze)).toThrow(/65536/);
  expect(() => buildSegment({ groups: [], documents: documentsOf(["a"]) }, analyze)).toThrow(/group/);
  expect(segmentOf([], []).documents).toBe(0);
});
