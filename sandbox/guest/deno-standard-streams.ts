/** `Deno.stdin`, `stdout` and `stderr`. Part of a library; runs inside the isolate. */

import type { DenoParts } from "./deno-library.ts";
import { type ByteReader, type ByteWriter, readableOf, writableOf } from "./deno-streams.ts";

const PIECE_BYTES = 64 * 1024;

function bytesArgument(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new TypeError("expected type `Uint8Array`");
  return value;
}

export function standardStreams({ call, callNow, terminals, write, denoError, notOffered, bytesOfBase64 }: DenoParts) {
  function gone(): Error {
    return denoError("BadResource", "Bad resource ID");
  }

  class Stdin {
    #isClosed = false;
    #readable: ByteReader | undefined;

    async read(into: unknown): Promise<number | null> {
      const buffer = bytesArgument(into);
      if (this.#isClosed) throw gone();
      if (buffer.length === 0) return 0;
      const piece = await call("inputRead", { bytes: buffer.length });
      if (piece === null) return null;
      const bytes = bytesOfBase64(piece);
      buffer.set(bytes);
      return bytes.length;
    }
    readSync(into: unknown): number | null {
      const buffer = bytesArgument(into);
      if (this.#isClosed) throw gone();
      if (buffer.length === 0) return 0;
      const piece = callNow("inputRead", { bytes: buffer.length });
      if (piece === null) return null;
      const bytes = bytesOfBase64(piece);
      buffer.set(bytes);
      return bytes.length;
    }
    get readable(): ByteReader {
      this.#readable ??= readableOf({
        read: async () => {
          const buffer = new Uint8Array(PIECE_BYTES);
          const count = await this.read(buffer);
          return count === null ? null : buffer.slice(0, count);
        },
        close: () => {
          this.#isClosed = true;
        },
      });
      return this.#readable;
    }
    setRaw(): never {
      throw notOffered("Deno.stdin.setRaw", "");
    }
    isTerminal(): boolean {
      return terminals.stdin;
    }
    close(): void {
      if (this.#isClosed) throw gone();
      this.#isClosed = true;
    }
  }

  class Output {
    readonly #to: "stdout" | "stderr";
    #isClosed = false;
    #writable: ByteWriter | undefined;

    constructor(to: "stdout" | "stderr") {
      this.#to = to;
    }
    async write(data: unknown): Promise<number> {
      return this.writeSync(data);
    }
    writeSync(data: unknown): number {
      const bytes = bytesArgument(data);
      if (this.#isClosed) throw gone();
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) write(this.#to, bytes.subarray(at, at + PIECE_BYTES));
      return bytes.length;
    }
    get writable(): ByteWriter {
      this.#writable ??= writableOf({
        write: async (bytes) => void this.writeSync(bytes),
        close: () => {
          this.#isClosed = true;
        },
      });
      return this.#writable;
    }
    isTerminal(): boolean {
      return terminals[this.#to];
    }
    close(): void {
      if (this.#isClosed) throw gone();
      this.#isClosed = true;
    }
  }
  class Stdout extends Output {
    constructor() {
      super("stdout");
    }
  }
  class Stderr extends Output {
    constructor() {
      super("stderr");
    }
  }
  return { stdin: new Stdin(), stdout: new Stdout(), stderr: new Stderr() };
}
