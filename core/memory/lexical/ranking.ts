import { findTerm, type Segment } from "./segment.ts";

/** Term saturation and length normalisation: one setting for prose, chat and code, made possible by the length floor. */
const BM25 = { k1: 1.2, b: 0.75 } as const;
const QUERY_LIMIT_TERMS = 64;

export type RankedDocument = {
  /** Which of the segments, from 0. */
  readonly segment: number;
  /** The document's id. */
  readonly id: number;
  readonly score: number;
};

type QueryTerm = { readonly idf: number; readonly numbers: readonly number[] };

const encoder = new TextEncoder();

/**
 * The best documents over all segments, best first; equal scores by ascending id. Statistics (document count, document
 * frequencies, average length) are taken over all segments, so the answer does not depend on how documents are divided.
 * A document needs one of the terms, a term counts once; terms after the 64th are ignored.
 */
export function rankDocuments(segments: readonly Segment[], terms: readonly string[], limit: number): RankedDocument[] {
  const documents = segments.reduce((sum, segment) => sum + segment.documents, 0);
  const averageLength = segments.reduce((sum, segment) => sum + segment.lengthTotal, 0) / documents;
  const distinct = [...new Set(terms)].slice(0, QUERY_LIMIT_TERMS);
  const queryTerms = distinct.map((term) => lookUp(segments, term, documents));
  const best: RankedDocument[] = [];
  for (const [number, segment] of segments.entries()) {
    const scores = scoreSegment(segment, number, queryTerms, averageLength);
    keepBest(best, segment, number, scores, limit);
  }
  return best;
}

function lookUp(segments: readonly Segment[], term: string, documents: number): QueryTerm {
  const bytes = encoder.encode(term);
  const numbers = segments.map((segment) => findTerm(segment, bytes));
  let frequency = 0;
  for (const [index, number] of numbers.entries()) {
    const starts = segments[index]?.postingStarts;
    if (number >= 0 && starts !== undefined) frequency += (starts[number + 1] ?? 0) - (starts[number] ?? 0);
  }
  return { idf: Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5)), numbers };
}

function scoreSegment(
  segment: Segment,
  which: number,
  terms: readonly QueryTerm[],
  averageLength: number,
): Float64Array {
  const scores = new Float64Array(segment.documents);
  const { postingStarts, postingDocuments, postingFrequencies, lengths } = segment;
  for (const { idf, numbers } of terms) {
    const number = numbers[which] ?? -1;
    if (number < 0) continue;
    const end = postingStarts[number + 1] ?? 0;
    for (let at = postingStarts[number] ?? 0; at < end; at += 1) {
      const document = postingDocuments[at] ?? 0;
      const frequency = postingFrequencies[at] ?? 0;
      const norm = BM25.k1 * (1 - BM25.b + (BM25.b * (lengths[document] ?? 0)) / averageLength);
      scores[document] = (scores[document] ?? 0) + (idf * (frequency * (BM25.k1 + 1))) / (frequency + norm);
    }
  }
  return scores;
}

/** `best` stays sorted and at most `limit` long. */
function keepBest(best: RankedDocument[], segment: Segment, which: number, scores: Float64Array, limit: number): void {
  for (let document = 0; document < scores.length; document += 1) {
    const score = scores[document] ?? 0;
    if (score === 0) continue;
    const id = segment.ids[document] ?? 0;
    const worst = best[best.length - 1];
    if (best.length >= limit && worst !== undefined && !precedes(score, id, worst)) continue;
    let at = best.length;
    for (let before = best[at - 1]; before !== undefined && precedes(score, id, before); before = best[at - 1]) at -= 1;
    best.splice(at, 0, { segment: which, id, score });
    if (best.length > limit) best.pop();
  }
}

function precedes(score: number, id: number, other: RankedDocument): boolean {
  return score > other.score || (score === other.score && id < other.id);
}
