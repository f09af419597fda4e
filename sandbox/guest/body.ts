/** What Request and Response have in common: a body of bytes that is read once. Runs inside the isolate. */

import { Blob, bytesOfBlob } from "./blob.ts";
import { bytesOf, isBufferSource } from "./buffer-source.ts";
import { type ByteStream, byteStream } from "./byte-stream.ts";
import { decodeForm, encodeForm, FormData } from "./form-data.ts";
import { TextEncoder } from "./guest-text.ts";
import { Headers } from "./headers.ts";
import { isSearchParams, searchParams } from "./url-library.ts";
import { textOfUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
let boundaries = 0;

export type Payload = { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string | null };

function isStream(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("getReader" in value || Symbol.asyncIterator in value);
}

/** Turns what a guest gives as a body into bytes, and says which content type goes with it. */
export function payloadOf(body: unknown): Payload | null {
  if (body === null || body === undefined) return null;
  if (isBufferSource(body)) return { bytes: bytesOf(body, "a body").slice(), type: null };
  if (body instanceof Blob) return { bytes: bytesOfBlob(body), type: body.type === "" ? null : body.type };
  if (body instanceof FormData) {
    boundaries += 1;
    const boundary = `----formdata-clawd-${`${boundaries}`.padStart(12, "0")}`;
    return { bytes: encodeForm(body, boundary), type: `multipart/form-data; boundary=${boundary}` };
  }
  if (isSearchParams(body))
    return { bytes: encoder.encode(String(body)), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  if (isStream(body)) throw new TypeError("a stream is not offered as a body: give text or bytes");
  return { bytes: encoder.encode(String(body)), type: "text/plain;charset=UTF-8" };
}

/** Names that no code of the guest's meets. */
export const SHARED = Symbol("shared");
export const HANDED_OVER = Symbol("handed over");

export class Body {
  readonly #payload: Payload | null;
  readonly #headers: Headers;
  readonly #stream: ByteStream | null;
  #used = false;

  /** Adds the content type that goes with the payload, unless there is one. */
  constructor(payload: Payload | null, headers: Headers) {
    this.#payload = payload;
    this.#headers = headers;
    this.#stream = payload && byteStream(() => this.#take());
    if (payload?.type && !headers.has("content-type")) headers.set("content-type", payload.type);
  }

  get headers(): Headers {
    return this.#headers;
  }

  get body(): ByteStream | null {
    return this.#stream;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  async text(): Promise<string> {
    return textOfUtf8(await this.#read());
  }

  async json(): Promise<unknown> {
    return JSON.parse(textOfUtf8(await this.#read()));
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.#read()).slice();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.#read()], { type: this.#headers.get("content-type") ?? "" });
  }

  async formData(): Promise<FormData> {
    const type = this.#headers.get("content-type") ?? "";
    const boundary = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type);
    if (boundary) return decodeForm(await this.#read(), boundary[1] ?? boundary[2] ?? "");
    if (!/^application\/x-www-form-urlencoded\b/i.test(type))
      throw new TypeError("the body is not a form: its content type says so");
    const form = new FormData();
    for (const [name, value] of searchParams(textOfUtf8(await this.#read()))) form.append(name, value);
    return form;
  }

  /** The same payload, for a clone; throws a TypeError when it was read. */
  [SHARED](): Payload | null {
    if (this.#used || this.#stream?.locked) throw new TypeError("Body is unusable");
    return this.#payload;
  }

  /** The payload for another body; this one is used up then. */
  [HANDED_OVER](): Payload | null {
    const payload = this[SHARED]();
    this.#used = payload !== null;
    return payload;
  }

  #read(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#stream?.locked) throw new TypeError("Body is unusable");
    return this.#take();
  }

  async #take(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#used) throw new TypeError("Body already consumed");
    if (!this.#payload) return new Uint8Array(0);
    this.#used = true;
    return this.#payload.bytes;
  }
}

/** Headers that are this guest's own, with those given. */
export function newHeaders(init: unknown): Headers {
  return new Headers(init ?? undefined);
}
