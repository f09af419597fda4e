import { expect, test } from "vitest";
import { markRanking } from "./metrics.ts";

const judged = (grades: Readonly<Record<string, number>>) => new Map(Object.entries(grades));

test("a graded ranking is marked as by hand", () => {
  // DCG = 2/log2(2) + 0 + 3/log2(4) = 3.5; ideal = 3/log2(2) + 2/log2(3) + 1/log2(4) = 3 + 1.26186 + .5
  const marks = markRanking(["b", "x", "a"], judged({ a: 3, b: 2, c: 1, x: 0 }));
  expect(marks.ndcgAt10).toBeCloseTo(3.5 / 4.7618595, 6);
  expect(marks).toMatchObject({ recallAt5: 2 / 3, recallAt10: 2 / 3, reciprocalRank: 1 });
});

test("a perfect ranking has 1 everywhere, a useless one 0", () => {
  expect(markRanking(["a", "b"], judged({ a: 1, b: 1 }))).toEqual({
    ndcgAt10: 1,
    recallAt5: 1,
    recallAt10: 1,
    reciprocalRank: 1,
  });
  const nothing = { ndcgAt10: 0, recallAt5: 0, recallAt10: 0, reciprocalRank: 0 };
  expect(markRanking(["x", "y"], judged({ a: 1 }))).toEqual(nothing);
  expect(markRanking([], judged({ a: 1 }))).toEqual(nothing);
  expect(markRanking(["a"], judged({}))).toEqual(nothing);
});

test("what stands behind the tenth place counts for the first relevant one only", () => {
  const ranking = Array.from({ length: 20 }, (_, index) => `d${index + 1}`);
  expect(markRanking(ranking, judged({ d6: 1, d12: 1 }))).toMatchObject({ recallAt5: 0, recallAt10: 0.5 });
  expect(markRanking(ranking, judged({ d12: 1 }))).toEqual({
    ndcgAt10: 0,
    recallAt5: 0,
    recallAt10: 0,
    reciprocalRank: 1 / 12,
  });
});

test("negative grades are not relevant", () => {
  expect(markRanking(["a", "b"], judged({ a: -1, b: 1 }))).toMatchObject({
    ndcgAt10: 1 / Math.log2(3),
    reciprocalRank: 0.5,
  });
});
