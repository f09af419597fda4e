/** The file functions of the Deno namespace: each is one call to the broker, which the guest waits for or stands still for. Runs inside the isolate. */

import type { AbortSignal } from "./abort.ts";
import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import type { Calling } from "./broker-call.ts";
import { notOffered } from "./deno-errors.ts";
import { pathText } from "./deno-path.ts";
import type { CallName, Calls, FileFacts, WriteOptions } from "./guest-protocol.ts";
import { eachOf } from "./own-list.ts";

type Options = { readonly [key: string]: unknown };

const DateOf = Date;
const NumberOf = Number;
const { trunc } = Math;
const { apply } = Reflect;
const { defineProperty, keys, setPrototypeOf } = Object;
const { values } = Array.prototype;

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

/** One function of a file call in its two forms; the second throws at once what the first rejects with. */
type TwoForms = {
  readonly later: (...args: unknown[]) => Promise<unknown>;
  readonly now: (...args: unknown[]) => unknown;
};

type Read<N extends CallName> = (answer: Calls[N][1]) => unknown;
const nothing = (): void => {};
const asItIs = (answer: unknown) => answer;

/** Lists when it is iterated, as Deno does. */
async function* entriesOf({ call }: Calling, path: string) {
  const entries = await call("readDir", { path });
  for (let at = 0; at < entries.length; at += 1) yield entries[at];
}

function writeOrder(path: unknown, data: string, options: unknown): Calls["writeFile"][0] {
  return { path: pathText(path), data, options: writeOptions(options) };
}

function bytesToWrite(data: unknown): string {
  refuseStream(data, "writeFile");
  if (!(data instanceof Uint8Array)) throw new TypeError("expected type `Uint8Array`");
  return base64OfBytes(data);
}

function textToWrite(data: unknown): string {
  refuseStream(data, "writeTextFile");
  return `${data}`;
}

/** Everything but `readDir`, by its name. */
function forms({ call, callNow }: Calling): Readonly<Record<string, TwoForms>> {
  /** `signalAt`: which argument are options with a signal; -1 for none. */
  function twice<N extends CallName>(
    name: N,
    order: (...args: unknown[]) => Calls[N][0],
    read: Read<N>,
    signalAt = -1,
  ): TwoForms {
    // Not by spreading the arguments, which the guest may have bent.
    const orderOf = (args: unknown[]) => apply(order, undefined, args) as Calls[N][0];
    return {
      later: async (...args) => read(await call(name, orderOf(args), signalOf(args[signalAt]))),
      now: (...args) => read(callNow(name, orderOf(args))),
    };
  }
  const ofPath = (path: unknown) => ({ path: pathText(path) });
  const fromTo = (from: unknown, to: unknown) => ({ from: pathText(from), to: pathText(to) });
  const madeFolder = (path: unknown, options?: unknown) => {
    const { recursive, mode } = optionsOf(options);
    return { path: pathText(path), recursive: recursive === true, mode: modeOf(mode) };
  };
  return {
    readTextFile: twice("readTextFile", ofPath, asItIs, 1),
    readFile: twice("readFile", ofPath, bytesOfBase64, 1),
    writeTextFile: twice(
      "writeTextFile",
      (path, data, options) => writeOrder(path, textToWrite(data), options),
      nothing,
      2,
    ),
    writeFile: twice("writeFile", (path, data, options) => writeOrder(path, bytesToWrite(data), options), nothing, 2),
    stat: twice("stat", ofPath, fileInfo),
    lstat: twice("lstat", ofPath, fileInfo),
    mkdir: twice("mkdir", madeFolder, nothing),
    remove: twice(
      "remove",
      (path, options) => ({ path: pathText(path), recursive: optionsOf(options).recursive === true }),
      nothing,
    ),
    copyFile: twice("copyFile", fromTo, nothing),
    truncate: twice("truncate", (path, length = 0) => ({ path: pathText(path), length: NumberOf(length) }), nothing),
    chmod: twice("chmod", (path, mode) => ({ path: pathText(path), mode: NumberOf(mode) }), nothing),
    utime: twice(
      "utime",
      (path, atime, mtime) => ({ path: pathText(path), atime: timeMs(atime), mtime: timeMs(mtime) }),
      nothing,
    ),
    realPath: twice("realPath", ofPath, asItIs),
    readLink: twice("readLink", ofPath, asItIs),
    makeTempDir: twice("makeTemp", (options) => temporaryOrder("folder", options), asItIs),
    makeTempFile: twice("makeTemp", (options) => temporaryOrder("file", options), asItIs),
    rename: twice("rename", fromTo, nothing),
  };
}

/** By their names in the namespace. */
export function denoFiles(broker: Calling): Readonly<Record<string, (...args: unknown[]) => unknown>> {
  const functions: Record<string, (...args: unknown[]) => unknown> = {
    readDir: (path: unknown) => entriesOf(broker, pathText(path)),
    readDirSync(path: unknown) {
      const entries = broker.callNow("readDir", { path: pathText(path) });
      // As Deno gives them here, and only here.
      for (let at = 0; at < entries.length; at += 1) setPrototypeOf(entries[at], null);
      return apply(values, entries, []) as unknown;
    },
  };
  const both = forms(broker);
  eachOf(keys(both), (name) => {
    const { later, now } = both[name] as TwoForms;
    functions[name] = defineProperty(later, "name", { value: name, configurable: true });
    functions[`${name}Sync`] = defineProperty(now, "name", { value: `${name}Sync`, configurable: true });
  });
  return functions;
}
