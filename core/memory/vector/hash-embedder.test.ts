import { expect, test } from "vitest";
import { createAnalyzer } from "../lexical/analyzer.ts";
import { plainCosine } from "./fixtures/vectors.ts";
import { createHashEmbedder, HASH_DIMENSIONS } from "./hash-embedder.ts";
import { createMockEmbedder } from "./mock-embedder.ts";
import { buildVectorBlock } from "./vector-block.ts";
import { scanBlocks } from "./vector-scan.ts";

const TEXTS = [
  "The gateway listens on a loopback port and refuses tokens that have expired.",
  "Bread needs flour, water, salt and some hours of patience.",
  "function parseExpiredToken(token: string): Date { return new Date(token); }",
  "Rowing on the lake at dawn, before the wind comes up.",
  "The daemon restarts by itself when its configuration changes.",
];

/** All terms are equally rare. */
const FLAT = { documents: TEXTS.length, frequencyOf: () => 1 };

function nearestTo(question: string): readonly number[] {
  const embedder = createHashEmbedder(createAnalyzer());
  const block = buildVectorBlock(HASH_DIMENSIONS, TEXTS.map(embedder.document), false);
  const part = { block, mask: new Uint8Array(TEXTS.length).fill(1), ids: TEXTS.map((_, row) => row) };
  return scanBlocks([part], embedder.query(question, FLAT), TEXTS.length).map(({ row }) => row);
}

test("a text is nearest to questions that share its words, forms of them, or are misspelled", () => {
  expect(nearestTo("how long does bread take?")[0]).toBe(1);
  expect(nearestTo("expiring tokens").slice(0, 2).sort()).toEqual([0, 2]);
  expect(nearestTo("daemn configuraton")[0]).toBe(4);
});

test("the same text gives the same vector in every embedder, whatever was embedded before it", () => {
  const [first, second] = [createHashEmbedder(createAnalyzer()), createHashEmbedder(createAnalyzer())];
  for (const text of TEXTS) second.document(`${text} ${text}`);
  for (const text of TEXTS) {
    expect(first.document(text)).toEqual(second.document(text));
    expect(first.query(text, FLAT)).toEqual(second.query(text, FLAT));
  }
});

test("the form of hash-v1 is kept: vectors that are stored stay good", () => {
  const vector = createHashEmbedder(createAnalyzer()).document("bread");
  const places = [...vector.entries()].filter(([, number]) => number !== 0);
  expect(places.map(([place, number]) => [place, Number(number.toFixed(4))])).toMatchInlineSnapshot(`
    [
      [
        937,
        -0.2867,
      ],
      [
        962,
        0.2867,
      ],
      [
        1149,
        0.2867,
      ],
      [
        1644,
        -0.8192,
      ],
      [
        1962,
        0.2867,
      ],
    ]
  `);
});

test("vectors have length one; a text without terms has none, and finds nothing", () => {
  const embedder = createHashEmbedder(createAnalyzer());
  for (const text of TEXTS) {
    const vector = embedder.document(text);
    expect(vector).toHaveLength(HASH_DIMENSIONS);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  }
  for (const text of ["", "?!", "the of and"])
    expect(embedder.document(text).every((number) => number === 0)).toBe(true);
  expect(nearestTo("")).toEqual([]);
});

test("rare terms decide a question", () => {
  const embedder = createHashEmbedder(createAnalyzer());
  const statistics = { documents: 1000, frequencyOf: (term: string) => (term === "lake" ? 1 : 900) };
  const question = embedder.query("lake configuration", statistics);
  const [lake, configuration] = ["lake", "configuration"].map((word) => plainCosine(question, embedder.document(word)));
  expect(lake).toBeGreaterThan(0.9);
  expect(configuration).toBeLessThan(0.2);
});

test("statistics that make no sense give numbers all the same", () => {
  const embedder = createHashEmbedder(createAnalyzer());
  for (const statistics of [
    { documents: 0, frequencyOf: () => 0 },
    { documents: 3, frequencyOf: () => 7 },
  ])
    expect(embedder.query("bread and salt", statistics).every(Number.isFinite)).toBe(true);
});

test("the order of words is seen", () => {
  const { document } = createHashEmbedder(createAnalyzer());
  const question = document("dog bites man");
  expect(plainCosine(question, document("dog bites man"))).toBeGreaterThan(
    plainCosine(question, document("man bites dog")),
  );
});

test("the mock gives the bytes of a SHA-256 between -1 and 1, the same every time", async () => {
  const mock = createMockEmbedder();
  const embed = (texts: string[]) => mock.embed(texts, "document", new AbortController().signal);
  const [once, again] = [await embed(["a", "b", "a"]), await embed(["a"])];
  if (!once.ok || !again.ok) throw new Error("the mock failed");
  expect(once.value[0]).toEqual(once.value[2]);
  expect(once.value[0]).toEqual(again.value[0]);
  expect(once.value[0]).not.toEqual(once.value[1]);
  for (const vector of once.value) {
    expect(vector).toHaveLength(mock.dimensions);
    expect(vector.every((number) => Math.abs(number) <= 1)).toBe(true);
  }
  // SHA-256 of "a" starts with ca 97 81.
  expect([...(once.value[0] ?? [])].slice(0, 3)).toEqual(
    [0xca, 0x97, 0x81].map((byte) => Math.fround(byte / 127.5 - 1)),
  );
});
