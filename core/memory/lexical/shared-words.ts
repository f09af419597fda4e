import type { SharedWords } from "../../domain/memory.ts";
import type { Analyzer } from "./analyzer.ts";
import { findTerm } from "./dictionary.ts";
import { EVERYDAY_WORDS, FOREIGN_EVERYDAY_WORDS } from "./everyday-words.ts";
import { type RankedSegment, termStatistics } from "./query-plan.ts";
import type { Segment } from "./segment.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** Says of a row of a segment how much of a question it holds. */
export type JudgeShared = (which: number, row: number) => SharedWords;

/**
 * Documents of a general kind that are imagined beside those there are: among a handful of notes every word is rare, and
 * "start" or "name" would seem to say as much as "penicillin".
 */
const IMAGINED_DOCUMENTS = 100;
/** How many of them hold an everyday word. */
const IMAGINED_HOLDING = 30;
/** A word weighs this much at least, of a word that nothing holds, to tell something. */
const TELLING_LEAST = 0.3;
/** So many of the rarest words make a whole question: who says more has said the rest to tell of something else. */
const QUESTION_WORDS = 6;
const QUESTION_LIMIT_WORDS = 64;
/** A shorter number is everywhere. */
const NUMBER_LEAST_DIGITS = 3;

/** A word as it was written: an identifier is one, whatever parts it has. */
type Word = { readonly terms: readonly string[]; readonly weight: number; readonly telling: boolean };

/** @param text what was asked, as plain words. Words that are misspelt count as words that nothing holds. */
export function judgeShared(inputs: readonly RankedSegment[], text: string, analyze: Analyzer): JudgeShared {
  const { documents, frequencyOf } = termStatistics(inputs);
  const everyday = everydayTerms(analyze);
  const all = documents + IMAGINED_DOCUMENTS;
  const rarity = (holding: number) => Math.log(1 + (all - holding + 0.5) / (holding + 0.5));
  const rarest = rarity(0);
  const words = wordsOf(text, analyze).map((terms): Word => {
    const common = terms.every((term) => everyday.has(term) || isShortNumber(term));
    const least = Math.min(...terms.map(frequencyOf));
    const weight = rarity(least + (common ? IMAGINED_HOLDING : 0));
    return { terms, weight, telling: !common && weight >= TELLING_LEAST * rarest };
  });
  const asked = Math.min(sum(words), QUESTION_WORDS * rarest);
  const holds = holdsOf(inputs);
  return (which, row) => {
    const shared = words.filter(({ terms }) => terms.every((term) => holds(which, row, term)));
    const share = asked === 0 ? 0 : Math.min(1, sum(shared) / asked);
    return { share, words: shared.length, telling: shared.filter(({ telling }) => telling).length };
  };
}

function sum(words: readonly Word[]): number {
  return words.reduce((total, { weight }) => total + weight, 0);
}

/** The terms of each word, every word once. */
function wordsOf(text: string, analyze: Analyzer): (readonly string[])[] {
  const words = new Map<string, readonly string[]>();
  analyze.visit(text, ({ terms }) => {
    for (const word of splitTerms(terms)) if (words.size < QUESTION_LIMIT_WORDS) words.set(word.join(" "), word);
  });
  return [...words.values()];
}

/** Of an identifier its parts, since who writes them apart means the same; of scripts without spaces each pair. */
function splitTerms(terms: readonly string[]): readonly (readonly string[])[] {
  const whole = terms.at(-1) ?? "";
  const parts = terms.slice(0, -1);
  if (parts.length === 0) return [terms];
  return parts.every(({ length }) => length < whole.length) ? [parts] : terms.map((term) => [term]);
}

function isShortNumber(term: string): boolean {
  return term.length < NUMBER_LEAST_DIGITS && /^\p{N}+$/u.test(term);
}

const knownEveryday = new WeakMap<Analyzer, ReadonlySet<string>>();

function everydayTerms(analyze: Analyzer): ReadonlySet<string> {
  const known = knownEveryday.get(analyze);
  if (known !== undefined) return known;
  const made = new Set([...EVERYDAY_WORDS, ...FOREIGN_EVERYDAY_WORDS].filter(isNoStopWord).flatMap(analyze));
  knownEveryday.set(analyze, made);
  return made;
}

function isNoStopWord(word: string): boolean {
  return !STOP_WORDS.has(word);
}

const encoder = new TextEncoder();

function holdsOf(inputs: readonly RankedSegment[]): (which: number, row: number, term: string) => boolean {
  const numbers = inputs.map(() => new Map<string, number>());
  return (which, row, term) => {
    const segment = inputs[which]?.segment;
    if (segment === undefined) return false;
    const known = numbers[which]?.get(term);
    const number = known ?? findTerm(segment, encoder.encode(term));
    if (known === undefined) numbers[which]?.set(term, number);
    return number >= 0 && isInPostings(segment, number, row);
  };
}

function isInPostings({ postingStarts, postingDocuments }: Segment, number: number, row: number): boolean {
  let low = postingStarts[number] ?? 0;
  let high = postingStarts[number + 1] ?? 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((postingDocuments[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low < (postingStarts[number + 1] ?? 0) && postingDocuments[low] === row;
}
