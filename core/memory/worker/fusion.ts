import type { LegRank, SharedWords } from "../../domain/memory.ts";

/** Cormack's constant: how little the first ranks stand out from those behind them. */
const RANK_OFFSET = 60;

/** A piece as a leg found it: which segment, which row in it. */
export type LegHit = {
  readonly segment: number;
  readonly row: number;
  /** Comparable within one leg of one search only. */
  readonly score: number;
};

/** What is known of a piece beside its words. */
export type PieceFacts = {
  readonly id: number;
  /** Milliseconds since 1970; 0 when nobody knows. */
  readonly atMs: number;
  /** The importance of its group; 1 for most. */
  readonly weight: number;
};

export type FusionRules = {
  readonly lexicalWeight: number;
  readonly vectorWeight: number;
  /** After this long a hit counts half; 0 turns it off. */
  readonly halfLifeMs: number;
  readonly nowMs: number;
  readonly limit: number;
};

export type FusedHit = {
  readonly segment: number;
  readonly row: number;
  readonly id: number;
  readonly atMs: number;
  readonly score: number;
  readonly lexical?: LegRank;
  readonly vector?: LegRank;
  readonly recency: number;
  readonly importance: number;
  /** When it was asked for. */
  readonly shared?: SharedWords;
};

export type Legs = { readonly lexical: readonly LegHit[]; readonly vector: readonly LegHit[] };

/**
 * Reciprocal rank fusion: a hit scores the sum of weight / (60 + rank) over the legs that found it, times recency and
 * importance. Best first; ties by the later moment, then by the lower id. What a leg put first is among the answers even when
 * its fused score is the lowest, since an exact identifier must not drown in vague likeness; only the very best never makes room for it.
 */
export function fuseLegs(legs: Legs, rules: FusionRules, factsOf: (hit: LegHit) => PieceFacts): FusedHit[] {
  const ranks = new Map<string, { hit: LegHit; lexical?: LegRank; vector?: LegRank }>();
  for (const leg of ["lexical", "vector"] as const) {
    for (const [index, hit] of legs[leg].entries()) {
      const key = placeOf(hit);
      ranks.set(key, { ...(ranks.get(key) ?? { hit }), [leg]: { rank: index + 1, score: hit.score } });
    }
  }
  const fused = Array.from(ranks.values(), ({ hit, ...found }) => scoreHit(hit, found, rules, factsOf(hit)));
  return keepFirsts(fused.sort(compareFused), rules.limit);
}

/** The order of answers. */
function compareFused(a: FusedHit, b: FusedHit): number {
  return b.score - a.score || b.atMs - a.atMs || a.id - b.id;
}

function placeOf({ segment, row }: LegHit): string {
  return `${segment}/${row}`;
}

function scoreHit(
  { segment, row }: LegHit,
  found: { readonly lexical?: LegRank; readonly vector?: LegRank },
  rules: FusionRules,
  { id, atMs, weight }: PieceFacts,
): FusedHit {
  const recency = recencyOf(atMs, rules);
  const sum = share(found.lexical, rules.lexicalWeight) + share(found.vector, rules.vectorWeight);
  return { segment, row, id, atMs, score: sum * recency * weight, ...found, recency, importance: weight };
}

function share(rank: LegRank | undefined, weight: number): number {
  return rank === undefined ? 0 : weight / (RANK_OFFSET + rank.rank);
}

/** What is older is still told apart by everything else: with more halvings all scores would be 0. */
const OLDEST_HALF_LIVES = 512;

/** Halves with every half-life; what has no date or lies in the future counts in full. */
function recencyOf(atMs: number, { halfLifeMs, nowMs }: FusionRules): number {
  if (halfLifeMs <= 0 || atMs <= 0) return 1;
  return 2 ** -Math.min(Math.max(nowMs - atMs, 0) / halfLifeMs, OLDEST_HALF_LIVES);
}

/** The best `limit`, among them the first of each leg: those take the last places of hits that are none. */
function keepFirsts(sorted: readonly FusedHit[], limit: number): FusedHit[] {
  const kept = sorted.slice(0, limit);
  const missing = sorted.slice(limit).filter(isFirst);
  for (const first of missing) {
    const victim = kept.findLastIndex((hit) => !isFirst(hit));
    if (victim < 1) break;
    kept.splice(victim, 1);
    kept.push(first);
  }
  return kept.sort(compareFused);
}

function isFirst({ lexical, vector }: FusedHit): boolean {
  return lexical?.rank === 1 || vector?.rank === 1;
}
