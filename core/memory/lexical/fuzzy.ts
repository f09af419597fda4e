import { termText } from "./dictionary.ts";
import { countMistakes } from "./mistakes.ts";
import type { Segment } from "./segment.ts";
import { visitSpeltLike } from "./spelling.ts";

// Words of a query that no document holds are most often misspelt: what is spelt nearly so stands in for them.

/** Shorter words are near to too many others. */
const FUZZY_LEAST_CHARS = 4;
/** From this length on two mistakes are forgiven. */
const TWO_MISTAKES_CHARS = 8;
const FUZZY_LIMIT_CHARS = 40;
const FUZZY_LIMIT_MATCHES = 3;
/** What a term counts that is that many mistakes away. */
const WEIGHTS = [1, 0.6, 0.35] as const;
const HAS_LETTER = /\p{L}/u;

export type NearTerm = { readonly term: string; readonly weight: number };

/**
 * The nearest terms of all segments: fewest mistakes first, then the most frequent, then by their letters. `countLiving` says
 * how many documents that are not gone hold a term, so that words of the dead stand in for nothing.
 */
export function nearTerms(
  segments: readonly Segment[],
  term: string,
  countLiving: (segment: number, term: number) => number,
): NearTerm[] {
  const limit = forgivenMistakes(term);
  if (limit === 0) return [];
  const found = new Map<string, { readonly mistakes: number; documents: number }>();
  for (const [which, segment] of segments.entries())
    visitSpeltLike(segment, term, limit, (number, mistakes) => {
      const documents = countLiving(which, number);
      if (documents === 0) return;
      const other = termText(segment, number);
      const known = found.get(other);
      if (known === undefined) found.set(other, { mistakes, documents });
      else known.documents += documents;
    });
  return [...found]
    .sort(([a, one], [b, two]) => one.mistakes - two.mistakes || two.documents - one.documents || (a < b ? -1 : 1))
    .slice(0, FUZZY_LIMIT_MATCHES)
    .map(([near, { mistakes }]) => ({ term: near, weight: WEIGHTS[mistakes] ?? 0 }));
}

/** Whether a term may be meant by one that was asked for. */
export function isNear(asked: string, term: string): boolean {
  const limit = forgivenMistakes(asked);
  return limit > 0 && countMistakes(asked, term, limit) <= limit;
}

function forgivenMistakes(term: string): number {
  if (term.length < FUZZY_LEAST_CHARS || term.length > FUZZY_LIMIT_CHARS || !HAS_LETTER.test(term)) return 0;
  return term.length >= TWO_MISTAKES_CHARS ? 2 : 1;
}
