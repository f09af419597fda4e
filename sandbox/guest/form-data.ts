/** FormData, and its form as a body. Runs inside the isolate. */

import { Blob, bytesOfBlob, File } from "./blob.ts";
import { joinBytes } from "./buffer-source.ts";
import { TextEncoder } from "./guest-text.ts";
import { textOfCodes } from "./text-codes.ts";
import { decodeUtf8 } from "./utf8.ts";

type Value = string | File;
type Entry = readonly [string, Value];

/** Fields of one form at most. */
const FIELDS_MAX = 10_000;

const encoder = new TextEncoder();

function fieldValue(value: unknown, filename: unknown): Value {
  if (!(value instanceof Blob)) {
    if (filename !== undefined) throw new TypeError("a file name goes with a Blob only");
    return String(value).toWellFormed();
  }
  const named = value instanceof File && filename === undefined;
  return named ? value : new File([value], filename === undefined ? "blob" : filename, { type: value.type });
}

export class FormData {
  #list: Entry[] = [];

  constructor(form?: unknown) {
    if (form !== undefined) throw new TypeError("there are no form elements here");
  }

  append(name: unknown, value: unknown, filename?: unknown): void {
    if (this.#list.length >= FIELDS_MAX) throw new RangeError(`more than ${FIELDS_MAX} fields`);
    this.#list.push([String(name).toWellFormed(), fieldValue(value, filename)]);
  }

  set(name: unknown, value: unknown, filename?: unknown): void {
    const entry: Entry = [String(name).toWellFormed(), fieldValue(value, filename)];
    const at = this.#list.findIndex(([key]) => key === entry[0]);
    if (at < 0) {
      this.append(name, value, filename);
      return;
    }
    this.#list = this.#list.filter(([key], index) => key !== entry[0] || index === at);
    this.#list[at] = entry;
  }

  delete(name: unknown): void {
    this.#list = this.#list.filter(([key]) => key !== String(name));
  }

  get(name: unknown): Value | null {
    return this.#list.find(([key]) => key === String(name))?.[1] ?? null;
  }

  getAll(name: unknown): Value[] {
    return this.#list.filter(([key]) => key === String(name)).map(([, value]) => value);
  }

  has(name: unknown): boolean {
    return this.#list.some(([key]) => key === String(name));
  }

  forEach(callback: (value: Value, name: string, form: FormData) => void, thisArg?: unknown): void {
    for (const [name, value] of this) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  *entries(): Generator<[string, Value]> {
    for (let index = 0; index < this.#list.length; index += 1) {
      const [name, value] = this.#list[index] as Entry;
      yield [name, value];
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, Value]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return "FormData";
  }
}

function escapedName(name: string): string {
  return name
    .replace(/\r\n|\r|\n/g, "\r\n")
    .replace(/\r\n/g, "%0D%0A")
    .replace(/"/g, "%22");
}

/** `boundary` must not be part of any field. */
export function encodeForm(form: FormData, boundary: string): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapedName(name)}"`;
    if (typeof value === "string") {
      parts.push(encoder.encode(`${head}\r\n\r\n${value.replace(/\r\n|\r|\n/g, "\r\n")}\r\n`));
      continue;
    }
    const type = value.type === "" ? "application/octet-stream" : value.type;
    parts.push(encoder.encode(`${head}; filename="${escapedName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`));
    parts.push(bytesOfBlob(value), encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  return joinBytes(parts);
}

function bytesOfCodes(codes: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(codes.length);
  for (let at = 0; at < codes.length; at += 1) bytes[at] = codes.charCodeAt(at);
  return bytes;
}

function textOf(codes: string): string {
  return decodeUtf8(bytesOfCodes(codes), false) ?? "";
}

/** Reads a multipart body; throws a TypeError for what is none. */
export function decodeForm(body: Uint8Array, boundary: string): FormData {
  const form = new FormData();
  // One character a byte: its parts are found as in text.
  const codes = `\r\n${textOfCodes(body)}`;
  const parts = codes.split(`\r\n--${boundary}`);
  const end = parts.findIndex((part, index) => index > 0 && part.startsWith("--"));
  if (end < 1) throw new TypeError("the body is not a whole multipart form");
  for (const part of parts.slice(1, end)) {
    const split = part.indexOf("\r\n\r\n");
    const head = part.slice(0, split);
    const name = /content-disposition:[^\r]*?;\s*name="([^"]*)"/i.exec(head)?.[1];
    if (split < 0 || name === undefined) throw new TypeError("a part of the multipart form has no name");
    const plain = (text: string) =>
      textOf(text)
        .replace(/%0D%0A/gi, "\r\n")
        .replace(/%22/g, '"');
    const filename = /;\s*filename="([^"]*)"/i.exec(head)?.[1];
    const content = part.slice(split + 4);
    if (filename === undefined) form.append(plain(name), textOf(content));
    else {
      const type = /content-type:\s*([^\r]*)/i.exec(head)?.[1] ?? "text/plain";
      form.append(plain(name), new File([bytesOfCodes(content)], plain(filename), { type }));
    }
  }
  return form;
}
