/** Bytes of UTF-8 to text, as the Encoding Standard decodes them. Runs inside the isolate. */

import { textOfCodes } from "./text-codes.ts";

const { apply } = Reflect;
const { subarray } = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
const { join } = Array.prototype;
const decodeEscapes = decodeURIComponent;
// Deprecated, and there in every JavaScript: together with the line above it decodes UTF-8 in native code, ten times
// faster than a loop that is interpreted.
const escapeCodes = escape;

const REPLACEMENT = 0xfffd;
/** Bytes outside of these begin no character beyond ASCII. */
const LEAD_MIN = 0xc2;
const LEAD_MAX = 0xf4;
/** Bytes decoded at once; what escaping makes of them takes up to six times the room. */
const PIECE_BYTES = 65_536;

/** How many bytes follow this one, and between which bounds the first of them lies; undefined for no lead byte. */
function following(lead: number): { readonly count: number; readonly low: number; readonly high: number } | undefined {
  if (lead >= 0xc2 && lead <= 0xdf) return { count: 1, low: 0x80, high: 0xbf };
  if (lead >= 0xe0 && lead <= 0xef)
    return { count: 2, low: lead === 0xe0 ? 0xa0 : 0x80, high: lead === 0xed ? 0x9f : 0xbf };
  if (lead >= 0xf0 && lead <= 0xf4)
    return { count: 3, low: lead === 0xf0 ? 0x90 : 0x80, high: lead === 0xf4 ? 0x8f : 0xbf };
  return undefined;
}

/** How many bytes of a sequence that starts at `at` are good, the lead byte included; `count` is what it needs. */
function goodBytes(bytes: Uint8Array, at: number): { readonly good: number; readonly count: number } {
  const rule = following(bytes[at] as number);
  if (!rule) return { good: 0, count: 0 };
  let { low, high } = rule;
  let good = 1;
  for (; good <= rule.count; good += 1) {
    const byte = bytes[at + good];
    if (byte === undefined || byte < low || byte > high) break;
    low = 0x80;
    high = 0xbf;
  }
  return { good, count: rule.count + 1 };
}

/** Length of a sequence at the end that is right so far and lacks bytes; 0 for none. */
export function unfinishedTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const { good, count } = goodBytes(bytes, bytes.length - back);
    return good === back && good < count ? back : 0;
  }
  return 0;
}

/** With U+FFFD for what is wrong: one for each longest part of a sequence that could have been right. */
function decodeLoosely(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length);
  let at = 0;
  let written = 0;
  while (at < bytes.length) {
    const lead = bytes[at] as number;
    if (lead < 0x80) {
      units[written++] = lead;
      at += 1;
      continue;
    }
    if (lead < LEAD_MIN || lead > LEAD_MAX) {
      units[written++] = REPLACEMENT;
      at += 1;
      continue;
    }
    const { good, count } = goodBytes(bytes, at);
    if (good < count) {
      units[written++] = REPLACEMENT;
      at += good;
      continue;
    }
    let code = lead & (0xff >> (count + 1));
    for (let next = 1; next < count; next += 1) code = (code << 6) | ((bytes[at + next] as number) & 63);
    if (code > 0xffff) {
      units[written++] = 0xd800 + ((code - 0x10000) >> 10);
      code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    units[written++] = code;
    at += count;
  }
  return textOfCodes(units.subarray(0, written));
}

function decodePiece(bytes: Uint8Array): string | undefined {
  const codes = textOfCodes(bytes);
  try {
    return decodeEscapes(escapeCodes(codes));
  } catch {
    return undefined;
  }
}

/** Undefined for bytes that are no UTF-8, when `fatal`. A byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array, fatal: boolean): string | undefined {
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = from + PIECE_BYTES;
    // No sequence is cut; in a run of stray bytes longer than any sequence it does not matter.
    for (let back = 0; back < 3 && to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80; back += 1) to -= 1;
    const piece = apply(subarray, bytes, [from, to]) as Uint8Array;
    const text = decodePiece(piece) ?? (fatal ? undefined : decodeLoosely(piece));
    if (text === undefined) return undefined;
    pieces[pieces.length] = text;
    from = to;
  }
  return apply(join, pieces, [""]) as string;
}

/** As bodies and files are read: what is wrong is replaced, and a byte order mark taken away. */
export function textOfUtf8(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes, false) ?? "";
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
