import { findPrefix, termCount, termText } from "./dictionary.ts";
import { countUnitMistakes, putUnits } from "./mistakes.ts";
import type { Segment } from "./segment.ts";
import { termsEnding } from "./term-ends.ts";

// Which terms of a segment are spelt nearly like a word, without a look at each. Of one or two mistakes either none, or all
// but one, lie in the second half of the word. So a near term begins as the first half does, but for a mistake less than are
// forgiven, or it ends as the second half does; both are found by halving, and only what is found is compared.

const CHARACTER_LIMIT_BYTES = 4;
const ASCII_LIMIT = 0x80;
/** The least first bytes of UTF-8 characters of two, three and four bytes. */
const [TWO_BYTES, THREE_BYTES, FOUR_BYTES] = [0xc0, 0xe0, 0xf0];

const encoder = new TextEncoder();

type Span = readonly [from: number, to: number];

/** @param limit 1 or 2 mistakes, of UTF-16 units. `see` gets the number of each term that has no more, once, and its mistakes. */
export function visitSpeltLike(
  segment: Segment,
  word: string,
  limit: number,
  see: (term: number, mistakes: number) => void,
): void {
  const characters = Array.from(word, (character) => encoder.encode(character));
  const half = limit === 1 ? (characters.length - 1) >> 1 : characters.length >> 1;
  const judge = judgeOf(segment, word, limit);
  const spans = mergeSpans(spansBeginning(segment, characters.slice(0, half), limit));
  for (const [from, to] of spans)
    for (let term = from; term < to; term += 1) {
      const mistakes = judge(term);
      if (mistakes <= limit) see(term, mistakes);
    }
  // Not from the half itself: two neighbours that were swapped may lie on either side of it.
  for (const term of termsEnding(segment, joinBytes(characters.slice(half + 1)))) {
    const mistakes = judge(term);
    if (mistakes <= limit && !spans.some(([from, to]) => term >= from && term < to)) see(term, mistakes);
  }
}

/** The terms that begin as these characters do, but for one mistake less than the limit. */
function spansBeginning(segment: Segment, start: readonly Uint8Array[], limit: number): Span[] {
  const all: Span = [0, termCount(segment)];
  if (limit === 1) return [findPrefix(segment, joinBytes(start), all)];
  // One mistake in the last character: whatever stands there.
  const spans = [findPrefix(segment, joinBytes(start.slice(0, -1)), all)];
  for (let at = 0; at < start.length - 1; at += 1) {
    const before = joinBytes(start.slice(0, at));
    const within = findPrefix(segment, before, all);
    const own = start.slice(at, at + 1);
    const rest = start.slice(at + 1);
    spans.push(findPrefix(segment, joinBytes([before, ...rest]), within));
    spans.push(findPrefix(segment, joinBytes([before, ...rest.slice(0, 1), ...own, ...rest.slice(1)]), within));
    const changed = joinBytes(rest);
    const moved = joinBytes([...own, ...rest]);
    visitNext(segment, before.length, within, (begun, holding) => {
      spans.push(findPrefix(segment, joinBytes([begun, changed]), holding));
      spans.push(findPrefix(segment, joinBytes([begun, moved]), holding));
    });
  }
  return spans;
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Of terms whose first so many bytes are alike: what stands there up to the next character, and the terms that go on so. */
function visitNext(
  segment: Segment,
  length: number,
  [from, to]: Span,
  see: (begun: Uint8Array, holding: Span) => void,
): void {
  const { termStarts, termBytes } = segment;
  for (let term = from; term < to; ) {
    const start = termStarts[term] ?? 0;
    const at = start + length;
    if (at === (termStarts[term + 1] ?? 0)) {
      term += 1;
      continue;
    }
    const begun = termBytes.subarray(start, at + characterBytes(termBytes[at] ?? 0));
    const holding = findPrefix(segment, begun, [term, to]);
    see(begun, holding);
    term = holding[1];
  }
}

function characterBytes(firstByte: number): number {
  if (firstByte < TWO_BYTES) return 1;
  if (firstByte < THREE_BYTES) return 2;
  return firstByte < FOUR_BYTES ? 3 : CHARACTER_LIMIT_BYTES;
}

/** Ascending, none over another. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: [number, number][] = [];
  for (const [from, to] of spans.filter(([from, to]) => from < to).sort((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before === undefined || before[1] < from) merged.push([from, to]);
    else before[1] = Math.max(before[1], to);
  }
  return merged;
}

/** Counts the mistakes of a term; more than the limit are not counted out. */
function judgeOf(segment: Segment, word: string, limit: number): (term: number) => number {
  const { termStarts, termBytes } = segment;
  const wanted = putUnits(word, new Uint16Array(word.length));
  const wordBytes = encoder.encode(word).length;
  // Each mistake takes one character and brings one at most: most terms end here.
  const least = wordBytes - limit * (wordBytes === word.length ? 1 : CHARACTER_LIMIT_BYTES);
  const most = wordBytes + limit * CHARACTER_LIMIT_BYTES;
  let units = new Uint16Array(most);
  return (term) => {
    const start = termStarts[term] ?? 0;
    const length = (termStarts[term + 1] ?? 0) - start;
    if (length < least || length > most) return limit + 1;
    let at = 0;
    for (let byte = termBytes[start] ?? 0; at < length && byte < ASCII_LIMIT; byte = termBytes[start + at] ?? 0) {
      units[at] = byte;
      at += 1;
    }
    if (at === length) return countUnitMistakes(wanted, word.length, units, length, limit);
    const text = termText(segment, term);
    units = putUnits(text, units);
    return countUnitMistakes(wanted, word.length, units, text.length, limit);
  };
}
