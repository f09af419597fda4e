import { expect, test } from "vitest";
import { SEARCH_MODES } from "../../domain/memory.ts";
import { analyze, groupOf, seeded } from "../lexical/fixtures/index-group.ts";
import type { IndexDocument, IndexGroup } from "../lexical/index-document.ts";
import { parseQuery } from "../lexical/query-text.ts";
import { buildSegment } from "../lexical/segment-build.ts";
import { makeVectors } from "../vector/fixtures/vectors.ts";
import { buildVectorBlock } from "../vector/vector-block.ts";
import { openedBlocks, openedSegments } from "./opened-segments.ts";
import { makeScanShare } from "./scan-share.ts";
import {
  helpSearch,
  type SearchedSegment,
  type SearchMeans,
  type SearchRequest,
  searchSegments,
} from "./search-task.ts";
import { type ComputedEmbedder, createVectorMaker } from "./vector-task.ts";

/** More than a test run tries by itself. */
const SEEDS = Number(process.env.CLAWD_SEEDS ?? "6");

const GROUPS: readonly IndexGroup[] = [
  groupOf({ key: "/work/a.md" }),
  groupOf({ key: "/work/src/b.ts" }),
  groupOf({ key: "n1", kind: "note", author: "owner", weight: 1.25, scope: "person" }),
  groupOf({ key: "n2", kind: "note", author: "agent", scope: "session:other" }),
  groupOf({ key: "n3", kind: "note", author: "agent", scope: "person", expiresAtMs: 500 }),
  groupOf({ key: "s1", kind: "conversation", author: "owner", sessionId: "s1" }),
  groupOf({ key: "s1", kind: "conversation", author: "agent", sessionId: "s1" }),
];

const makeMeans = (): SearchMeans => ({
  ...{ open: openedSegments(), openBlocks: openedBlocks() },
  ...{ analyze, vectors: createVectorMaker(analyze) },
});
let lastKey = 0;

function segmentOf(
  { vectors }: SearchMeans,
  documents: readonly IndexDocument[],
  gone: ReadonlySet<number>,
  name: ComputedEmbedder,
): SearchedSegment {
  const dead = Uint8Array.from(documents, ({ id }) => (gone.has(id) ? 1 : 0));
  const made = vectors.documents({ name, texts: documents.map(({ text }) => text) });
  const block = buildVectorBlock(made[0]?.length ?? 32, made, false);
  lastKey += 1;
  return {
    ...{ key: lastKey, buffer: buildSegment({ groups: GROUPS, documents }, analyze) },
    dead: dead.includes(1) ? dead : undefined,
    vectors: { block, key: -lastKey },
  };
}

function documentsBy(random: () => number): IndexDocument[] {
  const word = () => `w${String.fromCharCode(97 + Math.floor(random() * 3))}q${Math.floor(random() ** 2 * 60)}x`;
  return Array.from({ length: 60 + Math.floor(random() * 200) }, (_, index) => ({
    id: Math.floor(random() * 2 ** 40) * 1_000 + index,
    group: Math.floor(random() * GROUPS.length),
    title: word(),
    text: Array.from({ length: 3 + Math.floor(random() * 40) }, word).join(" "),
    atMs: Math.floor(random() * 1_000),
    place: index,
  }));
}

test("an answer does not depend on how pieces are spread over segments, nor on what is gone from them", () => {
  let answered = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seeded(seed * 7);
    const means = makeMeans();
    const documents = documentsBy(random);
    const known = documents.flatMap(({ text }) => text.split(" "));
    const word = () => known[Math.floor(random() * known.length)] ?? "";
    const gone = new Set(documents.filter(() => random() < 0.2).map(({ id }) => id));
    const parts = 2 + Math.floor(random() * 6);
    const byPart = Map.groupBy(documents, () => Math.floor(random() * parts));
    for (const name of ["builtin", "mock"] as const) {
      const living = documents.filter(({ id }) => !gone.has(id)).sort((a, b) => a.group - b.group);
      const whole = [segmentOf(means, living, new Set(), name)];
      const spread = Array.from(byPart.values(), (own) => segmentOf(means, own, gone, name));
      for (const mode of SEARCH_MODES) {
        const parsed = parseQuery(
          `${word()} ${word()} ${word().slice(0, 3)}* -${word()} before:1970-01-01T00:00:00.8Z`,
          0,
        );
        if (!parsed.ok) throw new Error(parsed.failure.message);
        const request: Omit<SearchRequest, "segments"> = {
          ...{ query: parsed.value, mode, filter: {}, scopes: ["person"], queryVector: name },
          rules: { lexicalWeight: 1, vectorWeight: 0.5, halfLifeMs: 400, nowMs: 1_000, limit: 20 },
        };
        const shown = (segments: readonly SearchedSegment[]) =>
          searchSegments({ ...request, segments }, means).map(({ id, score, lexical, vector }) => {
            return `${id} ${score.toPrecision(12)} ${lexical?.rank} ${vector?.rank}`;
          });
        const expected = shown(whole);
        expect(shown(spread), `seed ${seed}, ${name}, ${mode}`).toEqual(expected);
        answered += expected.length;
        for (const line of expected) expect(gone.has(Number(line.split(" ")[0]))).toBe(false);
      }
    }
  }
  expect(answered).toBeGreaterThan(SEEDS * 20);
});

test("a search whose vectors two threads scan finds what one finds", () => {
  const [helped, means, helper] = [makeScanShare(100), makeMeans(), makeMeans()];
  const vectors = makeVectors(3, 9_000, 1_024, 20);
  const documents = vectors.map((_, id) => ({ id, group: 0, title: "", text: "", atMs: 0 }));
  const segments = [0, 4_000].map((first): SearchedSegment => {
    const [from, to] = [first, first === 0 ? 4_000 : 9_000];
    const block = buildVectorBlock(1_024, vectors.slice(from, to), true);
    const input = { groups: GROUPS, documents: documents.slice(from, to) };
    return { key: first, buffer: buildSegment(input, analyze), dead: undefined, vectors: { block, key: first } };
  });
  const query = parseQuery("anything", 0);
  if (!query.ok) throw new Error(query.failure.message);
  const request: SearchRequest = {
    ...{ segments, query: query.value, mode: "vector", filter: {}, scopes: [], queryVector: vectors[7] },
    rules: { lexicalWeight: 1, vectorWeight: 1, halfLifeMs: 0, nowMs: 0, limit: 30 },
  };
  const whole = searchSegments(request, means);
  expect(whole).toHaveLength(30);
  helpSearch({ ...request, share: helped }, helper);
  expect(new Int32Array(helped)[1]).toBeGreaterThan(0);
  expect(searchSegments({ ...request, share: helped }, means)).toEqual(whole);
  // Nobody came to help.
  expect(searchSegments({ ...request, share: makeScanShare(100) }, means)).toEqual(whole);
});
