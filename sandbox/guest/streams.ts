/** Streams, and those that code text and pack bytes: a library of its own. Runs inside the isolate. */

import {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "web-streams-polyfill";
import { bytesOf, isBufferSource } from "./buffer-source.ts";
import { type HostJob, type Json, PRESS_STEP_BYTES, type PressAnswer, type PressFormat } from "./guest-protocol.ts";
import type { TextDecoder, TextEncoder } from "./guest-text.ts";
import { showMembers } from "./shown-members.ts";

/** What of the prelude they are made over. */
export type StreamParts = {
  readonly TextEncoder: typeof TextEncoder;
  readonly TextDecoder: typeof TextDecoder;
  readonly base64OfBytes: (bytes: Uint8Array) => string;
  readonly bytesOfBase64: (text: string) => Uint8Array<ArrayBuffer>;
  readonly ask: (job: HostJob) => Promise<Json>;
};

type Controller = { enqueue(chunk: unknown): void };
type Pair = { readonly readable: ReadableStream; readonly writable: WritableStream };

const FORMATS: readonly unknown[] = ["gzip", "deflate", "deflate-raw"] satisfies PressFormat[];

/** Both ends of something that changes what flows through it. */
class Through {
  readonly #pair: Pair;

  constructor(pair: Pair) {
    this.#pair = pair;
  }

  get readable(): ReadableStream {
    return this.#pair.readable;
  }

  get writable(): WritableStream {
    return this.#pair.writable;
  }
}

function showLibrary(): void {
  for (const kind of [ByteLengthQueuingStrategy, CountQueuingStrategy]) showMembers(kind, ["highWaterMark", "size"]);
  for (const kind of [ReadableStreamDefaultReader, ReadableStreamBYOBReader]) showMembers(kind, ["closed"]);
  showMembers(WritableStreamDefaultWriter, ["closed", "desiredSize", "ready"]);
  showMembers(WritableStream, ["locked"]);
  showMembers(TransformStream, ["readable", "writable"]);
  showMembers(ReadableStream, ["locked"], {
    state: (stream: { readonly _state: string }) => stream._state,
    supportsBYOB: (stream: { readonly _readableStreamController: object }) =>
      stream._readableStreamController instanceof ReadableByteStreamController,
  });
}

export function webStreams(parts: StreamParts) {
  class TextEncoderStream extends Through {
    constructor() {
      const encoder = new parts.TextEncoder();
      let high = "";
      super(
        new TransformStream({
          transform(chunk: unknown, controller: Controller) {
            const text = high + String(chunk);
            // Half of a pair waits for the other one.
            high = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
            const whole = high === "" ? text : text.slice(0, -1);
            if (whole !== "") controller.enqueue(encoder.encode(whole));
          },
          flush(controller: Controller) {
            if (high !== "") controller.enqueue(encoder.encode(high));
          },
        }),
      );
    }

    get encoding(): string {
      return "utf-8";
    }

    get [Symbol.toStringTag](): string {
      return "TextEncoderStream";
    }
  }

  class TextDecoderStream extends Through {
    readonly #decoder: TextDecoder;

    constructor(label: unknown = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } | null = {}) {
      const decoder = new parts.TextDecoder(label, options);
      super(
        new TransformStream({
          transform(chunk: unknown, controller: Controller) {
            const text = decoder.decode(bytesOf(chunk, "TextDecoderStream"), { stream: true });
            if (text !== "") controller.enqueue(text);
          },
          flush(controller: Controller) {
            const text = decoder.decode();
            if (text !== "") controller.enqueue(text);
          },
        }),
      );
      this.#decoder = decoder;
    }

    get encoding(): string {
      return this.#decoder.encoding;
    }
    get fatal(): boolean {
      return this.#decoder.fatal;
    }
    get ignoreBOM(): boolean {
      return this.#decoder.ignoreBOM;
    }

    get [Symbol.toStringTag](): string {
      return "TextDecoderStream";
    }
  }

  let lastPress = 0;

  /** What comes out waits in the host until somebody reads: bytes that unpack to very many do not pile up here. */
  function press(way: "pack" | "unpack", format: unknown): Pair {
    if (!FORMATS.includes(format)) throw new TypeError(`'${String(format)}' is no format of compression`);
    lastPress += 1;
    const stream = lastPress;
    let wanted = Promise.withResolvers<void>();
    let out: { enqueue(chunk: unknown): void; close(): void; error(reason: unknown): void; desiredSize: number | null };
    let begun = false;

    function drop(): void {
      wanted.resolve();
      if (begun) parts.ask({ job: "dropPress", stream }).catch(() => {});
      begun = false;
    }

    async function push(bytes: Uint8Array, end: boolean): Promise<void> {
      for (let at = 0, more = true; more; ) {
        const piece = bytes.subarray(at, at + PRESS_STEP_BYTES);
        at += piece.length;
        const last = end && at >= bytes.length;
        begun = true;
        more = await step(piece, last);
        // What went in is not through: nothing else may go in until it is.
        while (more) more = await step(piece.subarray(0, 0), false);
        more = at < bytes.length;
      }
    }

    async function step(piece: Uint8Array, end: boolean): Promise<boolean> {
      const order = { stream, way, format: format as PressFormat, data: parts.base64OfBytes(piece), end };
      const answer = (await parts.ask({ job: "press", ...order })) as unknown as PressAnswer;
      if (answer.data !== "") {
        out.enqueue(parts.bytesOfBase64(answer.data));
        if ((out.desiredSize ?? 0) <= 0) {
          wanted = Promise.withResolvers();
          await wanted.promise;
        }
      }
      return answer.more;
    }

    async function orFail(work: Promise<void>): Promise<void> {
      try {
        await work;
      } catch (error) {
        begun = false;
        out.error(error);
        throw error;
      }
    }

    const readable = new ReadableStream(
      {
        start(controller) {
          out = controller;
        },
        pull: () => wanted.resolve(),
        cancel(reason) {
          drop();
          writer.error(reason);
        },
      },
      { highWaterMark: 1 },
    );
    let writer: { error(reason: unknown): void };
    const writable = new WritableStream({
      start(controller) {
        writer = controller;
      },
      async write(chunk: unknown) {
        if (!isBufferSource(chunk)) {
          const error = new TypeError("compression takes an ArrayBuffer or a view of one");
          drop();
          out.error(error);
          throw error;
        }
        await orFail(push(bytesOf(chunk, "compression").slice(), false));
      },
      async close() {
        await orFail(push(new Uint8Array(0), true));
        begun = false;
        out.close();
      },
      abort(reason) {
        drop();
        out.error(reason);
      },
    });
    return { readable, writable };
  }

  class CompressionStream extends Through {
    constructor(format: unknown) {
      super(press("pack", format));
    }

    get [Symbol.toStringTag](): string {
      return "CompressionStream";
    }
  }

  class DecompressionStream extends Through {
    constructor(format: unknown) {
      super(press("unpack", format));
    }

    get [Symbol.toStringTag](): string {
      return "DecompressionStream";
    }
  }

  showMembers(CompressionStream, ["readable", "writable"]);
  showMembers(DecompressionStream, ["readable", "writable"]);
  showMembers(TextDecoderStream, ["encoding", "fatal", "ignoreBOM", "readable", "writable"]);
  showMembers(TextEncoderStream, ["encoding", "readable", "writable"]);
  showLibrary();
  return {
    ByteLengthQueuingStrategy,
    CompressionStream,
    CountQueuingStrategy,
    DecompressionStream,
    ReadableByteStreamController,
    ReadableStream,
    ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest,
    ReadableStreamDefaultController,
    ReadableStreamDefaultReader,
    TextDecoderStream,
    TextEncoderStream,
    TransformStream,
    TransformStreamDefaultController,
    WritableStream,
    WritableStreamDefaultController,
    WritableStreamDefaultWriter,
  };
}
