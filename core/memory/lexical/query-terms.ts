import { type Analyzer, locateWords, stemPlainWord } from "./analyzer.ts";
import type { ParsedQuery, QueryPart } from "./query-text.ts";

const QUERY_LIMIT_TERMS = 64;
const QUERY_LIMIT_PREFIXES = 8;
const QUERY_LIMIT_CONDITIONS = 32;
const PHRASE_LIMIT_WORDS = 32;
/** Stems are shorter than words, so that a prefix may be longer than the term of what it begins: connecti*, connect. */
const WORD_ENDS = "e s n d g y on ng ed te ve al ly nt ion ing tion ment ness".split(" ");

/** The rows that hold all of the terms, or a term that begins so. */
export type Condition =
  | { readonly kind: "terms"; readonly terms: readonly string[] }
  | { readonly kind: "prefix"; readonly prefix: QueryPrefix };

export type QueryPrefix = {
  readonly prefix: string;
  /** Terms of words that begin so, though the terms do not. */
  readonly stems: readonly string[];
};

/** A query in terms of the index. */
export type LexicalQuery = {
  /** Distinct, at most 64: each adds to the score of the documents that hold it. */
  readonly terms: readonly string[];
  /** Those of them that are an identifier as a whole: its parts are terms as well. */
  readonly joined: ReadonlySet<string>;
  /** Each adds as if all terms that begin so were one. */
  readonly prefixes: readonly QueryPrefix[];
  /** All must hold of a document. */
  readonly required: readonly Condition[];
  /** None may hold. */
  readonly excluded: readonly Condition[];
  /** Folded words that must stand in a row in title or text; the index knows no places, see `verifyPhrases`. */
  readonly phrases: readonly (readonly string[])[];
  readonly excludedPhrases: readonly (readonly string[])[];
};

type Draft = {
  readonly terms: Set<string>;
  readonly joined: Set<string>;
  readonly prefixes: QueryPrefix[];
  readonly required: Condition[];
  readonly excluded: Condition[];
  readonly phrases: (readonly string[])[];
  readonly excludedPhrases: (readonly string[])[];
};

/** What is over a limit (64 terms, 8 prefixes, 32 conditions) is left out, the last first. */
export function termsOfQuery(query: ParsedQuery, analyze: Analyzer): LexicalQuery {
  const draft: Draft = {
    terms: new Set(),
    joined: new Set(),
    prefixes: [],
    required: [],
    excluded: [],
    phrases: [],
    excludedPhrases: [],
  };
  for (const part of query.parts) {
    if (part.kind === "phrase") addPhrase(draft, part);
    else addWord(draft, part, analyze);
  }
  return {
    terms: [...draft.terms].slice(0, QUERY_LIMIT_TERMS),
    joined: draft.joined,
    prefixes: distinctPrefixes(draft.prefixes),
    required: draft.required.slice(0, QUERY_LIMIT_CONDITIONS),
    excluded: draft.excluded.slice(0, QUERY_LIMIT_CONDITIONS),
    phrases: draft.phrases.slice(0, QUERY_LIMIT_CONDITIONS),
    excludedPhrases: draft.excludedPhrases.slice(0, QUERY_LIMIT_CONDITIONS),
  };
}

function addPhrase(draft: Draft, part: QueryPart): void {
  const words = locateWords(part.text).slice(0, PHRASE_LIMIT_WORDS);
  if (words.length === 0) return;
  const phrase = words.map(({ word }) => word);
  if (part.need === "none") {
    draft.excludedPhrases.push(phrase);
    return;
  }
  draft.phrases.push(phrase);
  const held = words.flatMap(({ phraseTerm }) => (phraseTerm === undefined ? [] : [phraseTerm]));
  for (const term of held) draft.terms.add(term);
  for (const { lone, word } of words) if (lone) draft.prefixes.push({ prefix: word, stems: [] });
  if (held.length > 0) draft.required.push({ kind: "terms", terms: held });
}

function addWord(draft: Draft, part: QueryPart, analyze: Analyzer): void {
  const conditions = part.kind === "prefix" ? prefixConditions(part) : wordConditions(part, analyze);
  if (part.need === "none") {
    draft.excluded.push(...conditions);
    return;
  }
  if (part.need === "all") draft.required.push(...conditions);
  for (const condition of conditions) {
    if (condition.kind === "prefix") draft.prefixes.push(condition.prefix);
    else for (const term of condition.terms) draft.terms.add(term);
  }
  if (part.kind === "word")
    analyze.visit(part.text, ({ terms, count }) => {
      if (count > 1) draft.joined.add(terms[count - 1] ?? "");
    });
}

function wordConditions(part: QueryPart, analyze: Analyzer): Condition[] {
  const terms = [...new Set(analyze(part.text))].slice(0, QUERY_LIMIT_TERMS);
  const alone = locateWords(part.text).find(({ lone }) => lone);
  // A single character stands in the index with the one after it.
  if (alone !== undefined && terms.length === 1) return [{ kind: "prefix", prefix: { prefix: alone.word, stems: [] } }];
  return terms.length === 0 ? [] : [{ kind: "terms", terms }];
}

function prefixConditions(part: QueryPart): Condition[] {
  const prefix = locateWords(part.text)
    .map(({ word }) => word)
    .join("");
  if (prefix === "") return [];
  const stems = ["", ...WORD_ENDS].map((end) => stemPlainWord(prefix + end)).filter((stem) => !stem.startsWith(prefix));
  return [{ kind: "prefix", prefix: { prefix, stems: [...new Set(stems)] } }];
}

function distinctPrefixes(prefixes: readonly QueryPrefix[]): QueryPrefix[] {
  return [...new Map(prefixes.map((prefix) => [prefix.prefix, prefix])).values()].slice(0, QUERY_LIMIT_PREFIXES);
}

/** Why nothing can be found by the words of a query; undefined when something may be. */
export function whyNoTerms({ parts }: ParsedQuery): string | undefined {
  const wanted = parts.filter(({ need }) => need !== "none");
  const words = wanted.flatMap(({ kind, text }) => locateWords(text).map(({ terms }) => ({ kind, terms })));
  if (words.length === 0) return "there are no words to look for";
  if (words.some(({ kind, terms }) => kind === "prefix" || terms.length > 0)) return undefined;
  return "the words stand in nearly every text, and the index holds none of them; add one that tells more";
}
