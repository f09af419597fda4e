import type { Segment } from "./segment.ts";

/** Term saturation and length normalisation: one setting for prose, chat and code, made possible by the length floor. */
const BM25 = { k1: 1.2, b: 0.75 } as const;

/** What BM25 makes of a frequency in a document of this length, before the term's own weight. */
export function saturate(frequency: number, length: number, averageLength: number): number {
  const norm = BM25.k1 * (1 - BM25.b + (BM25.b * length) / averageLength);
  return (frequency * (BM25.k1 + 1)) / (frequency + norm);
}

type Impacts = {
  readonly averageLength: number;
  /** One a posting. Memory that was never written is never taken from the machine. */
  readonly values: Float32Array;
  /** 1 for a term whose values are there. */
  readonly ready: Uint8Array;
};

const known = new WeakMap<Segment, Impacts>();

/**
 * `saturate` of every posting, in single precision; those of this term are filled in. Most queries share their terms, so
 * they are kept with the segment until the average length changes.
 */
export function impactsOf(segment: Segment, term: number, averageLength: number): Float32Array {
  let impacts = known.get(segment);
  if (impacts === undefined || impacts.averageLength !== averageLength) {
    impacts = {
      averageLength,
      values: impacts?.values ?? new Float32Array(segment.postingDocuments.length),
      ready: new Uint8Array(segment.termStarts.length - 1),
    };
    known.set(segment, impacts);
  }
  if (impacts.ready[term] === 0) {
    fill(segment, term, averageLength, impacts.values);
    impacts.ready[term] = 1;
  }
  return impacts.values;
}

function fill(segment: Segment, term: number, averageLength: number, values: Float32Array): void {
  const { postingStarts, postingDocuments, postingFrequencies, lengths } = segment;
  const end = postingStarts[term + 1] ?? 0;
  for (let at = postingStarts[term] ?? 0; at < end; at += 1)
    values[at] = saturate(postingFrequencies[at] ?? 0, lengths[postingDocuments[at] ?? 0] ?? 0, averageLength);
}
