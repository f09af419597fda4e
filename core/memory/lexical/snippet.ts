import type { Snippet } from "../../domain/memory.ts";
import { type LocatedWord, locateWords } from "./analyzer.ts";
import { isNear } from "./fuzzy.ts";
import type { LexicalQuery } from "./query-terms.ts";

const SNIPPET_LIMIT_CHARS = 240;
/** Before the first word that is marked: what is shown seldom begins with it. */
const LEAD_LIMIT_CHARS = 60;
/** From the first to the last word that is marked, but for what follows them by chance. */
const STRETCH_LIMIT_CHARS = SNIPPET_LIMIT_CHARS - LEAD_LIMIT_CHARS;
const SENTENCE_END = /\n|(?<!\d)[.!?][)"'\]*_`’”]*\s|[。！？]/g;
/** Between words; where there are no spaces, between whatever else looks like words. */
const WORD_EDGES = [/\s/, /[^\p{L}\p{N}\p{M}_$\uD800-\uDFFF]/u] as const;
/** A piece is some thousand characters; of a longer one the beginning is looked at. */
const TEXT_LIMIT_CHARS = 100_000;
/** What the title shows already needs no second showing. */
const TITLE_WORD_WEIGHT = 0.5;

/** Whether title or text hold every quoted phrase word by word, and none that they must not. */
export function verifyPhrases(
  { title, text }: { readonly title: string; readonly text: string },
  { phrases, excludedPhrases }: LexicalQuery,
): boolean {
  if (phrases.length === 0 && excludedPhrases.length === 0) return true;
  const fields = [title, text].map((field) => locateWords(field).map(({ word }) => word));
  const holds = (phrase: readonly string[]) => fields.some((words) => standsIn(words, phrase));
  return phrases.every(holds) && !excludedPhrases.some(holds);
}

function standsIn(words: readonly string[], phrase: readonly string[]): boolean {
  for (let at = 0; at + phrase.length <= words.length; at += 1)
    if (phrase.every((word, index) => words[at + index] === word)) return true;
  return false;
}

type Match = { readonly start: number; readonly end: number; readonly terms: readonly string[] };

/**
 * The stretch of a text that shows most of what was asked, with the words that matched: whole words, even where only
 * their stems are the same. The head of the text when it holds none of them.
 */
export function snippetOf(title: string, text: string, query: LexicalQuery): Snippet {
  const searched = text.slice(0, TEXT_LIMIT_CHARS);
  const words = locateWords(searched);
  const matches = findMatches(words, query);
  const shown = new Set(locateWords(title).flatMap(({ terms }) => terms));
  const best = bestStretch(matches, (term) => (shown.has(term) ? TITLE_WORD_WEIGHT : 1));
  const [start, end] = windowAround(searched, best);
  const marks: [number, number][] = [];
  for (const match of matches) {
    if (match.start < start || match.end > end) continue;
    const last = marks.at(-1);
    // Characters of one word, and parts of one identifier, stand side by side.
    if (last !== undefined && match.start - start <= last[1]) last[1] = Math.max(last[1], match.end - start);
    else marks.push([match.start - start, match.end - start]);
  }
  return { text: searched.slice(start, end), marks };
}

function findMatches(words: readonly LocatedWord[], query: LexicalQuery): Match[] {
  const terms = new Set([...query.terms, ...query.prefixes.flatMap(({ stems }) => stems)]);
  const begins = (term: string) => query.prefixes.some(({ prefix }) => term.startsWith(prefix));
  const exact = matchesWhere(words, (term) => terms.has(term) || begins(term));
  if (exact.length > 0) return exact;
  return matchesWhere(words, (term) => query.terms.some((asked) => isNear(asked, term)));
}

function matchesWhere(words: readonly LocatedWord[], holds: (term: string) => boolean): Match[] {
  const judged = new Map<string, boolean>();
  const judge = (term: string) => {
    const known = judged.get(term) ?? holds(term);
    judged.set(term, known);
    return known;
  };
  return words.flatMap(({ start, end, terms }) => {
    const held = terms.filter(judge);
    return held.length === 0 ? [] : [{ start, end, terms: held }];
  });
}

/** First and last match of the stretch whose distinct terms weigh most; then the one with most matches; then the first. */
function bestStretch(
  matches: readonly Match[],
  weigh: (term: string) => number,
): { readonly start: number; readonly end: number } | undefined {
  const counts = new Map<string, number>();
  let weight = 0;
  let first = 0;
  let best: { start: number; end: number; weight: number; matches: number } | undefined;
  for (const [last, match] of matches.entries()) {
    for (const term of match.terms) {
      const count = counts.get(term) ?? 0;
      if (count === 0) weight += weigh(term);
      counts.set(term, count + 1);
    }
    for (let from = matches[first]; from !== undefined && first < last; from = matches[first]) {
      if (match.end - from.start <= STRETCH_LIMIT_CHARS) break;
      for (const term of from.terms) {
        const count = (counts.get(term) ?? 0) - 1;
        if (count === 0) weight -= weigh(term);
        counts.set(term, count);
      }
      first += 1;
    }
    const here = { start: matches[first]?.start ?? 0, end: match.end, weight, matches: last - first + 1 };
    if (best === undefined || here.weight > best.weight || (here.weight === best.weight && here.matches > best.matches))
      best = here;
  }
  return best;
}

/** The sentence or line that the stretch is in, as far as there is room, and as much after it as there is room for. */
function windowAround(
  text: string,
  stretch: { readonly start: number; readonly end: number } | undefined,
): readonly [number, number] {
  const from = stretch?.start ?? 0;
  const earliest = Math.max(0, from - LEAD_LIMIT_CHARS);
  let start = sentenceStart(text, earliest, from) ?? (earliest === 0 ? 0 : wordStart(text, earliest, from));
  while (start < from && /\s/.test(text.charAt(start))) start += 1;
  const latest = Math.min(text.length, start + SNIPPET_LIMIT_CHARS);
  let end = latest === text.length ? latest : wordEnd(text, latest, Math.max(stretch?.end ?? 0, start + 1));
  if (splitsPair(text, start)) start += 1;
  if (splitsPair(text, end)) end -= 1;
  while (end > start && end > (stretch?.end ?? 0) && /\s/.test(text.charAt(end - 1))) end -= 1;
  return [start, end];
}

/** The last one that begins in [least, at]. */
function sentenceStart(text: string, least: number, at: number): number | undefined {
  const before = text.slice(Math.max(0, least - 1), at);
  let last: number | undefined;
  for (const { index, 0: end } of before.matchAll(SENTENCE_END)) last = Math.max(0, least - 1) + index + end.length;
  return last;
}

/** Where the first word begins that is not cut; where there is no space, the first that follows another sign; else there. */
function wordStart(text: string, at: number, limit: number): number {
  for (const sign of WORD_EDGES)
    for (let index = at; index < limit; index += 1) if (sign.test(text.charAt(index - 1))) return index;
  return at;
}

function wordEnd(text: string, at: number, least: number): number {
  for (const sign of WORD_EDGES)
    for (let index = at; index > least; index -= 1) if (sign.test(text.charAt(index))) return index;
  return at;
}

function splitsPair(text: string, at: number): boolean {
  return (
    at > 0 && at < text.length && /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at))
  );
}
