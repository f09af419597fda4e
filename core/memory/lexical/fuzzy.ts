import { termCount, termText } from "./dictionary.ts";
import type { Segment } from "./segment.ts";

// Words of a query that no document holds are most often misspelt: what is spelt nearly so stands in for them.

/** Shorter words are near to too many others. */
const FUZZY_LEAST_CHARS = 4;
/** From this length on two mistakes are forgiven. */
const TWO_MISTAKES_CHARS = 8;
const FUZZY_LIMIT_CHARS = 40;
const FUZZY_LIMIT_MATCHES = 3;
/** What a term counts that is that many mistakes away. */
const WEIGHTS = [1, 0.6, 0.35] as const;
const CHARACTER_LIMIT_BYTES = 4;
const NOT_ASCII = 1 << 27;
const HAS_LETTER = /\p{L}/u;

export type NearTerm = { readonly term: string; readonly weight: number };

/**
 * The nearest terms of all segments: fewest mistakes first, then the most frequent, then by their letters. `countLiving` says
 * how many documents that are not gone hold a term, so that words of the dead stand in for nothing.
 */
export function nearTerms(
  segments: readonly Segment[],
  term: string,
  countLiving: (segment: number, term: number) => number,
): NearTerm[] {
  const limit = forgivenMistakes(term);
  if (limit === 0) return [];
  const found = new Map<string, { readonly mistakes: number; documents: number }>();
  const bytes = new TextEncoder().encode(term);
  const wanted = signatureOf(bytes);
  for (const [which, segment] of segments.entries()) {
    const signatures = signaturesOf(segment);
    const { termStarts } = segment;
    for (let number = 0; number < signatures.length; number += 1) {
      const signature = signatures[number] ?? 0;
      // Each mistake takes one letter and brings one at most, and so with the length: most terms end here.
      const apart = Math.abs((termStarts[number + 1] ?? 0) - (termStarts[number] ?? 0) - bytes.length);
      if (apart > limit && (apart > limit * CHARACTER_LIMIT_BYTES || ((signature | wanted) & NOT_ASCII) === 0))
        continue;
      if (countBits(signature & ~wanted) > limit || countBits(wanted & ~signature) > limit) continue;
      const other = termText(segment, number);
      const mistakes = countMistakes(term, other, limit);
      if (mistakes > limit) continue;
      const documents = countLiving(which, number);
      if (documents === 0) continue;
      const known = found.get(other);
      if (known === undefined) found.set(other, { mistakes, documents });
      else known.documents += documents;
    }
  }
  return [...found]
    .sort(([a, one], [b, two]) => one.mistakes - two.mistakes || two.documents - one.documents || (a < b ? -1 : 1))
    .slice(0, FUZZY_LIMIT_MATCHES)
    .map(([near, { mistakes }]) => ({ term: near, weight: WEIGHTS[mistakes] ?? 0 }));
}

/** Whether a term may be meant by one that was asked for. */
export function isNear(asked: string, term: string): boolean {
  const limit = forgivenMistakes(asked);
  return limit > 0 && countMistakes(asked, term, limit) <= limit;
}

function forgivenMistakes(term: string): number {
  if (term.length < FUZZY_LEAST_CHARS || term.length > FUZZY_LIMIT_CHARS || !HAS_LETTER.test(term)) return 0;
  return term.length >= TWO_MISTAKES_CHARS ? 2 : 1;
}

const knownSignatures = new WeakMap<Segment, Uint32Array>();

function signaturesOf(segment: Segment): Uint32Array {
  const known = knownSignatures.get(segment);
  if (known !== undefined) return known;
  const made = Uint32Array.from({ length: termCount(segment) }, (_, number) =>
    signatureOf(segment.termBytes.subarray(segment.termStarts[number] ?? 0, segment.termStarts[number + 1] ?? 0)),
  );
  knownSignatures.set(segment, made);
  return made;
}

/** Which letters there are, one bit each; all else shares what bits are left. */
function signatureOf(bytes: Uint8Array): number {
  let signature = 0;
  for (const byte of bytes) signature |= 1 << (byte >= 0x61 && byte <= 0x7a ? byte - 0x61 : byte < 0x80 ? 26 : 27);
  return signature;
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/**
 * Letters put in, left out, changed, or two neighbours swapped (Damerau–Levenshtein, each place touched once); more than
 * the limit is not counted out.
 */
export function countMistakes(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let beforeLast = new Uint8Array(other.length + 1);
  let last = Uint8Array.from({ length: other.length + 1 }, (_, column) => column);
  let current = new Uint8Array(other.length + 1);
  for (let row = 1; row <= one.length; row += 1) {
    // Whoever is further from the diagonal than the limit has made more mistakes already.
    const from = Math.max(1, row - limit);
    const to = Math.min(other.length, row + limit);
    let least = from === 1 ? row : limit + 1;
    current[from - 1] = least;
    if (to < other.length) current[to + 1] = limit + 1;
    for (let column = from; column <= to; column += 1) {
      const changed = one.charCodeAt(row - 1) === other.charCodeAt(column - 1) ? 0 : 1;
      let cost = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + changed);
      const swapped =
        row > 1 &&
        column > 1 &&
        one.charCodeAt(row - 1) === other.charCodeAt(column - 2) &&
        one.charCodeAt(row - 2) === other.charCodeAt(column - 1);
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current[column] = cost;
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[other.length] ?? limit + 1;
}
