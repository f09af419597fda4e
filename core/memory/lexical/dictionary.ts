import type { Segment } from "./segment.ts";

// The terms of a segment, sorted by their UTF-8 bytes: one, all with a prefix, or those that look like a misspelt one.

const decoder = new TextDecoder();

/** The number of a term in a segment, or -1. */
export function findTerm(segment: Segment, term: Uint8Array): number {
  const number = lowerBound(segment, term, 0, termCount(segment));
  return number < termCount(segment) && startsWith(segment, number, term) && termLength(segment, number) === term.length
    ? number
    : -1;
}

/** The numbers [from, to) of the terms that begin with these bytes, of all or of those in a span. */
export function findPrefix(
  segment: Segment,
  prefix: Uint8Array,
  [first, end]: readonly [number, number] = [0, termCount(segment)],
): readonly [number, number] {
  const from = lowerBound(segment, prefix, first, end);
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (startsWith(segment, middle, prefix)) low = middle + 1;
    else high = middle;
  }
  return [from, low];
}

export function termCount(segment: Segment): number {
  return segment.termStarts.length - 1;
}

function termLength(segment: Segment, number: number): number {
  return (segment.termStarts[number + 1] ?? 0) - (segment.termStarts[number] ?? 0);
}

export function termText(segment: Segment, number: number): string {
  // A decoder takes no shared bytes, so they are copied.
  return decoder.decode(segment.termBytes.slice(segment.termStarts[number] ?? 0, segment.termStarts[number + 1] ?? 0));
}

/** The first term that does not stand before these bytes. */
function lowerBound(segment: Segment, term: Uint8Array, first: number, end: number): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(segment, middle, term) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare({ termStarts, termBytes }: Segment, number: number, term: Uint8Array): number {
  const start = termStarts[number] ?? 0;
  const length = (termStarts[number + 1] ?? 0) - start;
  const shorter = Math.min(length, term.length);
  for (let index = 0; index < shorter; index += 1) {
    const difference = (termBytes[start + index] ?? 0) - (term[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return length - term.length;
}

function startsWith({ termStarts, termBytes }: Segment, number: number, prefix: Uint8Array): boolean {
  const start = termStarts[number] ?? 0;
  if ((termStarts[number + 1] ?? 0) - start < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) if (termBytes[start + index] !== prefix[index]) return false;
  return true;
}
