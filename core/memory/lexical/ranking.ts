import { type BestScored, bestScored } from "./best-scored.ts";
import { impactsOf, saturate } from "./impacts.ts";
import { type ScoredSegment, smoothScores } from "./neighbours.ts";
import {
  type PlannedCondition,
  type PostingRange,
  planQuery,
  type QueryPlan,
  type RankedSegment,
} from "./query-plan.ts";
import type { LexicalQuery } from "./query-terms.ts";
import type { Segment } from "./segment.ts";

/** What the 16 bits of an accumulator hold. */
const FREQUENCY_SUM_LIMIT = 65_535;

export type RankedDocument = {
  /** Which of the segments, from 0. */
  readonly segment: number;
  /** Its place in the segment. */
  readonly row: number;
  /** The document's id. */
  readonly id: number;
  readonly score: number;
};

/** Accumulators of this thread, kept between queries and all zero between them. */
let scores = new Float64Array(0);
let smoothed = new Float64Array(0);
let frequencies = new Uint16Array(0);

/**
 * The best documents over all segments by BM25, best first; equal scores by ascending id. A document needs one of the
 * terms or, in a conversation, stands beside one that has it, and must pass mask and conditions. Phrases are not judged
 * here: see `verifyPhrases`.
 */
export function rankDocuments(
  segments: readonly RankedSegment[],
  query: LexicalQuery,
  limit: number,
): RankedDocument[] {
  const plan = planQuery(segments, query);
  if (plan.terms.length === 0 || limit < 1) return [];
  const best = bestScored<RankedDocument>(limit);
  makeRoom(segments);
  for (const [which, input] of segments.entries())
    if (!input.segment.traits.conversing) rankSegment(best, input, which, plan);
  rankConversations(best, segments, plan);
  return best.take();
}

/** Conversations are spread over segments, so that those have their scores at the same time; all others one by one. */
function makeRoom(segments: readonly RankedSegment[]): void {
  let [most, talking, largest] = [0, 0, 0];
  for (const { segment } of segments) {
    largest = Math.max(largest, segment.documents);
    if (segment.traits.conversing) talking += segment.documents;
    else most = Math.max(most, segment.documents);
  }
  if (scores.length < Math.max(most, talking)) scores = new Float64Array(roundUp(Math.max(most, talking)));
  if (smoothed.length < talking) smoothed = new Float64Array(roundUp(talking));
  if (frequencies.length < largest) frequencies = new Uint16Array(roundUp(largest));
}

/** To a power of two, so that a growing index does not need new room for every search. */
function roundUp(rows: number): number {
  return 2 ** Math.ceil(Math.log2(rows));
}

function rankSegment(
  best: BestScored<RankedDocument>,
  { segment, mask }: RankedSegment,
  which: number,
  plan: QueryPlan,
): void {
  const postings = addScores(segment, which, plan, scores);
  if (postings === 0) return;
  const allowed = applyConditions(segment, mask, which, plan);
  const keep = keeperOf(best, segment, which);
  if (postings < segment.documents / 2) {
    for (const { ranges } of plan.terms) for (const range of ranges[which] ?? []) visit(segment, range, allowed, keep);
  } else {
    scan(scores, segment.documents, allowed, keep);
    scores.fill(0, 0, segment.documents);
  }
}

/** A message is found beside one that holds the terms, even when that lies in another segment. */
function rankConversations(best: BestScored<RankedDocument>, inputs: readonly RankedSegment[], plan: QueryPlan): void {
  const parts: (ScoredSegment & { readonly which: number; readonly mask: Uint8Array | undefined })[] = [];
  let rows = 0;
  let postings = 0;
  for (const [which, { segment, mask, dead }] of inputs.entries()) {
    if (!segment.traits.conversing) continue;
    const end = rows + segment.documents;
    const own = { scores: scores.subarray(rows, end), smoothed: smoothed.subarray(rows, end) };
    postings += addScores(segment, which, plan, own.scores);
    parts.push({ segment, dead, ...own, which, mask });
    rows = end;
  }
  if (postings === 0) return;
  smoothScores(parts);
  for (const { segment, smoothed: sums, which, mask } of parts)
    scan(sums, segment.documents, applyConditions(segment, mask, which, plan), keeperOf(best, segment, which));
  scores.fill(0, 0, rows);
}

