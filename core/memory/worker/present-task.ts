import type { Snippet } from "../../domain/memory.ts";
import type { Analyzer } from "../lexical/analyzer.ts";
import { termsOfQuery } from "../lexical/query-terms.ts";
import type { ParsedQuery } from "../lexical/query-text.ts";
import { snippetOf, verifyPhrases } from "../lexical/snippet.ts";
import { foldNearDuplicates } from "./near-duplicates.ts";

export type PresentRequest = {
  readonly query: ParsedQuery;
  /** What was found, best first. */
  readonly pieces: readonly { readonly title: string; readonly text: string; readonly author: string }[];
  readonly limit: number;
};

/** A piece to show. */
export type Presented = {
  /** Which of the pieces that were given. */
  readonly index: number;
  readonly snippet: Snippet;
  /** Other ones that say nearly the same. */
  readonly folded: readonly number[];
};

/** Drops what does not hold the query's phrases after all, folds near duplicates, and finds the words to show. */
export function presentPieces({ query, pieces, limit }: PresentRequest, analyze: Analyzer): Presented[] {
  const lexical = termsOfQuery(query, analyze);
  const held = pieces.flatMap((piece, index) => (verifyPhrases(piece, lexical) ? [{ ...piece, index }] : []));
  const firsts = foldNearDuplicates(held);
  const shown: Presented[] = [];
  for (const [at, { index, title, text }] of held.entries()) {
    if (shown.length >= limit) break;
    if (firsts[at] !== at) continue;
    const folded = held.filter((_, other) => other !== at && firsts[other] === at).map((other) => other.index);
    shown.push({ index, snippet: snippetOf(title, text, lexical), folded });
  }
  return shown;
}
