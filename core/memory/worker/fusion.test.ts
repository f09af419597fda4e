import { expect, test } from "vitest";
import { type FusionRules, fuseLegs, type LegHit } from "./fusion.ts";

const RULES: FusionRules = { lexicalWeight: 1, vectorWeight: 1, halfLifeMs: 0, nowMs: 0, limit: 10 };
const hit = (row: number, score = 1, segment = 0): LegHit => ({ segment, row, score });
const plain = ({ segment, row }: LegHit) => ({ id: segment * 1_000 + row, atMs: 0, weight: 1 });
const rows = (hits: readonly { readonly row: number }[]) => hits.map(({ row }) => row);

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("ranks 1 and 3 of two equal legs score 1/61 + 1/63", () => {
  const [best] = fuseLegs(
    { lexical: [hit(7), hit(1), hit(2)], vector: [hit(3), hit(4), hit(7, 0.5)] },
    { ...RULES, limit: 1 },
    plain,
  );
  expect(best).toEqual({
    ...{ segment: 0, row: 7, id: 7, atMs: 0, recency: 1, importance: 1 },
    lexical: { rank: 1, score: 1 },
    vector: { rank: 3, score: 0.5 },
    score: 1 / 61 + 1 / 63,
  });
  expect(best?.score).toBeCloseTo(0.03227, 5);
});

test("a leg that found nothing takes nothing away", () => {
  const fused = fuseLegs({ lexical: [hit(4), hit(9)], vector: [] }, RULES, plain);
  expect(rows(fused)).toEqual([4, 9]);
  expect(fused.every((each) => each.vector === undefined)).toBe(true);
  expect(fuseLegs({ lexical: [], vector: [] }, RULES, plain)).toEqual([]);
});

test("rows of different segments are different pieces", () => {
  const fused = fuseLegs({ lexical: [hit(1, 2, 0)], vector: [hit(1, 1, 1)] }, RULES, plain);
  expect(fused.map(({ id }) => id)).toEqual([1, 1_001]);
});

test("equal scores go to the later one, then to the lower id", () => {
  const at = new Map([
    [1, 100],
    [2, 200],
  ]);
  const factsOf = ({ row }: LegHit) => ({ id: row, atMs: at.get(row) ?? 0, weight: 1 });
  expect(rows(fuseLegs({ lexical: [hit(1)], vector: [hit(2)] }, RULES, factsOf))).toEqual([2, 1]);
  expect(rows(fuseLegs({ lexical: [hit(6)], vector: [hit(5)] }, RULES, factsOf))).toEqual([5, 6]);
});

test("age halves, the future and the undated count in full, importance multiplies", () => {
  const facts = [
    { id: 0, atMs: 1_000, weight: 1 },
    { id: 1, atMs: 500, weight: 1.6 },
    { id: 2, atMs: 0, weight: 1 },
    { id: 3, atMs: 5_000, weight: 1 },
  ];
  const fused = fuseLegs(
    { lexical: [hit(0), hit(1), hit(2), hit(3)], vector: [] },
    { ...RULES, halfLifeMs: 500, nowMs: 1_500 },
    ({ row }) => facts[row] ?? { id: row, atMs: 0, weight: 1 },
  );
  expect(Object.fromEntries(fused.map(({ row, recency, importance }) => [row, [recency, importance]]))).toEqual({
    0: [0.5, 1],
    1: [0.25, 1.6],
    2: [1, 1],
    3: [1, 1],
  });
  expect(fused.find(({ row }) => row === 1)?.score).toBeCloseTo((1 / 62) * 0.25 * 1.6, 12);
});

test("the first of a light leg stays among the answers, behind the best", () => {
  const lexical = Array.from({ length: 100 }, (_, row) => hit(row));
  const fused = fuseLegs({ lexical, vector: [hit(500)] }, { ...RULES, vectorWeight: 0.01, limit: 3 }, plain);
  expect(rows(fused)).toEqual([0, 1, 500]);
  const one = fuseLegs({ lexical, vector: [hit(500)] }, { ...RULES, vectorWeight: 0.01, limit: 1 }, plain);
  expect(rows(one)).toEqual([0]);
});

test("the fusion is the sum over ranks for whatever two legs say", () => {
  const random = randomOf(7);
  for (let round = 0; round < 200; round += 1) {
    const draw = () => {
      const pieces = Array.from({ length: 40 }, (_, row) => ({ row, key: random() })).sort((a, b) => a.key - b.key);
      return pieces.slice(0, Math.floor(random() * 30)).map(({ row }) => hit(row));
    };
    const [lexical, vector] = [draw(), draw()];
    const weights = { lexicalWeight: 1, vectorWeight: random() < 0.5 ? 1 : 0.25 };
    const limit = 1 + Math.floor(random() * 20);
    const fused = fuseLegs({ lexical, vector }, { ...RULES, ...weights, limit }, plain);
    const expected = Array.from({ length: 40 }, (_, row) => {
      const at = (leg: readonly LegHit[]) => leg.findIndex((each) => each.row === row) + 1;
      const part = (rank: number, weight: number) => (rank === 0 ? 0 : weight / (60 + rank));
      return { row, score: part(at(lexical), 1) + part(at(vector), weights.vectorWeight) };
    })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.row - b.row);
    const firsts = [lexical[0]?.row, vector[0]?.row].filter((row) => row !== undefined);
    const top = new Set(rows(expected.slice(0, limit)));
    for (const { row, score } of fused) {
      expect(score).toBe(expected.find((each) => each.row === row)?.score);
      expect(top.has(row) || firsts.includes(row)).toBe(true);
    }
    expect(fused.length).toBe(Math.min(limit, expected.length));
    expect(fused[0]?.row).toBe(expected[0]?.row);
    if (limit > 2) for (const row of firsts) expect(rows(fused)).toContain(row);
    expect(fused.map(({ score }) => score)).toEqual(fused.map(({ score }) => score).sort((a, b) => b - a));
  }
});
