/** Streams, which are a library of their own, and the bytes in them. Runs inside the isolate. */

import type { ReadableStream } from "web-streams-polyfill";
import { bytesOf, joinBytes } from "./buffer-source.ts";
import { defineLazily } from "./lazy-library.ts";

type Streams = ReturnType<typeof import("./streams.ts").webStreams>;

const NAMES = [
  "ByteLengthQueuingStrategy",
  "CompressionStream",
  "CountQueuingStrategy",
  "DecompressionStream",
  "ReadableByteStreamController",
  "ReadableStream",
  "ReadableStreamBYOBReader",
  "ReadableStreamBYOBRequest",
  "ReadableStreamDefaultController",
  "ReadableStreamDefaultReader",
  "TextDecoderStream",
  "TextEncoderStream",
  "TransformStream",
  "TransformStreamDefaultController",
  "WritableStream",
  "WritableStreamDefaultController",
  "WritableStreamDefaultWriter",
];
/** Bytes that a stream of a Blob or a body hands over at once. */
const CHUNK_BYTES = 65_536;

type Classes = Pick<Streams, "ReadableStream" | "TransformStream">;

let loader: () => Classes = () => {
  throw new TypeError("streams are not there yet");
};
let classes: Classes | undefined;

function streams(): Classes {
  classes ??= loader();
  return classes;
}

/** Puts the classes of streams into the global scope; the first look at one loads them all. */
export function installStreams(load: () => Classes, defineGlobal: (name: string, value: unknown) => void): void {
  loader = load;
  defineLazily(NAMES, streams, defineGlobal);
}

/** Where the classes were never loaded there is no instance of them. */
export function isReadableStream(value: unknown): value is ReadableStream<unknown> {
  return classes !== undefined && value instanceof classes.ReadableStream;
}

/** Whether anything was read from it, or it was cancelled. */
export function wasRead(stream: ReadableStream<unknown>): boolean {
  return (stream as unknown as { readonly _disturbed: boolean })._disturbed;
}

/** A stream of bytes; each chunk is a copy. */
export function streamOfBytes(bytes: Uint8Array): ReadableStream<unknown> {
  let at = 0;
  return new (streams().ReadableStream)({
    type: "bytes",
    pull(controller) {
      const chunk = bytes.slice(at, at + CHUNK_BYTES);
      at += chunk.length;
      if (chunk.length > 0) controller.enqueue(chunk);
      if (at < bytes.length) return;
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** Reads a stream to its end. Rejects with a TypeError for a chunk that is no Uint8Array. */
export async function bytesOfStream(stream: ReadableStream<unknown>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (!(next.value instanceof Uint8Array)) {
      const error = new TypeError("a body is a stream of Uint8Array");
      await reader.cancel(error);
      throw error;
    }
    chunks.push(bytesOf(next.value, "a body"));
  }
  return joinBytes(chunks);
}

/** A stream of what is left in another one, which is locked from now on. */
export function handedOver(stream: ReadableStream<unknown>): ReadableStream<unknown> {
  return stream.pipeThrough(new (streams().TransformStream)());
}
