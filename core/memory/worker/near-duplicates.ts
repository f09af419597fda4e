import { type Shingles, sharedShare, shinglesOf } from "../lexical/shingles.ts";

/**
 * As much of their shingles must two pieces of files share, of those that either has, to say the same. Of what somebody
 * said all of them: the one word that differs in a long note may be the one that matters.
 */
const SAME_SHARE = 0.8;
const SAME_SAID_SHARE = 1;
/** Of a longer text its beginning decides. */
const TEXT_LIMIT_CHARS = 16_384;

type FoldingText = {
  readonly text: string;
  /** Whose words these are: an owner's sentence never disappears behind a stranger's copy of it. */
  readonly author: string;
};

/**
 * For each text the index of the earlier one that says nearly the same, in the same order, or its own. The first of a group
 * stands for all of it, and is never folded itself.
 */
export function foldNearDuplicates(texts: readonly FoldingText[]): number[] {
  const firsts: { readonly index: number; readonly author: string; readonly shingles: Shingles }[] = [];
  return texts.map(({ text, author }, index) => {
    const shingles = shinglesOf(text.slice(0, TEXT_LIMIT_CHARS));
    const same = firsts.find((first) => first.author === author && sayTheSame(first.shingles, shingles, author));
    if (same === undefined) firsts.push({ index, author, shingles });
    return same?.index ?? index;
  });
}

/** Two texts of signs alone, too: there is nothing in one that would be missed in the other. */
function sayTheSame(one: Shingles, other: Shingles, author: string): boolean {
  const least = author === "file" ? SAME_SHARE : SAME_SAID_SHARE;
  return one.length + other.length === 0 || sharedShare(one, other) >= least;
}
