/** Base64, between byte arrays and text, and atob and btoa over it. Runs inside the isolate. */

import { DOMException } from "./dom-exception.ts";
import { textOfCodes } from "./text-codes.ts";

const { apply } = Reflect;
const { charCodeAt, replace } = String.prototype;
const BytesOf = Uint8Array;
const StringOf = String;

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD = 61;
const NO_LETTER = 64;
const CODE_OF = new Uint8Array(64);
const VALUE_OF = new Uint8Array(128).fill(NO_LETTER);
for (let value = 0; value < 64; value += 1) {
  CODE_OF[value] = LETTERS.charCodeAt(value);
  VALUE_OF[LETTERS.charCodeAt(value)] = value;
}

type NativeBytes = { fromBase64?: (text: string) => Uint8Array };
type NativeView = { toBase64?: () => string };

// V8's own is fifty times faster than a loop without a JIT, where the hook host's flags turn it on.
const { fromBase64: nativeDecode } = Uint8Array as NativeBytes;
const { toBase64: nativeEncode } = Uint8Array.prototype as NativeView;

export function base64OfBytes(bytes: Uint8Array): string {
  if (nativeEncode) return apply(nativeEncode, bytes, []) as string;
  const { length } = bytes;
  const codes = new BytesOf(((length + 2 - ((length + 2) % 3)) / 3) * 4);
  let at = 0;
  for (let index = 0; index < length; index += 3) {
    const bits = ((bytes[index] as number) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    codes[at] = CODE_OF[bits >> 18] as number;
    codes[at + 1] = CODE_OF[(bits >> 12) & 63] as number;
    codes[at + 2] = index + 1 < length ? (CODE_OF[(bits >> 6) & 63] as number) : PAD;
    codes[at + 3] = index + 2 < length ? (CODE_OF[bits & 63] as number) : PAD;
    at += 4;
  }
  return textOfCodes(codes);
}

/** Takes letters without padding or space; undefined when there is anything else in it. */
function decodeLetters(text: string): Uint8Array<ArrayBuffer> | undefined {
  const { length } = text;
  const rest = length % 4;
  if (rest === 1) return undefined;
  const bytes = new BytesOf(((length - rest) / 4) * 3 + (rest === 0 ? 0 : rest - 1));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let index = 0; index < length; index += 1) {
    const code = apply(charCodeAt, text, [index]) as number;
    const value = code < 128 ? (VALUE_OF[code] as number) : NO_LETTER;
    if (value === NO_LETTER) return undefined;
    bits = (bits << 6) | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[at] = bits >> held;
    at += 1;
    bits &= (1 << held) - 1;
  }
  return bytes;
}

/** Base64 as the broker writes it, padding and all. Throws a TypeError for anything else. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  if (nativeDecode) return apply(nativeDecode, BytesOf, [text]) as Uint8Array<ArrayBuffer>;
  const bytes = decodeLetters(apply(replace, text, [/={1,2}$/, ""]) as string);
  if (!bytes) throw new TypeError("the text is not base64");
  return bytes;
}

export function btoa(input?: unknown): string {
  if (arguments.length === 0) throw new TypeError("btoa takes a text");
  const text = StringOf(input);
  const bytes = new BytesOf(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 255) throw new DOMException("btoa takes characters up to U+00FF only", "InvalidCharacterError");
    bytes[index] = code;
  }
  return base64OfBytes(bytes);
}

/** Forgiving, as the standard wants it: white space is skipped, padding may be missing. */
export function atob(input?: unknown): string {
  if (arguments.length === 0) throw new TypeError("atob takes a text");
  const tight = StringOf(input).replace(/[\t\n\f\r ]+/g, "");
  const letters = tight.length % 4 === 0 ? tight.replace(/={1,2}$/, "") : tight;
  const valid = letters.length % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(letters);
  const bytes = valid ? (nativeDecode ? bytesOfBase64(letters) : decodeLetters(letters)) : undefined;
  if (!bytes) throw new DOMException("the text is not base64", "InvalidCharacterError");
  return textOfCodes(bytes);
}

/** Takes V8's own away: what is experimental in it is for our own, well-formed use only. */
export function hideNativeBase64(): void {
  for (const name of ["fromBase64", "fromHex"]) delete (Uint8Array as unknown as Record<string, unknown>)[name];
  for (const name of ["toBase64", "toHex", "setFromBase64", "setFromHex"])
    delete (Uint8Array.prototype as unknown as Record<string, unknown>)[name];
}
