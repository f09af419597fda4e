/** `Deno.open` and the files it gives. Part of a library; runs inside the isolate. */

import type { LibraryParts } from "./deno-library.ts";
import { type ByteReader, type ByteWriter, readableOf, writableOf } from "./deno-streams.ts";
import type { Handle, OpenOptions } from "./guest-protocol.ts";

/** Bytes of a stream of a file at once. */
const STREAM_PIECE_BYTES = 64 * 1024;
/** Bytes that go over to the broker, or come from it, in one call. */
const CALL_PIECE_BYTES = 1024 * 1024;
/** A lock would be the daemon's, and nobody else's on this machine. */
const NO_LOCKS = ["lock", "lockSync", "tryLock", "tryLockSync", "unlock", "unlockSync"];

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

/** What came of reading into `buffer`. */
function fill(buffer: Uint8Array, piece: string | null, bytesOf: LibraryParts["bytesOfBase64"]): number | null {
  if (piece === null) return null;
  const bytes = bytesOf(piece);
  buffer.set(bytes);
  return bytes.length;
}

export function openFiles({
  call,
  callNow,
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
      const bytes = Math.min(buffer.length, CALL_PIECE_BYTES);
      return fill(buffer, await call("fileRead", { handle, bytes }), bytesOfBase64);
    }
    readSync(into: unknown): number | null {
      const buffer = bytesArgument(into);
      const handle = this.#open();
      if (buffer.length === 0) return 0;
      const bytes = Math.min(buffer.length, CALL_PIECE_BYTES);
      return fill(buffer, callNow("fileRead", { handle, bytes }), bytesOfBase64);
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
    writeSync(data: unknown): number {
      const bytes = bytesArgument(data);
      const handle = this.#open();
      let written = 0;
      do {
        const piece = bytes.subarray(written, written + CALL_PIECE_BYTES);
        written += callNow("fileWrite", { handle, data: base64OfBytes(piece) });
      } while (written < bytes.length);
      return written;
    }
    #seekOrder(offset: unknown, whence: unknown) {
      return { handle: this.#open(), offset: Number(offset), whence: Number(whence) };
    }
    async seek(offset: unknown, whence: unknown): Promise<number> {
      return call("fileSeek", this.#seekOrder(offset, whence));
    }
    seekSync(offset: unknown, whence: unknown): number {
      return callNow("fileSeek", this.#seekOrder(offset, whence));
    }
    async stat(): Promise<object> {
      return fileInfo(await call("fileStat", { handle: this.#open() }));
    }
    statSync(): object {
      return fileInfo(callNow("fileStat", { handle: this.#open() }));
    }
    async truncate(length: unknown = 0): Promise<void> {
      await call("fileTruncate", { handle: this.#open(), length: Number(length) });
    }
    truncateSync(length: unknown = 0): void {
      callNow("fileTruncate", { handle: this.#open(), length: Number(length) });
    }
    async sync(): Promise<void> {
      await call("fileSync", { handle: this.#open() });
    }
    syncSync(): void {
      callNow("fileSync", { handle: this.#open() });
    }
    async syncData(): Promise<void> {
      await this.sync();
    }
    syncDataSync(): void {
      this.syncSync();
    }
    async utime(atime: unknown, mtime: unknown): Promise<void> {
      await call("fileUtime", { handle: this.#open(), atime: timeMs(atime), mtime: timeMs(mtime) });
    }
    utimeSync(atime: unknown, mtime: unknown): void {
      callNow("fileUtime", { handle: this.#open(), atime: timeMs(atime), mtime: timeMs(mtime) });
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

  for (const name of NO_LOCKS) {
    Object.defineProperty(FsFile.prototype, name, {
      value: () => {
        throw notOffered(`Deno.FsFile.${name}`, "");
      },
      configurable: true,
      writable: true,
    });
  }

  async function open(path: unknown, options?: unknown): Promise<FsFile> {
    const handle = await call("openFile", { path: pathText(path), options: openOptions(options) });
    return new FsFile(OWN, handle);
  }
  function openSync(path: unknown, options?: unknown): FsFile {
    const handle = callNow("openFile", { path: pathText(path), options: openOptions(options) });
    return new FsFile(OWN, handle);
  }
  const creating = { read: true, write: true, truncate: true, create: true };
  return {
    ...{ FsFile, open, openSync },
    create: (path: unknown) => open(path, creating),
    createSync: (path: unknown) => openSync(path, creating),
  };
}
