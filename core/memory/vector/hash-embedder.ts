import { HASH_FACTOR, hashUnits, spreadBits } from "../lexical/unit-hash.ts";
import { normalize } from "./quantize.ts";

// The embedder that needs no model, no key and no network: words, pairs of neighbours and parts of words are hashed to
// places of a vector. It knows no synonyms; what it adds to the index of words is likeness of word forms and order.

/** Names the features and their weights for ever: another form is another name. */
export const HASH_EMBEDDER_ID = "hash-v1";
export const HASH_DIMENSIONS = 2048;

const PAIR_WEIGHT = 0.5;
const PART_WEIGHT = 0.35;
const PART_CHARACTERS = 4;
const CACHE_LIMIT_TERMS = 50_000;
/** Kinds of features, so that the word "ab" and the part "ab" are different ones. */
const [WORD, PAIR, PART] = ["w", "p", "c"] as const;

/** How common terms are among the pieces that a search looks at. */
export type TermStatistics = {
  readonly documents: number;
  /** In how many of them a term is. */
  frequencyOf(term: string): number;
};

/** Gives vectors of length one, or all zeros for a text without terms. */
export type HashEmbedder = {
  /** Depends on nothing but the text, so that it holds whatever else is indexed. Some 100 µs for 1,000 characters. */
  document(text: string): Float32Array;
  /** Rare terms count for more. */
  query(text: string, statistics: TermStatistics): Float32Array;
};

type Feature = { readonly place: number; readonly sign: number };
/** A term's own feature and those of its parts. */
type TermFeatures = { readonly word: Feature; readonly parts: readonly Feature[]; readonly hash: number };

/** @param analyze text to terms, the same that the index of words uses. Keeps a bounded cache, so make one a thread. */
export function createHashEmbedder(analyze: (text: string) => readonly string[]): HashEmbedder {
  const cache = new Map<string, TermFeatures>();

  function featureOf(hash: number): Feature {
    // The sign comes from other bits than the place, so that features that meet cancel out on average.
    const mixed = spreadBits(hash);
    return { place: (mixed >>> 1) % HASH_DIMENSIONS, sign: mixed & 1 ? 1 : -1 };
  }

  function featuresOf(term: string): TermFeatures {
    const known = cache.get(term);
    if (known !== undefined) return known;
    const hash = hashText(WORD, term);
    const parts = partsOf(term).map((part) => featureOf(hashText(PART, part)));
    const features = { word: featureOf(hash), parts, hash };
    if (cache.size >= CACHE_LIMIT_TERMS) cache.clear();
    cache.set(term, features);
    return features;
  }

  function embed(text: string, rarity: (term: string) => number): Float32Array {
    const terms = analyze(text);
    const vector = new Float32Array(HASH_DIMENSIONS);
    const add = ({ place, sign }: Feature, weight: number) => {
      vector[place] = (vector[place] ?? 0) + sign * weight;
    };
    const counts = new Map<string, number>();
    const pairs = new Map<number, { count: number; readonly rarity: number }>();
    let before: string | undefined;
    for (const term of terms) {
      counts.set(term, (counts.get(term) ?? 0) + 1);
      if (before !== undefined) {
        const hash = hashNumbers(featuresOf(before).hash, featuresOf(term).hash);
        const pair = pairs.get(hash);
        if (pair === undefined) pairs.set(hash, { count: 1, rarity: rarity(before) * rarity(term) });
        else pair.count += 1;
      }
      before = term;
    }
    for (const [term, count] of counts) {
      const { word, parts } = featuresOf(term);
      const weight = rarity(term) ** 2 * dampen(count);
      add(word, weight);
      for (const part of parts) add(part, weight * PART_WEIGHT);
    }
    for (const [hash, pair] of pairs) add(featureOf(hash), pair.rarity * dampen(pair.count) * PAIR_WEIGHT);
    return normalize(vector);
  }

  return {
    document: (text) => embed(text, () => 1),
    query: (text, statistics) => embed(text, (term) => rarityOf(statistics.frequencyOf(term), statistics.documents)),
  };
}

/** Inverse document frequency, as BM25 has it. */
function rarityOf(frequency: number, documents: number): number {
  return Math.log(1 + (Math.max(documents - frequency, 0) + 0.5) / (frequency + 0.5));
}

function dampen(count: number): number {
  return 1 + Math.log(count);
}

/** All runs of four characters of a term with its ends marked; of shorter terms the term itself. */
function partsOf(term: string): string[] {
  const marked = `^${term}$`;
  const count = Math.max(marked.length - PART_CHARACTERS + 1, 1);
  return Array.from({ length: count }, (_, start) => marked.slice(start, start + PART_CHARACTERS));
}

function hashText(kind: string, text: string): number {
  return hashUnits(text, hashUnits(kind)) >>> 0;
}

function hashNumbers(first: number, second: number): number {
  let hash = hashUnits(PAIR);
  for (const number of [first, second])
    for (let shift = 0; shift < 32; shift += 8) hash = Math.imul(hash ^ ((number >>> shift) & 0xff), HASH_FACTOR);
  return hash >>> 0;
}