/** Adds what each term and prefix brings to the rows that have it; gives how many postings there were. */
function addScores(segment: Segment, which: number, plan: QueryPlan, sums: Float64Array): number {
  let postings = 0;
  for (const { idf, numbers, ranges } of plan.terms) {
    const number = numbers?.[which];
    const own = ranges[which] ?? [];
    for (const [from, to] of own) postings += to - from;
    if (number === undefined) addPrefix(segment, own, idf, plan.averageLength, sums);
    else if (number >= 0) addTerm(segment, number, idf, plan.averageLength, sums);
  }
  return postings;
}

function addTerm(segment: Segment, number: number, idf: number, averageLength: number, sums: Float64Array): void {
  const { postingStarts, postingDocuments } = segment;
  const impacts = impactsOf(segment, number, averageLength);
  const end = postingStarts[number + 1] ?? 0;
  for (let at = postingStarts[number] ?? 0; at < end; at += 1) {
    const row = postingDocuments[at] ?? 0;
    sums[row] = (sums[row] ?? 0) + idf * (impacts[at] ?? 0);
  }
}

function addPrefix(
  segment: Segment,
  ranges: readonly PostingRange[],
  idf: number,
  averageLength: number,
  sums: Float64Array,
): void {
  const { postingDocuments, postingFrequencies, lengths } = segment;
  for (const [from, to] of ranges)
    for (let at = from; at < to; at += 1) {
      const row = postingDocuments[at] ?? 0;
      const sum = (frequencies[row] ?? 0) + (postingFrequencies[at] ?? 0);
      frequencies[row] = Math.min(sum, FREQUENCY_SUM_LIMIT);
    }
  for (const [from, to] of ranges)
    for (let at = from; at < to; at += 1) {
      const row = postingDocuments[at] ?? 0;
      const frequency = frequencies[row] ?? 0;
      if (frequency === 0) continue;
      frequencies[row] = 0;
      sums[row] = (sums[row] ?? 0) + idf * saturate(frequency, lengths[row] ?? 0, averageLength);
    }
}

/** The mask, less the rows that hold what they must not or hold not what they must. */
export function applyConditions(
  segment: Segment,
  mask: Uint8Array | undefined,
  which: number,
  { required, excluded }: QueryPlan,
): Uint8Array | undefined {
  if (required.length === 0 && excluded.length === 0) return mask;
  const allowed = mask?.slice() ?? new Uint8Array(segment.documents).fill(1);
  for (const condition of required) {
    const holding = rowsHolding(segment, condition, which);
    for (let row = 0; row < allowed.length; row += 1) if (holding[row] === 0) allowed[row] = 0;
  }
  for (const condition of excluded) {
    const holding = rowsHolding(segment, condition, which);
    for (let row = 0; row < allowed.length; row += 1) if (holding[row] === 1) allowed[row] = 0;
  }
  return allowed;
}

/** 1 for each row that is in all lists. */
function rowsHolding({ documents, postingDocuments }: Segment, condition: PlannedCondition, which: number): Uint8Array {
  const lists = condition[which] ?? [];
  const met = new Uint8Array(documents);
  for (const [step, list] of lists.entries())
    for (const [from, to] of list)
      for (let at = from; at < to; at += 1) {
        const row = postingDocuments[at] ?? 0;
        if (met[row] === step) met[row] = step + 1;
      }
  for (let row = 0; row < documents; row += 1) met[row] = met[row] === lists.length ? 1 : 0;
  return met;
}

type Keeper = {
  /** A score below this is not kept. */
  least: number;
  offer(row: number, score: number): void;
};

function scan(from: Float64Array, documents: number, allowed: Uint8Array | undefined, keep: Keeper): void {
  for (let row = 0; row < documents; row += 1) {
    const score = from[row] ?? 0;
    if (score >= keep.least && score > 0 && (allowed === undefined || allowed[row] !== 0)) keep.offer(row, score);
  }
}

/** Few postings: the rows are met through them, and zeroed on the way so that each counts once. */
function visit(segment: Segment, [from, to]: PostingRange, allowed: Uint8Array | undefined, keep: Keeper): void {
  const { postingDocuments } = segment;
  for (let at = from; at < to; at += 1) {
    const row = postingDocuments[at] ?? 0;
    const score = scores[row] ?? 0;
    if (score === 0) continue;
    scores[row] = 0;
    if (score >= keep.least && (allowed === undefined || allowed[row] !== 0)) keep.offer(row, score);
  }
}

function keeperOf(best: BestScored<RankedDocument>, { ids }: Segment, which: number): Keeper {
  const keeper: Keeper = {
    least: best.least(),
    offer(row, score) {
      best.offer({ segment: which, row, id: ids[row] ?? 0, score });
      keeper.least = best.least();
    },
  };
  return keeper;
}
