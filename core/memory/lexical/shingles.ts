/** Words that a shingle joins. */
const SHINGLE_WORDS = 3;
/** Least values that a sketch keeps beside its first number, each under a mixing of its own. */
const BANDS = 6;

/** Numbers in the sketch of one text. */
export const SKETCH_LENGTH = 1 + BANDS;

/** The words of a text as two people would read them aloud: case, marks and punctuation do not count. */
function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  );
}

/** FNV-1a with a last mixing, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mix(hash);
}

function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Hashes of every run of three words; of fewer words, of all of them together. */
function shinglesOf(words: readonly string[]): Set<number> {
  const shingles = new Set<number>();
  if (words.length < SHINGLE_WORDS) return words.length === 0 ? shingles : shingles.add(hashOf(words.join(" ")));
  for (let at = 0; at + SHINGLE_WORDS <= words.length; at += 1) {
    shingles.add(hashOf(words.slice(at, at + SHINGLE_WORDS).join(" ")));
  }
  return shingles;
}

/** One number for the set of words, whatever their order. */
function wordKey(words: readonly string[]): number {
  return hashOf([...new Set(words)].sort().join(" "));
}

/**
 * How much alike two texts are, from 0 to 1: 1 when they have the same words, else the share of their shingles that both
 * have (Jaccard).
 */
export function likeness(one: string, other: string): number {
  const [words, otherWords] = [wordsOf(one), wordsOf(other)];
  if (words.length === 0 || otherWords.length === 0) return 0;
  if (wordKey(words) === wordKey(otherWords)) return 1;
  const [shingles, otherShingles] = [shinglesOf(words), shinglesOf(otherWords)];
  let shared = 0;
  for (const shingle of shingles) if (otherShingles.has(shingle)) shared += 1;
  return shared / (shingles.size + otherShingles.size - shared);
}

/**
 * A few numbers a text, one text's after the other's: two texts of a likeness of .8 and more have a number in common in
 * the same place, but for one in ten thousand. A text without words has zeros, which mean nothing.
 */
export function sketchTexts(texts: readonly string[]): Uint32Array {
  const sketches = new Uint32Array(texts.length * SKETCH_LENGTH);
  for (const [index, text] of texts.entries()) {
    const words = wordsOf(text);
    if (words.length === 0) continue;
    const at = index * SKETCH_LENGTH;
    sketches.fill(0xffffffff, at + 1, at + SKETCH_LENGTH);
    sketches[at] = wordKey(words);
    for (const shingle of shinglesOf(words)) {
      for (let band = 1; band <= BANDS; band += 1) {
        const value = mix(shingle + Math.imul(band, 0x9e3779b9));
        if (value < (sketches[at + band] ?? 0)) sketches[at + band] = value;
      }
    }
  }
  return sketches;
}
