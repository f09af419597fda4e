import { isSpace } from "./text-lines.ts";

const NEWLINE = 10;
const QUOTES_AND_BRACKETS = new Set(Array.from(`"'”’)]»`, (character) => character.charCodeAt(0)));
const SENTENCE_ENDS = new Set(Array.from(".!?…", (character) => character.charCodeAt(0)));
/** These need no space behind them. */
const WIDE_SENTENCE_ENDS = new Set(Array.from("。！？", (character) => character.charCodeAt(0)));

/** From the one that is liked best. */
export const BREAKS = ["paragraph", "sentence", "word"] as const;
export type Break = (typeof BREAKS)[number];

/**
 * Where to cut a text that goes on behind `high`: the last end of a paragraph in [low, high], else of a sentence, else of a word,
 * else `high`, or one before it where that would part a surrogate pair. Needs 0 < low <= high <= text.length.
 */
export function breakPoint(text: string, low: number, high: number, breaks: readonly Break[] = BREAKS): number {
  for (const kind of breaks) {
    for (let at = high; at >= low; at -= 1) if (isBreak(text, at, kind)) return at;
  }
  return wholeCharacter(text, high);
}

/** `at`, or one before it between the halves of a surrogate pair. */
export function wholeCharacter(text: string, at: number): number {
  const parts = isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
  return parts ? at - 1 : at;
}

/** Whether something of this kind ends right before `at`. */
export function isBreak(text: string, at: number, kind: Break): boolean {
  switch (kind) {
    case "paragraph":
      return text.charCodeAt(at - 1) === NEWLINE && /^\r?\n/.test(text.slice(at, at + 2));
    case "sentence":
      return endsSentence(text, at);
    case "word":
      return isSpace(text.charCodeAt(at)) && !isSpace(text.charCodeAt(at - 1));
  }
}

function endsSentence(text: string, at: number): boolean {
  let last = at - 1;
  if (WIDE_SENTENCE_ENDS.has(text.charCodeAt(last))) return true;
  if (at < text.length && !isSpace(text.charCodeAt(at))) return false;
  while (last > at - 3 && QUOTES_AND_BRACKETS.has(text.charCodeAt(last))) last -= 1;
  return SENTENCE_ENDS.has(text.charCodeAt(last));
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
