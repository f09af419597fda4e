/**
 * TextEncoder and TextDecoder: UTF-8, UTF-16 and windows-1252, which is what "latin1" means; the encodings of old pages are a
 * library of their own. Runs inside the isolate.
 */

import { bytesOf, joinBytes } from "./buffer-source.ts";
import { textOfCodes } from "./text-codes.ts";
import { decodeUtf8, unfinishedTail } from "./utf8.ts";

const LABELS: Readonly<Record<string, readonly string[]>> = {
  "utf-8": ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"],
  "utf-16le": ["utf-16le", "utf-16", "unicode", "ucs-2", "csunicode", "iso-10646-ucs-2", "unicodefeff"],
  "utf-16be": ["utf-16be", "unicodefffe"],
  "windows-1252": [
    "latin1",
    "iso-8859-1",
    "iso8859-1",
    "iso88591",
    "iso_8859-1",
    "iso_8859-1:1987",
    "iso-ir-100",
    "csisolatin1",
    "l1",
    "cp819",
    "ibm819",
    "ascii",
    "us-ascii",
    "ansi_x3.4-1968",
    "windows-1252",
    "cp1252",
    "x-cp1252",
  ],
};

/** What windows-1252 has at 0x80 to 0x9F. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** A decoder of an old encoding. */
type OldDecoder = { readonly encoding: string; decode(bytes: Uint8Array, options: { stream: boolean }): string };
export type Encodings = { readonly TextDecoder: new (label: string, options: object) => OldDecoder };

let encodings: (() => Encodings) | undefined;

/** Where the decoders of all other labels come from. */
export function useEncodings(load: () => Encodings): void {
  encodings = load;
}

/** Undefined for a label that is not known here. */
function encodingOf(label: unknown): string | undefined {
  const wanted = String(label)
    .replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "")
    .toLowerCase();
  for (const [encoding, labels] of Object.entries(LABELS)) if (labels.includes(wanted)) return encoding;
  return undefined;
}

/** Throws a RangeError for a label that nobody knows. */
function oldDecoder(label: unknown, options: object): OldDecoder {
  try {
    if (encodings) return new (encodings().TextDecoder)(String(label), options);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new RangeError(`The encoding label provided ('${String(label)}') is invalid.`);
}

/** Writes UTF-8 into `bytes` while whole characters fit; a lone surrogate becomes U+FFFD. */
function encodeUtf8(text: string, bytes: Uint8Array): { read: number; written: number } {
  const { length } = text;
  const room = bytes.length;
  let read = 0;
  let written = 0;
  for (; read < length; read += 1) {
    let code = text.charCodeAt(read);
    if (code < 0x80) {
      if (written >= room) break;
      bytes[written++] = code;
      continue;
    }
    let units = 1;
    if (code >= 0xd800 && code <= 0xdfff) {
      const low = code <= 0xdbff ? text.charCodeAt(read + 1) : 0;
      const paired = low >= 0xdc00 && low <= 0xdfff;
      units = paired ? 2 : 1;
      code = paired ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    }
    const size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (written + size > room) break;
    if (size === 2) bytes[written++] = 0xc0 | (code >> 6);
    else {
      if (size === 3) bytes[written++] = 0xe0 | (code >> 12);
      else {
        bytes[written++] = 0xf0 | (code >> 18);
        bytes[written++] = 0x80 | ((code >> 12) & 63);
      }
      bytes[written++] = 0x80 | ((code >> 6) & 63);
    }
    bytes[written++] = 0x80 | (code & 63);
    read += units - 1;
  }
  return { read, written };
}

/** Three bytes for a UTF-16 unit are enough for any text; most texts need one. */
function encodeWhole(text: string): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(text.length);
  const { read, written } = encodeUtf8(text, head);
  if (read === text.length) return written === head.length ? head : head.slice(0, written);
  const rest = text.slice(read);
  const bytes = new Uint8Array(written + rest.length * 3);
  bytes.set(head.subarray(0, written));
  const more = encodeUtf8(rest, bytes.subarray(written));
  return bytes.slice(0, written + more.written);
}

