import { findPrefix, findTerm } from "./dictionary.ts";
import { nearTerms } from "./fuzzy.ts";
import type { Condition, LexicalQuery, QueryPrefix } from "./query-terms.ts";
import type { Segment } from "./segment.ts";

/** Each costs a walk through all dictionaries. */
const FUZZY_LIMIT_TERMS = 4;

/** What is ranked. */
export type RankedSegment = {
  readonly segment: Segment;
  /** A byte a row, other than 0 where a row may be answered; undefined when all may. Bars the dead too. */
  readonly mask: Uint8Array | undefined;
  /** A byte a row, other than 0 for a row that is gone: it does not count in the statistics. Undefined when none is. */
  readonly dead?: Uint8Array | undefined;
};

/** Postings [from, to). */
export type PostingRange = readonly [from: number, to: number];

/** One thing that adds to scores: a term, or all terms of a prefix as if they were one. */
export type ScoredTerm = {
  readonly idf: number;
  /** For each segment the number of the term there, -1 when it has none; undefined for a prefix. */
  readonly numbers: readonly number[] | undefined;
  /** For each segment. */
  readonly ranges: readonly (readonly PostingRange[])[];
};

/** For each segment lists of postings; a row satisfies it that is in each of them. */
export type PlannedCondition = readonly (readonly (readonly PostingRange[])[])[];

export type QueryPlan = {
  /** Terms in the mean document. */
  readonly averageLength: number;
  readonly terms: readonly ScoredTerm[];
  readonly required: readonly PlannedCondition[];
  readonly excluded: readonly PlannedCondition[];
};

const encoder = new TextEncoder();

/**
 * Looks a query up in all segments. Statistics are those of all living documents of all segments, masked or not: scores
 * depend neither on how documents are divided nor on what is filtered.
 */
export function planQuery(inputs: readonly RankedSegment[], query: LexicalQuery): QueryPlan {
  const { documents, averageLength } = countDocuments(inputs);
  const segments = inputs.map(({ segment }) => segment);
  const scored = new Map<string, ScoredTerm>();
  const add = (term: string, weight: number) => {
    const found = lookUpTerm(inputs, term, documents, weight);
    if (found !== undefined && !scored.has(term)) scored.set(term, found);
    return found !== undefined;
  };
  // An identifier as a whole is new most of the time, and its parts are mended anyway.
  const living = (which: number, number: number) => {
    const input = inputs[which];
    if (input === undefined) return 0;
    return rangeOf(input.segment, number).reduce((sum, range) => sum + countLiving(input, range), 0);
  };
  const unknown = query.terms.filter((term) => !add(term, 1) && !query.joined.has(term));
  for (const term of unknown.slice(0, FUZZY_LIMIT_TERMS))
    for (const near of nearTerms(segments, term, living)) add(near.term, near.weight);
  const prefixes = query.prefixes.map((prefix) => lookUpPrefix(inputs, prefix, documents));
  return {
    averageLength,
    terms: [...scored.values(), ...prefixes],
    required: query.required.map((condition) => planCondition(segments, condition)),
    excluded: query.excluded.map((condition) => planCondition(segments, condition)),
  };
}

/** How common terms are among the living documents of all segments. */
export function termStatistics(inputs: readonly RankedSegment[]): {
  readonly documents: number;
  frequencyOf(term: string): number;
} {
  return {
    documents: countDocuments(inputs).documents,
    frequencyOf(term) {
      const bytes = encoder.encode(term);
      let frequency = 0;
      for (const input of inputs)
        for (const range of rangeOf(input.segment, findTerm(input.segment, bytes)))
          frequency += countLiving(input, range);
      return frequency;
    },
  };
}

function countDocuments(inputs: readonly RankedSegment[]): {
  readonly documents: number;
  readonly averageLength: number;
} {
  let documents = 0;
  let lengthTotal = 0;
  for (const { segment, dead } of inputs) {
    documents += segment.documents;
    lengthTotal += segment.lengthTotal;
    if (dead === undefined) continue;
    for (let row = 0; row < segment.documents; row += 1) {
      if (dead[row] === 0) continue;
      documents -= 1;
      lengthTotal -= segment.lengths[row] ?? 0;
    }
  }
  return { documents, averageLength: documents === 0 ? 1 : lengthTotal / documents };
}

function inverseFrequency(documents: number, frequency: number): number {
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

function lookUpTerm(
  inputs: readonly RankedSegment[],
  term: string,
  documents: number,
  weight: number,
): ScoredTerm | undefined {
  const bytes = encoder.encode(term);
  const numbers = inputs.map(({ segment }) => findTerm(segment, bytes));
  const ranges = inputs.map(({ segment }, which) => rangeOf(segment, numbers[which] ?? -1));
  let frequency = 0;
  for (const [which, input] of inputs.entries())
    for (const range of ranges[which] ?? []) frequency += countLiving(input, range);
  return frequency === 0 ? undefined : { idf: weight * inverseFrequency(documents, frequency), numbers, ranges };
}

function rangeOf({ postingStarts }: Segment, number: number): readonly PostingRange[] {
  return number < 0 ? [] : [[postingStarts[number] ?? 0, postingStarts[number + 1] ?? 0]];
}

function countLiving({ segment, dead }: RankedSegment, [from, to]: PostingRange): number {
  if (dead === undefined) return to - from;
  let living = 0;
  for (let at = from; at < to; at += 1) if (dead[segment.postingDocuments[at] ?? 0] === 0) living += 1;
  return living;
}

function lookUpPrefix(inputs: readonly RankedSegment[], prefix: QueryPrefix, documents: number): ScoredTerm {
  const ranges = inputs.map(({ segment }) => prefixRanges(segment, prefix));
  let frequency = 0;
  for (const [which, { segment, dead }] of inputs.entries()) {
    const met = new Uint8Array(segment.documents);
    for (const [from, to] of ranges[which] ?? [])
      for (let at = from; at < to; at += 1) {
        const row = segment.postingDocuments[at] ?? 0;
        if (met[row] === 0 && (dead === undefined || dead[row] === 0)) frequency += 1;
        met[row] = 1;
      }
  }
  return { idf: inverseFrequency(documents, frequency), numbers: undefined, ranges };
}

/** The postings of terms that stand together stand together as well. */
function prefixRanges(segment: Segment, { prefix, stems }: QueryPrefix): readonly PostingRange[] {
  const { postingStarts } = segment;
  const [first, end] = findPrefix(segment, encoder.encode(prefix));
  const ranges = stems.flatMap((stem) => rangeOf(segment, findTerm(segment, encoder.encode(stem))));
  if (end > first) ranges.push([postingStarts[first] ?? 0, postingStarts[end] ?? 0]);
  return ranges;
}

function planCondition(segments: readonly Segment[], condition: Condition): PlannedCondition {
  if (condition.kind === "prefix") return segments.map((segment) => [prefixRanges(segment, condition.prefix)]);
  const terms = condition.terms.map((term) => encoder.encode(term));
  return segments.map((segment) => terms.map((term) => rangeOf(segment, findTerm(segment, term))));
}
