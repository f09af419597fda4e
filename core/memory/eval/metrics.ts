/** Grades of the documents that were judged for one query; those of 0 or less are not relevant. */
export type Judgements = ReadonlyMap<string, number>;

/** How well one ranking did. */
export type Marks = {
  readonly ndcgAt10: number;
  readonly recallAt5: number;
  readonly recallAt10: number;
  /** 1 / rank of the first relevant document, 0 without one. */
  readonly reciprocalRank: number;
};

const NDCG_DEPTH = 10;

/**
 * Judges a ranking, best first, each document once. The gain of a document is its grade and its discount log2(rank + 1), as
 * trec_eval has it; the ideal ranking is that of all judged documents, also of those nobody found.
 */
export function markRanking(ranking: readonly string[], judgements: Judgements): Marks {
  const grades = ranking.map((id) => Math.max(judgements.get(id) ?? 0, 0));
  const ideal = [...judgements.values()].filter((grade) => grade > 0).sort((a, b) => b - a);
  const first = grades.findIndex((grade) => grade > 0);
  return {
    ndcgAt10: ratio(gainOf(grades), gainOf(ideal)),
    recallAt5: ratio(relevantIn(grades, 5), ideal.length),
    recallAt10: ratio(relevantIn(grades, 10), ideal.length),
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
  };
}

function gainOf(grades: readonly number[]): number {
  return grades.slice(0, NDCG_DEPTH).reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0);
}

function relevantIn(grades: readonly number[], depth: number): number {
  return grades.slice(0, depth).filter((grade) => grade > 0).length;
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
