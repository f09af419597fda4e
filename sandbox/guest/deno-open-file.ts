/** `Deno.open` and the files it gives. Part of a library; runs inside the isolate. */

import type { LibraryParts } from "./deno-library.ts";
import { type ByteReader, type ByteWriter, readableOf, writableOf } from "./deno-streams.ts";
import type { Handle, OpenOptions } from "./guest-protocol.ts";

/** Bytes of a stream of a file at once. */
const STREAM_PIECE_BYTES = 64 * 1024;
/** Bytes that go over to the broker, or come from it, in one call. */
const CALL_PIECE_BYTES = 1024 * 1024;
const NO_SYNC = [
  ...["read", "write", "seek", "stat", "truncate", "sync", "syncData", "utime"],
  ...["lock", "tryLock", "unlock"],
];

function openOptions(given: unknown): OpenOptions {
  const options = (typeof given === "object" && given !== null ? given : { read: true }) as Record<string, unknown>;
  const is = (name: string) => options[name] === true;
  return {
    ...{ read: is("read"), write: is("write"), append: is("append") },
    ...{ truncate: is("truncate"), create: is("create"), createNew: is("createNew") },
    mode: typeof options.mode === "number" ? options.mode : null,
  };
}

function bytesArgument(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new TypeError("expected type `Uint8Array`");
  return value;
}

export function openFiles({
  call,
  hold,
  denoError,
  notOffered,
  pathText,
  fileInfo,
  timeMs,
  base64OfBytes,
  bytesOfBase64,
}: LibraryParts) {
  /** Only `open` makes files. */
  const OWN = Symbol("opened");

  class FsFile {
    #handle: Handle | undefined;
    #readable: ByteReader | undefined;
    #writable: ByteWriter | undefined;

    constructor(own: unknown, handle?: Handle) {
      if (own !== OWN) throw new TypeError("`Deno.FsFile` cannot be constructed, use `Deno.open()` instead");
      this.#handle = handle;
      hold(1);
    }
    #open(): Handle {
      if (this.#handle === undefined) throw denoError("BadResource", "Bad resource ID");
      return this.#handle;
    }
    async read(into: unknown): Promise<number | null> {
      const buffer = bytesArgument(into);
      const handle = this.#open();
      if (buffer.length === 0) return 0;
      const piece = await call("fileRead", { handle, bytes: Math.min(buffer.length, CALL_PIECE_BYTES) });
      if (piece === null) return null;
      const bytes = bytesOfBase64(piece);
      buffer.set(bytes);
      return bytes.length;
    }
    async write(data: unknown): Promise<number> {
      const bytes = bytesArgument(data);
      const handle = this.#open();
      let written = 0;
      do {
        const piece = bytes.subarray(written, written + CALL_PIECE_BYTES);
        written += await call("fileWrite", { handle, data: base64OfBytes(piece) });
      } while (written < bytes.length);
      return written;
    }
    async seek(offset: unknown, whence: unknown): Promise<number> {
      return call("fileSeek", { handle: this.#open(), offset: Number(offset), whence: Number(whence) });
    }
    async stat(): Promise<object> {
      return fileInfo(await call("fileStat", { handle: this.#open() }));
    }
    async truncate(length: unknown = 0): Promise<void> {
      await call("fileTruncate", { handle: this.#open(), length: Number(length) });
    }
    async sync(): Promise<void> {
      await call("fileSync", { handle: this.#open() });
    }
    async syncData(): Promise<void> {
      await this.sync();
    }
    async utime(atime: unknown, mtime: unknown): Promise<void> {
      await call("fileUtime", { handle: this.#open(), atime: timeMs(atime), mtime: timeMs(mtime) });
    }
    isTerminal(): boolean {
      this.#open();
      return false;
    }
    get readable(): ByteReader {
      this.#readable ??= readableOf({
        read: async () => {
          const buffer = new Uint8Array(STREAM_PIECE_BYTES);
          const count = await this.read(buffer);
          return count === null ? null : buffer.slice(0, count);
        },
        close: () => this[Symbol.dispose](),
      });
      return this.#readable;
    }
    get writable(): ByteWriter {
      this.#writable ??= writableOf({
        write: async (bytes) => void (await this.write(bytes)),
        close: () => this[Symbol.dispose](),
      });
      return this.#writable;
    }
    close(): void {
      const handle = this.#open();
      this.#handle = undefined;
      hold(-1);
      void call("closeHandle", { handle }).catch(() => {});
    }
    [Symbol.dispose](): void {
      if (this.#handle !== undefined) this.close();
    }
  }

  for (const name of NO_SYNC) {
    const full = name.endsWith("ock") ? name : `${name}Sync`;
    Object.defineProperty(FsFile.prototype, full, {
      value: () => {
        throw notOffered(`Deno.FsFile.${full}`, full === name ? "" : `use await file.${name}()`);
      },
      configurable: true,
      writable: true,
    });
  }

  async function open(path: unknown, options?: unknown): Promise<FsFile> {
    const handle = await call("openFile", { path: pathText(path), options: openOptions(options) });
    return new FsFile(OWN, handle);
  }
  return {
    FsFile,
    open,
    create: (path: unknown) => open(path, { read: true, write: true, truncate: true, create: true }),
  };
}
