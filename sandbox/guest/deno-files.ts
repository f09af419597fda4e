/** The file functions of the Deno namespace: each is one call to the broker. Runs inside the isolate. */

import type { AbortSignal } from "./abort.ts";
import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import type { Call } from "./broker-call.ts";
import { notOffered } from "./deno-errors.ts";
import { pathText } from "./deno-path.ts";
import type { Calls, FileFacts, WriteOptions } from "./guest-protocol.ts";

type Options = { readonly [key: string]: unknown };

const DateOf = Date;
const NumberOf = Number;
const { trunc } = Math;

function optionsOf(value: unknown): Options {
  return typeof value === "object" && value !== null ? (value as Options) : {};
}

function signalOf(options: unknown): AbortSignal | undefined {
  return optionsOf(options).signal as AbortSignal | undefined;
}

function modeOf(mode: unknown): number | null {
  return typeof mode === "number" ? mode : null;
}

function writeOptions(value: unknown): WriteOptions {
  const { append, create, createNew, mode } = optionsOf(value);
  return { append: append === true, create: create !== false, createNew: createNew === true, mode: modeOf(mode) };
}

function temporaryOrder(kind: "file" | "folder", value: unknown): Calls["makeTemp"][0] {
  const { dir, prefix, suffix } = optionsOf(value);
  const text = (part: unknown) => (part === undefined || part === null ? "" : `${part}`);
  const folder = dir === undefined || dir === null ? null : pathText(dir);
  return { kind, dir: folder, prefix: text(prefix), suffix: text(suffix) };
}

/** Seconds, or a date, as milliseconds. */
export function timeMs(time: unknown): number {
  const ms = time instanceof DateOf ? time.getTime() : typeof time === "number" ? time * 1000 : NumberOf.NaN;
  if (NumberOf.isNaN(ms)) throw new TypeError("a time must be a number of seconds or a Date");
  return trunc(ms);
}

function refuseStream(data: unknown, name: string): void {
  if (typeof data === "object" && data !== null && "getReader" in data)
    throw notOffered(`Deno.${name} of a stream`, "write the whole text or the bytes at once");
}

/** `Deno.FileInfo`, as far as the broker tells it. */
export function fileInfo(facts: FileFacts): object {
  const date = (ms: number | null) => (ms === null ? null : new DateOf(ms));
  const { isFile, isDirectory, isSymlink, size, mode } = facts;
  return {
    isFile,
    isDirectory,
    isSymlink,
    size,
    mtime: date(facts.mtime),
    atime: date(facts.atime),
    birthtime: date(facts.birthtime),
    ctime: date(facts.ctime),
    dev: facts.dev,
    mode,
    ino: facts.ino,
    nlink: facts.nlink,
    uid: facts.uid,
    gid: facts.gid,
    rdev: facts.rdev,
    blksize: facts.blksize,
    blocks: facts.blocks,
    isBlockDevice: facts.isBlockDevice,
    isCharDevice: facts.isCharDevice,
    isFifo: facts.isFifo,
    isSocket: facts.isSocket,
  };
}

/** Lists when it is iterated, as Deno does. */
async function* entriesOf(call: Call, path: string) {
  const entries = await call("readDir", { path });
  for (let at = 0; at < entries.length; at += 1) yield entries[at];
}

export function denoFiles(call: Call) {
  return {
    readTextFile: async (path: unknown, options?: unknown): Promise<string> =>
      call("readTextFile", { path: pathText(path) }, signalOf(options)),
    readFile: async (path: unknown, options?: unknown): Promise<Uint8Array> =>
      bytesOfBase64(await call("readFile", { path: pathText(path) }, signalOf(options))),
    writeTextFile: async (path: unknown, data: unknown, options?: unknown): Promise<void> => {
      refuseStream(data, "writeTextFile");
      const order = { path: pathText(path), data: `${data}`, options: writeOptions(options) };
      await call("writeTextFile", order, signalOf(options));
    },
    writeFile: async (path: unknown, data: unknown, options?: unknown): Promise<void> => {
      refuseStream(data, "writeFile");
      if (!(data instanceof Uint8Array)) throw new TypeError("expected type `Uint8Array`");
      const order = { path: pathText(path), data: base64OfBytes(data), options: writeOptions(options) };
      await call("writeFile", order, signalOf(options));
    },
    readDir: (path: unknown) => entriesOf(call, pathText(path)),
    stat: async (path: unknown) => fileInfo(await call("stat", { path: pathText(path) })),
    lstat: async (path: unknown) => fileInfo(await call("lstat", { path: pathText(path) })),
    mkdir: async (path: unknown, options?: unknown): Promise<void> => {
      const { recursive, mode } = optionsOf(options);
      await call("mkdir", { path: pathText(path), recursive: recursive === true, mode: modeOf(mode) });
    },
    remove: async (path: unknown, options?: unknown): Promise<void> => {
      await call("remove", { path: pathText(path), recursive: optionsOf(options).recursive === true });
    },
    copyFile: async (from: unknown, to: unknown): Promise<void> => {
      await call("copyFile", { from: pathText(from), to: pathText(to) });
    },
    truncate: async (path: unknown, length: unknown = 0): Promise<void> => {
      await call("truncate", { path: pathText(path), length: NumberOf(length) });
    },
    chmod: async (path: unknown, mode: unknown): Promise<void> => {
      await call("chmod", { path: pathText(path), mode: NumberOf(mode) });
    },
    utime: async (path: unknown, atime: unknown, mtime: unknown): Promise<void> => {
      await call("utime", { path: pathText(path), atime: timeMs(atime), mtime: timeMs(mtime) });
    },
    realPath: async (path: unknown): Promise<string> => call("realPath", { path: pathText(path) }),
    readLink: async (path: unknown): Promise<string> => call("readLink", { path: pathText(path) }),
    makeTempDir: async (options?: unknown): Promise<string> => call("makeTemp", temporaryOrder("folder", options)),
    makeTempFile: async (options?: unknown): Promise<string> => call("makeTemp", temporaryOrder("file", options)),
    rename: async (from: unknown, to: unknown): Promise<void> => {
      await call("rename", { from: pathText(from), to: pathText(to) });
    },
  };
}
