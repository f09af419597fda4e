import { fail, ok, type Result } from "../../domain/failure.ts";
import { BREAKS, breakPoint, isBreak, wholeCharacter } from "./break-point.ts";

const CHUNKS_LIMIT = 5_000;

export type TextCut = {
  readonly limitChars: number;
  /** What a chunk repeats of the one before it; at most this. */
  readonly overlapChars: number;
  /** No chunk but an only one is shorter. */
  readonly minChars: number;
};

export const TEXT_CUT: TextCut = { limitChars: 1_000, overlapChars: 200, minChars: 100 };
export const PDF_CUT: TextCut = { limitChars: 1_500, overlapChars: 300, minChars: 150 };

/**
 * Cuts a text into chunks that overlap, at the end of a paragraph, else of a sentence, else of a word, else anywhere but
 * inside a character; no edge of a chunk is blank. A text within the limit is one chunk, a blank one none.
 * `invalid` for lengths that fit no text, `exhausted` for more than 5,000 chunks.
 */
export function cutText(text: string, cut: TextCut = TEXT_CUT): Result<readonly string[]> {
  const wrong = checkCut(cut);
  if (wrong !== undefined) return wrong;
  const trimmed = text.trim();
  if (trimmed === "") return ok([]);
  const chunks: string[] = [];
  let start = 0;
  while (trimmed.length - start > cut.limitChars) {
    const end = endOfChunk(trimmed, start, cut);
    chunks.push(trimmed.slice(start, end).trim());
    if (chunks.length >= CHUNKS_LIMIT) {
      return fail("exhausted", `the text gives more than ${CHUNKS_LIMIT} chunks`, {
        hint: "give it in parts, or allow longer chunks or less overlap",
      });
    }
    start = startOfNext(trimmed, start, end, cut);
  }
  chunks.push(trimmed.slice(lastStart(trimmed, start, cut)).trim());
  return ok(chunks);
}

function checkCut({ limitChars, overlapChars, minChars }: TextCut): Result<never> | undefined {
  const whole = [limitChars, overlapChars, minChars].every((value) => Number.isSafeInteger(value) && value >= 0);
  if (!whole || limitChars < 2) {
    return fail("invalid", "the lengths of chunks are whole numbers, and a chunk holds at least 2 characters", {
      hint: `give e.g. ${TEXT_CUT.limitChars} with an overlap of ${TEXT_CUT.overlapChars}`,
    });
  }
  if (overlapChars >= limitChars) {
    return fail("invalid", `an overlap of ${overlapChars} is not shorter than a chunk of ${limitChars}`, {
      hint: `give less than ${limitChars}`,
    });
  }
  return undefined;
}

function endOfChunk(text: string, start: number, { limitChars, overlapChars, minChars }: TextCut): number {
  const high = start + limitChars;
  // More than the overlap, or the next chunk would begin where this one does.
  const low = start + Math.min(limitChars, Math.max(minChars, overlapChars + 1, Math.ceil(limitChars / 2)));
  const end = breakPoint(text, low, high, BREAKS);
  return end > start ? end : wholeCharacter(text, start + 2);
}

/** Where the overlap begins: at a sentence, else at a word, else anywhere; behind `start` in any case. */
function startOfNext(text: string, start: number, end: number, { overlapChars }: TextCut): number {
  const earliest = Math.max(end - overlapChars, start + 1);
  for (const kind of ["sentence", "word"] as const) {
    for (let at = earliest; at < end - overlapChars / 2; at += 1) {
      if (isBreak(text, at, kind)) return skipSpace(text, at);
    }
  }
  const whole = wholeCharacter(text, earliest);
  return whole > start ? whole : Math.min(end, earliest + 1);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === "") at += 1;
  return at;
}

/** A rest that is too short begins earlier. */
function lastStart(text: string, start: number, { minChars, limitChars }: TextCut): number {
  const least = Math.min(minChars, limitChars);
  if (text.length - start >= least) return start;
  return text.length <= least ? 0 : wholeCharacter(text, text.length - least);
}
