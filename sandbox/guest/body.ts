/** What Request and Response have in common: a body of bytes that is read once. Runs inside the isolate. */

import type { ReadableStream } from "web-streams-polyfill";
import { Blob, bytesOfBlob } from "./blob.ts";
import { bytesOf, isBufferSource } from "./buffer-source.ts";
import { decodeForm, encodeForm, FormData } from "./form-data.ts";
import { TextEncoder } from "./guest-text.ts";
import { Headers } from "./headers.ts";
import { bytesOfStream, handedOver, isReadableStream, streamOfBytes, wasRead } from "./stream-library.ts";
import { isSearchParams, searchParams } from "./url-library.ts";
import { textOfUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
let boundaries = 0;

/** Bytes that are all there, or that come. */
export type Payload = {
  readonly content: Uint8Array<ArrayBuffer> | ReadableStream<unknown>;
  readonly type: string | null;
};

/** Turns what a guest gives as a body into bytes, and says which content type goes with it. */
export function payloadOf(body: unknown): Payload | null {
  if (body === null || body === undefined) return null;
  if (isBufferSource(body)) return { content: bytesOf(body, "a body").slice(), type: null };
  if (body instanceof Blob) return { content: bytesOfBlob(body), type: body.type === "" ? null : body.type };
  if (body instanceof FormData) {
    boundaries += 1;
    const boundary = `----formdata-clawd-${`${boundaries}`.padStart(12, "0")}`;
    return { content: encodeForm(body, boundary), type: `multipart/form-data; boundary=${boundary}` };
  }
  if (isSearchParams(body))
    return { content: encoder.encode(String(body)), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  if (isReadableStream(body)) {
    if (body.locked || wasRead(body)) throw new TypeError("the stream is read already: it cannot be a body");
    return { content: body, type: null };
  }
  return { content: encoder.encode(String(body)), type: "text/plain;charset=UTF-8" };
}

/** Names that no code of the guest's meets. */
export const SHARED = Symbol("shared");
export const HANDED_OVER = Symbol("handed over");
export const WHOLE = Symbol("whole");

export class Body {
  #content: Payload["content"] | null;
  readonly #headers: Headers;
  /** The bytes were taken; a stream knows by itself. */
  #taken = false;

  /** Adds the content type that goes with the payload, unless there is one. */
  constructor(payload: Payload | null, headers: Headers) {
    this.#content = payload?.content ?? null;
    this.#headers = headers;
    if (payload?.type && !headers.has("content-type")) headers.set("content-type", payload.type);
  }

  get headers(): Headers {
    return this.#headers;
  }

  get body(): ReadableStream<unknown> | null {
    if (this.#content instanceof Uint8Array) {
      const stream = streamOfBytes(this.#content);
      // Of bytes that were taken, an end is what is left.
      if (this.#taken) void stream.cancel();
      this.#content = stream;
    }
    return this.#content;
  }

  get bodyUsed(): boolean {
    return this.#content instanceof Uint8Array ? this.#taken : this.#content !== null && wasRead(this.#content);
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
    this.#checkUnread();
    if (this.#content === null) return null;
    if (this.#content instanceof Uint8Array) return { content: this.#content, type: null };
    const [own, other] = this.#content.tee();
    this.#content = own;
    return { content: other, type: null };
  }

  /** The payload for another body; this one is used up then. */
  [HANDED_OVER](): Payload | null {
    this.#checkUnread();
    const content = this.#content;
    if (content === null) return null;
    if (!(content instanceof Uint8Array)) return { content: handedOver(content), type: null };
    this.#taken = true;
    return { content, type: null };
  }

  /** All of it, for those who send it; null for none. */
  async [WHOLE](): Promise<Uint8Array<ArrayBuffer> | null> {
    return this.#content === null ? null : this.#read();
  }

  #isLocked(): boolean {
    return this.#content !== null && !(this.#content instanceof Uint8Array) && this.#content.locked;
  }

  #checkUnread(): void {
    if (this.#isLocked() || this.bodyUsed) throw new TypeError("Body is unusable");
  }

  async #read(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.bodyUsed) throw new TypeError("Body already consumed");
    if (this.#isLocked()) throw new TypeError("Body is unusable");
    if (this.#content === null) return new Uint8Array(0);
    if (!(this.#content instanceof Uint8Array)) return bytesOfStream(this.#content);
    this.#taken = true;
    return this.#content;
  }
}

/** Headers that are this guest's own, with those given. */
export function newHeaders(init: unknown): Headers {
  return new Headers(init ?? undefined);
}
