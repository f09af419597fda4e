/** TextEncoder, TextDecoder (UTF-8 only), atob and btoa. Runs inside the isolate, which has none of them. */

const REPLACEMENT = 0xfffd;
const FROM_CODE_POINTS_MAX = 8192;
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_VALUES = new Map(Array.from(BASE64, (letter, value) => [letter, value]));

export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(text = ""): Uint8Array {
    const bytes: number[] = [];
    for (const letter of String(text)) {
      const read = letter.codePointAt(0) ?? 0;
      const code = read >= 0xd800 && read <= 0xdfff ? REPLACEMENT : read;
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return new Uint8Array(bytes);
  }
}

/** Where the decoder stands inside a sequence; bounds as in the Encoding Standard's UTF-8 decoder. */
type Utf8State = { code: number; seen: number; needed: number; lower: number; upper: number };

function freshState(): Utf8State {
  return { code: 0, seen: 0, needed: 0, lower: 0x80, upper: 0xbf };
}

/** Begins a sequence; false for a byte that begins none. */
function lead(state: Utf8State, byte: number): boolean {
  if (byte >= 0xc2 && byte <= 0xdf) {
    state.needed = 1;
    state.code = byte & 0x1f;
  } else if (byte >= 0xe0 && byte <= 0xef) {
    if (byte === 0xe0) state.lower = 0xa0;
    if (byte === 0xed) state.upper = 0x9f;
    state.needed = 2;
    state.code = byte & 0xf;
  } else if (byte >= 0xf0 && byte <= 0xf4) {
    if (byte === 0xf0) state.lower = 0x90;
    if (byte === 0xf4) state.upper = 0x8f;
    state.needed = 3;
    state.code = byte & 0x7;
  } else return false;
  return true;
}

function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return new Uint8Array(0);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw new TypeError("TextDecoder.decode takes an ArrayBuffer or a view of one");
}

export class TextDecoder {
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  #state = freshState();
  #bomSeen = false;

  constructor(label = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(String(label).trim().toLowerCase())) {
      throw new RangeError(`TextDecoder knows only utf-8 here, not "${label}"`);
    }
    this.fatal = options.fatal === true;
    this.ignoreBOM = options.ignoreBOM === true;
  }

  get encoding(): string {
    return "utf-8";
  }

  decode(input?: unknown, options: { stream?: boolean } = {}): string {
    const bytes = bytesOf(input);
    const codes: number[] = [];
    let text = "";
    for (let index = 0; index < bytes.length; index += 1) {
      if (!this.#take(bytes[index] as number, codes)) index -= 1;
      if (codes.length >= FROM_CODE_POINTS_MAX) text += String.fromCodePoint(...codes.splice(0));
    }
    if (options.stream !== true) {
      if (this.#state.needed > 0) codes.push(this.#replacement());
      this.#state = freshState();
    }
    text += String.fromCodePoint(...codes);
    const marked = !this.#bomSeen && text.length > 0;
    this.#bomSeen = options.stream === true && (this.#bomSeen || marked);
    return marked && !this.ignoreBOM && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  /** Takes one byte; false when it must be looked at again, as the first of the next sequence. */
  #take(byte: number, codes: number[]): boolean {
    const state = this.#state;
    if (state.needed === 0) {
      if (byte < 0x80) codes.push(byte);
      else if (!lead(state, byte)) codes.push(this.#replacement());
      return true;
    }
    if (byte < state.lower || byte > state.upper) {
      this.#state = freshState();
      codes.push(this.#replacement());
      return false;
    }
    state.lower = 0x80;
    state.upper = 0xbf;
    state.code = (state.code << 6) | (byte & 63);
    state.seen += 1;
    if (state.seen < state.needed) return true;
    codes.push(state.code);
    this.#state = freshState();
    return true;
  }

  #replacement(): number {
    if (this.fatal) {
      this.#state = freshState();
      throw new TypeError("the bytes are not UTF-8");
    }
    return REPLACEMENT;
  }
}

function invalidCharacter(message: string): Error {
  const error = new Error(message);
  error.name = "InvalidCharacterError";
  return error;
}

export function btoa(input: unknown): string {
  const text = String(input);
  let out = "";
  for (let index = 0; index < text.length; index += 3) {
    const [first, second, third] = [text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2)];
    if (first > 255 || second > 255 || third > 255) throw invalidCharacter("btoa takes characters up to U+00FF only");
    const bits = (first << 16) | ((second || 0) << 8) | (third || 0);
    out += BASE64.charAt(bits >> 18) + BASE64.charAt((bits >> 12) & 63);
    out += index + 1 < text.length ? BASE64.charAt((bits >> 6) & 63) : "=";
    out += index + 2 < text.length ? BASE64.charAt(bits & 63) : "=";
  }
  return out;
}

export function atob(input: unknown): string {
  let text = String(input).replace(/[\t\n\f\r ]/g, "");
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, "");
  if (text.length % 4 === 1) throw invalidCharacter("atob got text that is not base64");
  let bits = 0;
  let held = 0;
  let out = "";
  for (const letter of text) {
    const value = BASE64_VALUES.get(letter);
    if (value === undefined) throw invalidCharacter("atob got text that is not base64");
    bits = (bits << 6) | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += String.fromCharCode((bits >> held) & 255);
    bits &= (1 << held) - 1;
  }
  return out;
}
