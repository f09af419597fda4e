/** As much of their shingles must two texts share, of those that either has, to say the same. */
const SAME_SHARE = 0.8;
const SHINGLE_WORDS = 4;
/** Of a longer text its beginning decides. */
const TEXT_LIMIT_CHARS = 16_384;
const WORD = /[\p{L}\p{N}]+/gu;

export type FoldingText = {
  readonly text: string;
  /** Whose words these are: an owner's sentence never disappears behind a stranger's copy of it. */
  readonly author: string;
};

/**
 * For each text the index of the earlier one that says nearly the same, or its own. The first of a group stands for all of
 * it, and is never folded itself.
 */
export function foldNearDuplicates(texts: readonly FoldingText[]): number[] {
  const firsts: { readonly index: number; readonly author: string; readonly shingles: Uint32Array }[] = [];
  return texts.map(({ text, author }, index) => {
    const shingles = shinglesOf(text);
    const same = firsts.find((first) => first.author === author && likeness(first.shingles, shingles) >= SAME_SHARE);
    if (same === undefined) firsts.push({ index, author, shingles });
    return same?.index ?? index;
  });
}

/** Hashes of all runs of some words, ascending, each once; a shorter text is one run. */
function shinglesOf(text: string): Uint32Array {
  const words = text.slice(0, TEXT_LIMIT_CHARS).toLowerCase().match(WORD) ?? [];
  const hashes = words.map(hashWord);
  const shingles = new Set<number>();
  for (let start = 0; start + SHINGLE_WORDS <= hashes.length; start += 1) {
    shingles.add(mix(hashes, start, start + SHINGLE_WORDS));
  }
  if (shingles.size === 0) shingles.add(mix(hashes, 0, hashes.length));
  return Uint32Array.from(shingles).sort();
}

/** The share of shingles that both have, of those that either has (Jaccard). Both are ascending. */
function likeness(one: Uint32Array, other: Uint32Array): number {
  let both = 0;
  for (let left = 0, right = 0; left < one.length && right < other.length; ) {
    const [a = 0, b = 0] = [one[left], other[right]];
    if (a === b) both += 1;
    if (a <= b) left += 1;
    if (b <= a) right += 1;
  }
  return both / (one.length + other.length - both);
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hashWord(word: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x0100_0193);
  return hash >>> 0;
}

function mix(hashes: readonly number[], start: number, end: number): number {
  let hash = 0x811c_9dc5;
  for (let at = start; at < end; at += 1) {
    hash = Math.imul(hash ^ (hashes[at] ?? 0), 0x0100_0193);
    hash = (hash << 13) | (hash >>> 19);
  }
  return hash >>> 0;
}
