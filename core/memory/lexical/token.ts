import { HASH_FACTOR, HASH_START, hashUnits } from "./unit-hash.ts";

// How text falls into tokens, and a token into its parts. What a term of the index is made of them says analyzer.ts.

/** Nothing longer is a word, and the parts of a base64 blob would only swell the dictionary. */
export const TERM_LIMIT_CHARS = 80;

/** A piece of a token: one word of an identifier, or one character of a script that writes no spaces. */
export type Part = {
  /** UTF-16 range in the token. */
  readonly start: number;
  readonly end: number;
  /** Lower-cased and freed of diacritics. */
  readonly word: string;
};

export type Run = { readonly unspaced: boolean; readonly parts: readonly Part[] };

const TOKEN = /[\p{L}\p{N}\p{M}_$]+|\p{Extended_Pictographic}/uy;
const UNSPACED_SCRIPTS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const HAS_UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, "u");
// \u30FC, the long vowel mark, belongs to two scripts and so to none.
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED_SCRIPTS}\\u30FC]`, "u");
const UNSPACED_OR_OTHER = new RegExp(`[${UNSPACED_SCRIPTS}\\u30FC]+|[^${UNSPACED_SCRIPTS}\\u30FC]+`, "gu");
/** HTTPServer2go → HTTP, Server, 2, go. */
const PART =
  /[\p{Lu}\p{Lt}]+(?=[\p{Lu}\p{Lt}]\p{Ll})|[\p{Lu}\p{Lt}]?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|[\p{Lu}\p{Lt}]+|\p{N}+|\p{Extended_Pictographic}/gu;
const ASCII_PART = /[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g;
const NOT_ASCII = /\P{ASCII}/u;
// Latin and Greek accents, Hebrew and Arabic points, and what chooses the look of an emoji.
const MARKS = /[\u0300-\u036F\u0591-\u05BD\u05BF-\u05C7\u064B-\u065F\u0670]|[\u20D0-\u20FF]|\p{Variation_Selector}/gu;
/** Letters that are written with and without, and that no normal form takes apart. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["ı", "i"],
  ["ø", "o"],
  ["ł", "l"],
  ["đ", "d"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ς", "σ"],
]);
const FOLDED_LETTERS = /[ßıøłđæœς]/g;

const ASCII_LIMIT = 128;
const IS_WORD = Uint8Array.from({ length: ASCII_LIMIT }, (_, code) =>
  /[A-Za-z0-9_$]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Gets a token's range in the UTF-16 units of the text, and a hash of them. The units are good for this call only. */
export type SeeToken = (start: number, end: number, hash: number, units: Uint16Array) => void;

/** Kept for the next text; a longer one gets its own. */
const KEPT_UNITS = 65_536;
let kept: Uint16Array<ArrayBuffer> | undefined;

/** Calls `see` with every token, in order. Linear, whatever the text. */
export function scanTokens(text: string, see: SeeToken): void {
  const units = unitsOf(text);
  const { length } = text;
  let at = 0;
  while (at < length) {
    let code = units[at] ?? 0;
    if (code < ASCII_LIMIT && IS_WORD[code] === 0) {
      at += 1;
      continue;
    }
    const start = at;
    let hash = HASH_START;
    // The zero behind the last unit is in no word.
    while (code < ASCII_LIMIT && IS_WORD[code] === 1) {
      hash = Math.imul(hash ^ code, HASH_FACTOR);
      at += 1;
      code = units[at] ?? 0;
    }
    if (code >= ASCII_LIMIT) at = scanUnicode(text, start, at, units, see);
    else see(start, at, hash, units);
  }
  if (units.length <= KEPT_UNITS) kept = units;
}

/** Numbers in an array are read several times as fast as characters of a string. Ends with a zero. */
function unitsOf(text: string): Uint16Array<ArrayBuffer> {
  const fits = text.length < KEPT_UNITS;
  const units = (fits ? kept : undefined) ?? new Uint16Array(fits ? KEPT_UNITS : text.length + 1);
  // Whoever scans another text meanwhile gets other units.
  kept = undefined;
  Buffer.from(units.buffer).write(text, "utf16le");
  units[text.length] = 0;
  return units;
}

/** A token that may have begun in ASCII and meets `at` something that only Unicode's tables know. Gives where to go on. */
function scanUnicode(text: string, start: number, at: number, units: Uint16Array, see: SeeToken): number {
  TOKEN.lastIndex = start;
  const matched = TOKEN.exec(text) !== null && TOKEN.lastIndex > at;
  const end = matched ? TOKEN.lastIndex : at;
  if (end > start) {
    see(start, end, hashUnits(text, HASH_START, start, end), units);
    return end;
  }
  // A sign that is in no word: a dash, a quotation mark. Outside of the first plane it has two units.
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** The runs of one token: where a script without spaces meets one with them, a new run begins. */
export function runsOf(token: string): readonly Run[] {
  if (!NOT_ASCII.test(token)) return wordRun(token, 0);
  if (!HAS_UNSPACED.test(token)) return wordRun(token, 0);
  const runs: Run[] = [];
  for (const found of token.matchAll(UNSPACED_OR_OTHER)) {
    if (STARTS_UNSPACED.test(found[0])) runs.push(characterRun(found[0], found.index));
    else runs.push(...wordRun(found[0], found.index));
  }
  return runs;
}

function wordRun(text: string, offset: number): readonly Run[] {
  if (text.length > TERM_LIMIT_CHARS) return [];
  const ascii = !NOT_ASCII.test(text);
  const plain = ascii ? text : text.normalize("NFKD").replace(MARKS, "");
  const parts = Array.from(plain.matchAll(ascii ? ASCII_PART : PART), (found) => ({
    // Where letters were taken apart, nobody knows any more where the parts were: each is the whole.
    start: plain.length === text.length ? offset + found.index : offset,
    end: plain.length === text.length ? offset + found.index + found[0].length : offset + text.length,
    word: ascii ? found[0].toLowerCase() : foldLetters(found[0].toLowerCase()),
  }));
  return parts.length === 0 ? [] : [{ unspaced: false, parts }];
}

function foldLetters(word: string): string {
  return word.replace(FOLDED_LETTERS, (letter) => LETTERS.get(letter) ?? letter);
}

function characterRun(text: string, offset: number): Run {
  // NFKC, not NFKD: the latter takes Hangul syllables apart.
  const plain = text.normalize("NFKC");
  const same = plain.length === text.length;
  let at = offset;
  const parts = Array.from(plain, (word) => {
    const start = at;
    at += word.length;
    return same ? { start, end: at, word } : { start: offset, end: offset + text.length, word };
  });
  return { unspaced: true, parts };
}
