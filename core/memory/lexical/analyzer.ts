import { stemWord } from "./porter-stemmer.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { type Run, runsOf, scanTokens, TERM_LIMIT_CHARS } from "./token.ts";
import { CACHED_LIMIT_UNITS, createTokenCache } from "./token-cache.ts";

/** Part of the store's format: another number means that stored segments are rebuilt. */
export const ANALYZER_VERSION = 2;

const PLAIN_WORD = /^[a-z]+$/;

/** What one token gives. The same object every time while the token is cached. */
export type TokenTerms = {
  readonly terms: readonly string[];
  readonly count: number;
  /** For who builds an index to note the numbers of the terms, and the only one aside: it is looked at for every word. */
  owner: object | undefined;
  number: number;
  numbers: readonly number[];
};

const NO_NUMBERS: readonly number[] = [];

/** Text → terms in order, repeated as often as they occur. Index and query must use the same one. */
export type Analyzer = {
  (text: string): string[];
  /** The same, a token at a time. */
  visit(text: string, see: (found: TokenTerms) => void): void;
};

/**
 * One analyzer for prose and code. Identifiers give their parts and, joined, the whole; words are lower-cased, freed of
 * diacritics, stemmed (Porter) and dropped when they are stop words; scripts without spaces give bigrams, an emoji is a
 * term; terms over 80 characters are dropped. Keeps a bounded cache, so make one a thread.
 */
export function createAnalyzer(): Analyzer {
  const cache = createTokenCache<TokenTerms>();

  function visit(text: string, see: (found: TokenTerms) => void): void {
    scanTokens(text, (start, end, hash, units) => {
      const known = cache.find(units, start, end, hash);
      const found = known ?? cache.keep(units, start, end, hash, readToken(tokenAt(text, units, start, end)));
      if (found.count > 0) see(found);
    });
  }

  function analyze(text: string): string[] {
    const all: string[] = [];
    visit(text, ({ terms }) => {
      for (const term of terms) all.push(term);
    });
    return all;
  }

  return Object.assign(analyze, { visit });
}

/** From its units when it may be kept: a slice would keep the whole text that it was cut from. */
function tokenAt(text: string, units: Uint16Array, start: number, end: number): string {
  if (end - start > CACHED_LIMIT_UNITS) return text.slice(start, end);
  return String.fromCharCode(...units.subarray(start, end));
}

function readToken(token: string): TokenTerms {
  const terms = analyzeToken(token);
  return { terms, count: terms.length, owner: undefined, number: 0, numbers: NO_NUMBERS };
}

function analyzeToken(token: string): readonly string[] {
  if (PLAIN_WORD.test(token) && token.length <= TERM_LIMIT_CHARS) return STOP_WORDS.has(token) ? [] : [stemWord(token)];
  const terms: string[] = [];
  for (const run of runsOf(token)) {
    if (run.unspaced) for (let at = 0; at < Math.max(run.parts.length - 1, 1); at += 1) terms.push(pairAt(run, at));
    else {
      for (const { word } of run.parts) if (!STOP_WORDS.has(word)) terms.push(stemPlainWord(word));
      if (run.parts.length > 1) terms.push(joinParts(run));
    }
  }
  return terms.filter((term) => term.length <= TERM_LIMIT_CHARS);
}

function joinParts(run: Run): string {
  return run.parts.map(({ word }) => word).join("");
}

/** Two characters from there on; the one character of a run that has no more. */
function pairAt({ parts }: Run, at: number): string {
  return `${parts[at]?.word ?? ""}${parts[at + 1]?.word ?? ""}`;
}

/** Only plain Latin words: Porter's rules say nothing about others. */
export function stemPlainWord(word: string): string {
  return PLAIN_WORD.test(word) ? stemWord(word) : word;
}

/** A word where it stands in a text. */
export type LocatedWord = {
  /** UTF-16 range in the text: of the word or character itself. */
  readonly start: number;
  readonly end: number;
  /** As it is compared in phrases: folded, not stemmed; stop words too. */
  readonly word: string;
  /** The terms that a hit by this word goes back to: none for a stop word, two for a character between others. */
  readonly terms: readonly string[];
  /** A term of every text in which this word and the next of its phrase stand; undefined when there is none. */
  readonly phraseTerm: string | undefined;
  /** One character in a script without spaces, by itself: in other texts it stands within pairs. */
  readonly lone: boolean;
};

/** Every word of a text with its place. Slower than an analyzer: for queries, and for the few texts that are shown. */
export function locateWords(text: string): LocatedWord[] {
  const words: LocatedWord[] = [];
  scanTokens(text, (from, to) => {
    for (const run of runsOf(text.slice(from, to)))
      for (const [at, part] of run.parts.entries())
        words.push({ ...readPart(run, at), start: from + part.start, end: from + part.end, word: part.word });
  });
  return words;
}

function readPart(run: Run, at: number): Pick<LocatedWord, "terms" | "phraseTerm" | "lone"> {
  const last = run.parts.length - 1;
  if (run.unspaced) {
    if (last === 0) return { terms: [pairAt(run, 0)], phraseTerm: undefined, lone: true };
    const next = at < last ? pairAt(run, at) : undefined;
    const terms = [...(at > 0 ? [pairAt(run, at - 1)] : []), ...(next === undefined ? [] : [next])];
    return { terms, phraseTerm: next, lone: false };
  }
  const word = run.parts[at]?.word ?? "";
  const stem = STOP_WORDS.has(word) ? undefined : stemPlainWord(word);
  const terms = [...(stem === undefined ? [] : [stem]), ...(last > 0 ? [joinParts(run)] : [])];
  return { terms, phraseTerm: stem, lone: false };
}
