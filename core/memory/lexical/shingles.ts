import { HASH_FACTOR, HASH_START, hashUnits, spreadBits } from "./unit-hash.ts";

/** Words that a shingle joins. */
const SHINGLE_WORDS = 3;
/** Least values that a sketch keeps beside its first number, each under a mixing of its own. */
const BANDS = 6;
const BAND_STEP = 0x9e37_79b9;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** Numbers in the sketch of one text. */
export const SKETCH_LENGTH = 1 + BANDS;

/** Hashes of every run of three words, ascending, each once; of fewer words, of all of them together. */
export type Shingles = Uint32Array;

export function shinglesOf(text: string): Shingles {
  return shinglesOfWords(hashWords(text));
}

/** The share of the shingles of either text that both have, from 0 to 1 (Jaccard); 0 for two texts without words. */
export function sharedShare(one: Shingles, other: Shingles): number {
  let both = 0;
  for (let left = 0, right = 0; left < one.length && right < other.length; ) {
    const [a = 0, b = 0] = [one[left], other[right]];
    if (a === b) both += 1;
    if (a <= b) left += 1;
    if (b <= a) right += 1;
  }
  return both === 0 ? 0 : both / (one.length + other.length - both);
}

/** How much alike two texts are, from 0 to 1: 1 when they have the same words, else the share of shingles that both have. */
export function likeness(one: string, other: string): number {
  const [words, otherWords] = [hashWords(one), hashWords(other)];
  if (words.length === 0 || otherWords.length === 0) return 0;
  if (wordKey(words) === wordKey(otherWords)) return 1;
  return sharedShare(shinglesOfWords(words), shinglesOfWords(otherWords));
}

/**
 * A few numbers a text, one text's after the other's: two texts of a likeness of .8 and more have a number in common in
 * the same place, but for one in ten thousand. A text without words has zeros, which mean nothing.
 */
export function sketchTexts(texts: readonly string[]): Uint32Array {
  const sketches = new Uint32Array(texts.length * SKETCH_LENGTH);
  for (const [index, text] of texts.entries()) {
    const words = hashWords(text);
    if (words.length === 0) continue;
    const at = index * SKETCH_LENGTH;
    sketches.fill(0xffff_ffff, at + 1, at + SKETCH_LENGTH);
    sketches[at] = wordKey(words);
    for (const shingle of shinglesOfWords(words)) {
      for (let band = 1; band <= BANDS; band += 1) {
        const value = spreadBits(shingle + Math.imul(band, BAND_STEP));
        if (value < (sketches[at + band] ?? 0)) sketches[at + band] = value;
      }
    }
  }
  return sketches;
}

/** The words of a text as two people would read them aloud: case, marks and punctuation do not count. */
function hashWords(text: string): number[] {
  return (text.normalize("NFKC").toLowerCase().match(WORD) ?? []).map((word) => spreadBits(hashUnits(word)));
}

function shinglesOfWords(words: readonly number[]): Shingles {
  const shingles = new Set<number>();
  for (let at = 0; at + SHINGLE_WORDS <= words.length; at += 1) shingles.add(joinHashes(words, at, at + SHINGLE_WORDS));
  if (shingles.size === 0 && words.length > 0) shingles.add(joinHashes(words, 0, words.length));
  return Uint32Array.from(shingles).sort();
}

/** One number for the set of words, whatever their order. */
function wordKey(words: readonly number[]): number {
  const distinct = Uint32Array.from(new Set(words)).sort();
  return joinHashes(distinct, 0, distinct.length);
}

function joinHashes(hashes: ArrayLike<number>, start: number, end: number): number {
  let joined = HASH_START;
  for (let at = start; at < end; at += 1) joined = spreadBits(Math.imul(joined ^ (hashes[at] ?? 0), HASH_FACTOR));
  return joined;
}