export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(text: unknown = ""): Uint8Array<ArrayBuffer> {
    return encodeWhole(String(text));
  }

  encodeInto(text: unknown, into: unknown): { read: number; written: number } {
    if (!(into instanceof Uint8Array)) throw new TypeError("TextEncoder.encodeInto writes into a Uint8Array");
    return encodeUtf8(String(text), into);
  }

  get [Symbol.toStringTag](): string {
    return "TextEncoder";
  }
}

/** Bytes at the end that belong to a character of which more may come: an odd byte, and half a pair before it. */
function unfinishedUnits(bytes: Uint8Array, high: 0 | 1): number {
  const odd = bytes.length % 2;
  const last = bytes[bytes.length - odd - 2 + high];
  return odd + (last !== undefined && last >= 0xd8 && last <= 0xdb ? 2 : 0);
}

function notValid(encoding: string): TypeError {
  return new TypeError(`The encoded data was not valid for encoding ${encoding}`);
}

function decodeUtf16(bytes: Uint8Array, high: 0 | 1, fatal: boolean): string {
  const units = new Uint16Array(bytes.length >> 1);
  for (let at = 0; at < units.length; at += 1)
    units[at] = ((bytes[at * 2 + high] as number) << 8) | (bytes[at * 2 + 1 - high] as number);
  const text = textOfCodes(units);
  const odd = bytes.length % 2 === 1;
  if (fatal && (odd || !text.isWellFormed())) throw notValid(high === 1 ? "utf-16le" : "utf-16be");
  // An odd byte at the end, and half a pair before it, are one error.
  return odd ? `${text.replace(/[\ud800-\udbff]$/, "").toWellFormed()}\ufffd` : text.toWellFormed();
}

function decodeWindows1252(bytes: Uint8Array): string {
  return textOfCodes(bytes).replace(/[\x80-\x9f]/g, (letter) => WINDOWS_1252.charAt(letter.charCodeAt(0) - 0x80));
}

export class TextDecoder {
  readonly #encoding: string;
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;
  /** Bytes of a character of which the rest has not come yet. */
  #held = new Uint8Array(0);
  #begun = false;
  readonly #old: OldDecoder | undefined;

  constructor(label: unknown = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } | null = {}) {
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
    const known = encodingOf(label);
    this.#old = known === undefined ? oldDecoder(label, { fatal: this.#fatal, ignoreBOM: this.#ignoreBOM }) : undefined;
    this.#encoding = known ?? this.#old?.encoding ?? "";
  }

  get encoding(): string {
    return this.#encoding;
  }
  get fatal(): boolean {
    return this.#fatal;
  }
  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(input?: unknown, options: { stream?: boolean } | null = {}): string {
    const given = input === undefined ? new Uint8Array(0) : bytesOf(input, "TextDecoder.decode");
    if (this.#old) return this.#old.decode(given, { stream: Boolean(options?.stream) });
    const bytes = this.#held.length === 0 ? given : joinBytes([this.#held, given]);
    const stream = Boolean(options?.stream);
    const keep = stream ? this.#unfinished(bytes) : 0;
    this.#held = bytes.slice(bytes.length - keep);
    const begun = this.#begun;
    let text: string;
    try {
      text = this.#decodeWhole(keep === 0 ? bytes : bytes.subarray(0, bytes.length - keep));
    } catch (error) {
      this.#held = new Uint8Array(0);
      this.#begun = false;
      throw error;
    }
    this.#begun = stream && (begun || text.length > 0);
    return !begun && !this.#ignoreBOM && this.#encoding.startsWith("utf") && text.charCodeAt(0) === 0xfeff
      ? text.slice(1)
      : text;
  }

  #unfinished(bytes: Uint8Array): number {
    if (this.#encoding === "utf-8") return unfinishedTail(bytes);
    return this.#encoding === "windows-1252" ? 0 : unfinishedUnits(bytes, this.#encoding === "utf-16le" ? 1 : 0);
  }

  #decodeWhole(bytes: Uint8Array): string {
    switch (this.#encoding) {
      case "utf-8": {
        const text = decodeUtf8(bytes, this.#fatal);
        if (text === undefined) throw notValid("utf-8");
        return text;
      }
      case "windows-1252":
        return decodeWindows1252(bytes);
      default:
        return decodeUtf16(bytes, this.#encoding === "utf-16le" ? 1 : 0, this.#fatal);
    }
  }

  get [Symbol.toStringTag](): string {
    return "TextDecoder";
  }
}
