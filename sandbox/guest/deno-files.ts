/** The file functions of the Deno namespace: each is one call to the broker. Runs inside the isolate. */

import type { AbortSignal } from "./abort.ts";
import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import type { Call } from "./broker-call.ts";
import { notOffered } from "./deno-errors.ts";
import { pathText } from "./deno-path.ts";
import type { FileFacts, WriteOptions } from "./guest-protocol.ts";

type Options = { readonly [key: string]: unknown };

const DateOf = Date;

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

function refuseStream(data: unknown, name: string): void {
  if (typeof data === "object" && data !== null && "getReader" in data)
    throw notOffered(`Deno.${name} of a stream`, "write the whole text or the bytes at once");
}

/** `Deno.FileInfo`, as far as the broker tells it. */
function fileInfo(facts: FileFacts): object {
  const date = (ms: number | null) => (ms === null ? null : new DateOf(ms));
  const { isFile, isDirectory, isSymlink, size, mode } = facts;
  const common = isFile || isDirectory || isSymlink ? false : null;
  return {
    isFile,
    isDirectory,
    isSymlink,
    size,
    mtime: date(facts.mtime),
    atime: date(facts.atime),
    birthtime: date(facts.birthtime),
    ctime: null,
    dev: 0,
    mode,
    ino: null,
    nlink: null,
    uid: null,
    gid: null,
    rdev: null,
    blksize: null,
    blocks: null,
    isBlockDevice: common,
    isCharDevice: common,
    isFifo: common,
    isSocket: common,
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
    rename: async (from: unknown, to: unknown): Promise<void> => {
      await call("rename", { from: pathText(from), to: pathText(to) });
    },
  };
}
