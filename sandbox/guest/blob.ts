/** Blob and File. Runs inside the isolate. */

import type { ReadableStream } from "web-streams-polyfill";
import { bytesOf, isBufferSource, joinBytes } from "./buffer-source.ts";
import { CLONED } from "./guest-clone.ts";
import { TextEncoder } from "./guest-text.ts";
import { showMembers } from "./shown-members.ts";
import { streamOfBytes } from "./stream-library.ts";
import { textOfUtf8 } from "./utf8.ts";

type BlobOptions = { type?: unknown; endings?: unknown };

const { now } = Date;
const encoder = new TextEncoder();

function typeText(type: unknown): string {
  const text = type === undefined ? "" : String(type);
  return /[^\x20-\x7e]/.test(text) ? "" : text.toLowerCase();
}

function place(at: unknown, otherwise: number, size: number): number {
  const wanted = at === undefined ? otherwise : Math.trunc(Number(at)) || 0;
  return wanted < 0 ? Math.max(size + wanted, 0) : Math.min(wanted, size);
}

/** The bytes of a blob, for those who send it. */
export let bytesOfBlob: (blob: Blob) => Uint8Array<ArrayBuffer>;

export class Blob {
  #bytes: Uint8Array<ArrayBuffer>;
  readonly #type: string;

  static {
    bytesOfBlob = (blob) => blob.#bytes;
  }

  constructor(parts: Iterable<unknown> = [], options: BlobOptions | null = {}) {
    if (typeof parts !== "object" || parts === null || !(Symbol.iterator in parts))
      throw new TypeError("a Blob is made of a sequence of parts");
    const native = options?.endings === "native";
    this.#bytes = joinBytes(
      Array.from(parts, (part) => {
        if (isBufferSource(part)) return bytesOf(part, "Blob").slice();
        if (part instanceof Blob) return part.#bytes;
        const text = String(part);
        return encoder.encode(native ? text.replace(/\r\n?/g, "\n") : text);
      }),
    );
    this.#type = typeText(options?.type);
  }

  get size(): number {
    return this.#bytes.length;
  }

  get type(): string {
    return this.#type;
  }

  slice(start?: unknown, end?: unknown, type?: unknown): Blob {
    const from = place(start, 0, this.size);
    const blob = new Blob([], { type });
    blob.#bytes = this.#bytes.slice(from, Math.max(from, place(end, this.size, this.size)));
    return blob;
  }

  async text(): Promise<string> {
    return textOfUtf8(this.#bytes);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes.slice();
  }

  stream(): ReadableStream<unknown> {
    return streamOfBytes(this.#bytes);
  }

  /** Bytes of a blob never change: a copy may have the same. */
  [CLONED](): Blob {
    const blob = new Blob([], { type: this.#type });
    blob.#bytes = this.#bytes;
    return blob;
  }

  get [Symbol.toStringTag](): string {
    return "Blob";
  }
}

export class File extends Blob {
  readonly #name: string;
  readonly #lastModified: number;

  constructor(
    parts: Iterable<unknown>,
    name: unknown,
    options: (BlobOptions & { lastModified?: unknown }) | null = {},
  ) {
    if (arguments.length < 2) throw new TypeError("a File is made of parts and a name");
    super(parts, options);
    this.#name = String(name);
    this.#lastModified = options?.lastModified === undefined ? now() : Math.trunc(Number(options.lastModified)) || 0;
  }

  get name(): string {
    return this.#name;
  }

  get lastModified(): number {
    return this.#lastModified;
  }

  get webkitRelativePath(): string {
    return "";
  }

  override [CLONED](): File {
    return new File([this], this.#name, { type: this.type, lastModified: this.#lastModified });
  }

  override get [Symbol.toStringTag](): string {
    return "File";
  }
}

showMembers(Blob, ["size", "type"]);
showMembers(File, ["name", "size", "type"]);
