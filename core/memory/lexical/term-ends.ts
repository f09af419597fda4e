import type { Segment } from "./segment.ts";

// The terms of a segment by how they end: the way to a word whose beginning is misspelt. Few queries go it, so the order is
// not stored: a thread sorts the terms of a segment when it meets the first of them.

/** So many of the last bytes of a term count. */
const END_BYTES = 4;
const BYTE_VALUES = 256;
const BYTE_BITS = 8;

type Terms = Pick<Segment, "termStarts" | "termBytes">;

/**
 * Numbers of terms by their last byte, then the one before it; where all four are alike, in their order. The engine sorts plain
 * numbers many times faster than by a function, so the end of each term and its number make one.
 */
export function sortTermEnds({ termStarts, termBytes }: Terms): Uint32Array {
  const count = termStarts.length - 1;
  const keys = new BigUint64Array(count);
  // Low word first: that is how this build's machines keep them, and the files of segments.
  const words = new Uint32Array(keys.buffer);
  for (let number = 0; number < count; number += 1) {
    words[number * 2] = number;
    words[number * 2 + 1] = endOf(termBytes, termStarts[number] ?? 0, termStarts[number + 1] ?? 0);
  }
  keys.sort();
  const sorted = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) sorted[at] = words[at * 2] ?? 0;
  return sorted;
}

/** The numbers of the terms whose last bytes are these, of which the last four count. */
export function termsEnding(segment: Segment, end: Uint8Array): Uint32Array {
  const least = endOf(end, 0, end.length);
  const beyond = least + BYTE_VALUES ** Math.max(END_BYTES - end.length, 0);
  return segment.termsByEnd().subarray(placeOf(segment, least), placeOf(segment, beyond));
}

/** The place of the first whose end is not below this one. */
function placeOf(segment: Segment, least: number): number {
  const { termStarts, termBytes } = segment;
  const numbers = segment.termsByEnd();
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const number = numbers[middle] ?? 0;
    if (endOf(termBytes, termStarts[number] ?? 0, termStarts[number + 1] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last four of the bytes [start, end) as one number, in which the last counts most; zeros, which no term holds, where there are none. */
function endOf(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let place = 1; place <= END_BYTES; place += 1)
    key = (key << BYTE_BITS) | (end - place < start ? 0 : (bytes[end - place] ?? 0));
  return key >>> 0;
}
