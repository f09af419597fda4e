import { stemWord } from "./porter-stemmer.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** Part of the store's format: another number means that stored segments are rebuilt. */
export const ANALYZER_VERSION = 1;

const TERM_LIMIT_CHARS = 80;
const CACHE_LIMIT_TOKENS = 50_000;
const CACHE_TOKEN_LIMIT_CHARS = 40;

const TOKEN = /[\p{L}\p{N}\p{M}_$]+/gu;
const CJK_OR_OTHER =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30FC]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30FC]+/gu;
const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30FC]/u;
const HAS_CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const DIACRITICS = /[\u0300-\u036F]/g;
/** HTTPServer2go → HTTP, Server, 2, go. */
const IDENTIFIER_PART =
  /[\p{Lu}\p{Lt}]+(?=[\p{Lu}\p{Lt}]\p{Ll})|[\p{Lu}\p{Lt}]?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|[\p{Lu}\p{Lt}]+|\p{N}+/gu;
const PLAIN_WORD = /^[a-z]+$/;

/** Text → terms in order, repeated as often as they occur. Index and query must use the same one. */
export type Analyzer = (text: string) => string[];

/**
 * One analyzer for prose and code. Identifiers give their parts and, joined, the whole; words are lower-cased, freed of
 * diacritics, stemmed (Porter) and dropped when they are stop words; Chinese, Japanese and Korean give bigrams; terms over
 * 80 characters are dropped. Keeps a bounded cache, so make one a thread.
 */
export function createAnalyzer(): Analyzer {
  const cache = new Map<string, readonly string[]>();

  function termsOf(token: string): readonly string[] {
    const cached = cache.get(token);
    if (cached !== undefined) return cached;
    const terms = analyzeToken(token);
    if (token.length <= CACHE_TOKEN_LIMIT_CHARS) {
      if (cache.size >= CACHE_LIMIT_TOKENS) cache.clear();
      cache.set(token, terms);
    }
    return terms;
  }

  return (text) => {
    const terms: string[] = [];
    for (const token of text.match(TOKEN) ?? []) for (const term of termsOf(token)) terms.push(term);
    return terms;
  };
}

function analyzeToken(token: string): readonly string[] {
  if (!HAS_CJK.test(token)) return analyzeIdentifier(token);
  return (token.match(CJK_OR_OTHER) ?? []).flatMap((run) => (CJK.test(run) ? bigrams(run) : analyzeIdentifier(run)));
}

function bigrams(run: string): string[] {
  // NFKC, not NFKD: the latter takes Hangul syllables apart.
  const characters = Array.from(run.normalize("NFKC"));
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

function analyzeIdentifier(token: string): readonly string[] {
  // Nothing this long is a word, and the parts of a base64 blob would only swell the dictionary.
  if (token.length > TERM_LIMIT_CHARS) return [];
  const parts = token.normalize("NFKD").replace(DIACRITICS, "").match(IDENTIFIER_PART) ?? [];
  const words = parts.map((part) => part.toLowerCase());
  const terms = words.filter((word) => !STOP_WORDS.has(word)).map(stemPlainWord);
  if (words.length > 1) terms.push(words.join(""));
  return terms.filter((term) => term.length <= TERM_LIMIT_CHARS);
}

function stemPlainWord(word: string): string {
  return PLAIN_WORD.test(word) ? stemWord(word) : word;
}
