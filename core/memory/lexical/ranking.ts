import { impactsOf, LONGEST_FREQUENCY, saturate } from "./impacts.ts";
import {
  type PlannedCondition,
  type PostingRange,
  planQuery,
  type QueryPlan,
  type RankedSegment,
} from "./query-plan.ts";
import type { LexicalQuery } from "./query-terms.ts";
import { SEGMENT_LIMIT_DOCUMENTS, type Segment } from "./segment.ts";

/** What a message of a conversation adds to the one after it and to the one before it. */
const NEIGHBOURS = { previous: 0.3, next: 0.15 } as const;

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
  const best: RankedDocument[] = [];
  if (plan.terms.length === 0 || limit < 1) return best;
  makeRoom(segments);
  for (const [which, input] of segments.entries()) rankSegment(best, input, which, plan, limit);
  return best;
}

function makeRoom(segments: readonly RankedSegment[]): void {
  const most = Math.max(0, ...segments.map(({ segment }) => segment.documents));
  if (scores.length >= most) return;
  const rows = Math.min(SEGMENT_LIMIT_DOCUMENTS, 2 ** Math.ceil(Math.log2(most)));
  scores = new Float64Array(rows);
  smoothed = new Float64Array(rows);
  frequencies = new Uint16Array(rows);
}

function rankSegment(
  best: RankedDocument[],
  { segment, mask, dead }: RankedSegment,
  which: number,
  plan: QueryPlan,
  limit: number,
): void {
  let postings = 0;
  for (const { idf, numbers, ranges } of plan.terms) {
    const number = numbers?.[which];
    const own = ranges[which] ?? [];
    for (const [from, to] of own) postings += to - from;
    if (number === undefined) addPrefix(segment, own, idf, plan.averageLength);
    else if (number >= 0) addTerm(segment, number, idf, plan.averageLength);
  }
  if (postings === 0) return;
  const allowed = applyConditions(segment, mask, which, plan);
  const keep = keeperOf(best, segment, which, limit);
  if (segment.traits.conversing) {
    smoothScores(segment, dead);
    scan(smoothed, segment.documents, allowed, keep);
    smoothed.fill(0, 0, segment.documents);
    scores.fill(0, 0, segment.documents);
  } else if (postings < segment.documents / 2) {
    for (const { ranges } of plan.terms) for (const range of ranges[which] ?? []) visit(segment, range, allowed, keep);
  } else {
    scan(scores, segment.documents, allowed, keep);
    scores.fill(0, 0, segment.documents);
  }
}

function addTerm(segment: Segment, number: number, idf: number, averageLength: number): void {
  const { postingStarts, postingDocuments } = segment;
  const impacts = impactsOf(segment, number, averageLength);
  const sums = scores;
  const end = postingStarts[number + 1] ?? 0;
  for (let at = postingStarts[number] ?? 0; at < end; at += 1) {
    const row = postingDocuments[at] ?? 0;
    sums[row] = (sums[row] ?? 0) + idf * (impacts[at] ?? 0);
  }
}

function addPrefix(segment: Segment, ranges: readonly PostingRange[], idf: number, averageLength: number): void {
  const { postingDocuments, postingFrequencies, lengths } = segment;
  for (const [from, to] of ranges)
    for (let at = from; at < to; at += 1) {
      const row = postingDocuments[at] ?? 0;
      const sum = (frequencies[row] ?? 0) + (postingFrequencies[at] ?? 0);
      frequencies[row] = Math.min(sum, LONGEST_FREQUENCY);
    }
  for (const [from, to] of ranges)
    for (let at = from; at < to; at += 1) {
      const row = postingDocuments[at] ?? 0;
      const frequency = frequencies[row] ?? 0;
      if (frequency === 0) continue;
      frequencies[row] = 0;
      scores[row] = (scores[row] ?? 0) + idf * saturate(frequency, lengths[row] ?? 0, averageLength);
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

/** Into `smoothed`. What is said in a conversation is often about what stands next to it. */
function smoothScores(segment: Segment, dead: Uint8Array | undefined): void {
  const { documents, rowGroups } = segment;
  if (dead !== undefined) for (let row = 0; row < documents; row += 1) if (dead[row] !== 0) scores[row] = 0;
  const talks = talksOf(segment);
  let before = -1;
  for (let row = 0; row < documents; row += 1) {
    const talk = talks[rowGroups[row] ?? 0] ?? -1;
    const after = row + 1 < documents ? (talks[rowGroups[row + 1] ?? 0] ?? -1) : -1;
    let score = scores[row] ?? 0;
    if (talk >= 0 && before === talk) score += NEIGHBOURS.previous * (scores[row - 1] ?? 0);
    if (talk >= 0 && after === talk) score += NEIGHBOURS.next * (scores[row + 1] ?? 0);
    smoothed[row] = score;
    before = talk;
  }
}

const knownTalks = new WeakMap<Segment, Int32Array>();

/** A number for each group, the same for all of one conversation; -1 for what is none. */
function talksOf(segment: Segment): Int32Array {
  const known = knownTalks.get(segment);
  if (known !== undefined) return known;
  const numbers = new Map<string, number>();
  const talks = Int32Array.from(segment.groups(), ({ kind, sessionId, key }) => {
    if (kind !== "conversation") return -1;
    const talk = sessionId === "" ? key : sessionId;
    const number = numbers.get(talk) ?? numbers.size;
    numbers.set(talk, number);
    return number;
  });
  knownTalks.set(segment, talks);
  return talks;
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

/** `best` stays sorted and at most `limit` long. */
function keeperOf(best: RankedDocument[], segment: Segment, which: number, limit: number): Keeper {
  const leastOf = () => (best.length < limit ? 0 : (best[best.length - 1]?.score ?? 0));
  const keeper: Keeper = {
    least: leastOf(),
    offer(row, score) {
      const id = segment.ids[row] ?? 0;
      let low = 0;
      let high = best.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        const other = best[middle];
        if (other !== undefined && (other.score > score || (other.score === score && other.id < id))) low = middle + 1;
        else high = middle;
      }
      if (low >= limit) return;
      best.splice(low, 0, { segment: which, row, id, score });
      if (best.length > limit) best.pop();
      keeper.least = leastOf();
    },
  };
  return keeper;
}
