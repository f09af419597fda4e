/**
 * `node:fs` over the Deno namespace: each operation is written once, as steps of Deno's, and runs while the guest waits, or
 * stands still. Part of a library; runs inside the isolate.
 */

import { wrongType, wrongValue } from "./node-errors.ts";
import { CONSTANTS, Dirent, type Facts, nodeError, type Place, Stats, systemError } from "./node-fs-facts.ts";

/** A function of Deno's with its arguments; it gives what that does. */
type Step = readonly [name: string, ...args: unknown[]];
/** What a step gives depends on its name. */
type Work<T = unknown> = Generator<Step, T, unknown>;
type Operation = (...args: unknown[]) => Work;
type Entry = ConstructorParameters<typeof Dirent>[0];
type Options = Readonly<Record<string, unknown>>;
type Callable = (...args: unknown[]) => unknown;
type Namespace = Readonly<Record<string, Callable>>;

/** What of `node:buffer` it is made over. */
export type Buffers = { from(data: unknown, encoding?: string): Uint8Array; isEncoding(name: unknown): boolean };

/** Bytes of standard input at once. */
const PIECE_BYTES = 64 * 1024;
const FLAGS = ["w", "wx", "xw", "a", "ax", "xa"];
/** What there is of Node, and not here; with what to use. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  ...{ open: "use Deno.open", close: "use Deno.open", read: "use Deno.open", write: "use Deno.open" },
  ...{ createReadStream: "use the readable of Deno.open", createWriteStream: "use the writable of Deno.open" },
  ...{ watch: "use Deno.watchFs", watchFile: "use Deno.watchFs", opendir: "use readdir", cp: "use copyFile" },
  ...{ link: "a second name would hide what a file is", symlink: "a link would lead to what is not granted" },
};
const NO_SYNC_EITHER = ["open", "close", "read", "opendir", "cp", "link", "symlink"];

function deno(): Namespace {
  return (globalThis as unknown as { Deno: Namespace }).Deno;
}

function pathOf(path: unknown, name = "path"): string {
  if (typeof path === "string") return path;
  if (path instanceof Uint8Array) return new TextDecoder().decode(path);
  if (path instanceof URL && path.protocol === "file:") return decodeURIComponent(path.pathname);
  throw wrongType(name, "of type string or an instance of Buffer or URL", path);
}

function optionsOf(options: unknown): Options {
  if (options === undefined || options === null || typeof options === "function") return {};
  if (typeof options === "string") return { encoding: options };
  if (typeof options !== "object") throw wrongType("options", "one of type string or object", options);
  return options as Options;
}

/** Steps whose failures Node tells as those of `syscall`. */
function* at(place: Place, ...steps: readonly Step[]): Work {
  let last: unknown;
  try {
    for (const step of steps) last = yield step;
  } catch (error) {
    throw nodeError(error, place);
  }
  return last;
}

function operations(Buffer: Buffers): Readonly<Record<string, Operation>> {
  function encodingOf({ encoding }: Options): string | undefined {
    if (encoding === undefined || encoding === null || encoding === "buffer") return undefined;
    if (!Buffer.isEncoding(encoding)) throw wrongValue("encoding", "is invalid encoding", encoding);
    return String(encoding).toLowerCase();
  }

  function bytesOf(data: unknown, options: Options): Uint8Array {
    if (typeof data === "string") return Buffer.from(data, encodingOf(options) ?? "utf8");
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    throw wrongType("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
  }

  function* readInput(): Work<Uint8Array> {
    const bytes: number[] = [];
    const piece = new Uint8Array(PIECE_BYTES);
    for (let count = yield ["stdin", piece]; typeof count === "number"; count = yield ["stdin", piece])
      for (let i = 0; i < count; i += 1) bytes.push(piece[i] ?? 0);
    return new Uint8Array(bytes);
  }

  function* readFile(file: unknown, given?: unknown): Work {
    const encoding = encodingOf(optionsOf(given));
    const bytes = yield* file === 0 ? readInput() : readPath(pathOf(file));
    const buffer = Buffer.from(bytes);
    // The engine's own decoder is many times as fast as that of the package.
    if (encoding === "utf8" || encoding === "utf-8") return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    return encoding === undefined ? buffer : (buffer as unknown as { toString(of: string): string }).toString(encoding);
  }

  function* readPath(path: string): Work<Uint8Array> {
    return (yield* at({ syscall: "open", path }, ["readFile", path])) as Uint8Array;
  }

  function* writeFile(file: unknown, data: unknown, given?: unknown): Work {
    const options = optionsOf(given);
    const flag = options.flag ?? "w";
    if (!FLAGS.includes(flag as string)) throw wrongValue("flags", "is invalid", flag);
    const bytes = bytesOf(data, options);
    if (file === 1 || file === 2) return yield [file === 1 ? "stdout" : "stderr", bytes];
    const path = pathOf(file);
    const append = String(flag).includes("a");
    const how = { append, createNew: String(flag).includes("x"), mode: options.mode };
    return yield* at({ syscall: "open", path }, ["writeFile", path, bytes, how]);
  }

  function* facts(name: "stat" | "lstat", of: unknown, given: unknown): Work {
    const options = optionsOf(given);
    const path = pathOf(of);
    if (options.bigint === true) throw wrongValue("options.bigint", "is not offered", true);
    try {
      return new Stats((yield* at({ syscall: name, path }, [name, path])) as Facts);
    } catch (error) {
      if (options.throwIfNoEntry === false && (error as { code?: unknown }).code === "ENOENT") return undefined;
      throw error;
    }
  }

  function* readdir(of: unknown, given?: unknown): Work {
    const options = optionsOf(given);
    const root = pathOf(of);
    const found: unknown[] = [];
    const folders = [""];
    for (let below = folders.shift(); below !== undefined; below = folders.shift()) {
      const path = below === "" ? root : `${root}/${below}`;
      const entries = (yield* at({ syscall: "readdir", path }, ["readDir", path])) as Entry[];
      for (const entry of entries) {
        const name = below === "" ? entry.name : `${below}/${entry.name}`;
        found.push(options.withFileTypes === true ? new Dirent(entry, path) : name);
        if (options.recursive === true && entry.isDirectory) folders.push(name);
      }
    }
    return found;
  }

  function* mkdir(of: unknown, given?: unknown): Work<void> {
    const path = pathOf(of);
    const { recursive, mode } = typeof given === "number" ? { mode: given } : optionsOf(given);
    yield* at({ syscall: "mkdir", path }, ["mkdir", path, { recursive: recursive === true, mode }]);
  }

  /** Removes what is a folder, or is none; the other is an error. */
  function* removeOnly(kind: "file" | "folder", of: unknown): Work<void> {
    const path = pathOf(of);
    const place = { syscall: kind === "file" ? "unlink" : "rmdir", path };
    const { isDirectory } = (yield* at(place, ["lstat", path])) as Facts;
    if (isDirectory !== (kind === "folder")) throw systemError(isDirectory ? "EISDIR" : "ENOTDIR", place);
    yield* at(place, ["remove", path]);
  }

  function* rm(of: unknown, given?: unknown): Work<void> {
    const { recursive, force } = optionsOf(given);
    const path = pathOf(of);
    const place = { syscall: "lstat", path };
    try {
      const { isDirectory } = (yield* at(place, ["lstat", path])) as Facts;
      if (isDirectory && recursive !== true) throw systemError("EISDIR", { syscall: "rm", path });
      yield* at(place, ["remove", path, { recursive: recursive === true }]);
    } catch (error) {
      if (force !== true || (error as { code?: unknown }).code !== "ENOENT") throw error;
    }
  }

  function* copyFile(source: unknown, target: unknown, mode: unknown = 0): Work<void> {
    const [path, dest] = [pathOf(source, "src"), pathOf(target, "dest")];
    const place = { syscall: "copyfile", path, dest };
    if (Number(mode) & CONSTANTS.COPYFILE_EXCL) {
      const there = yield* exists(dest);
      if (there) throw systemError("EEXIST", place);
    }
    yield* at(place, ["copyFile", path, dest]);
  }

  function* exists(of: unknown): Work {
    try {
      yield ["stat", pathOf(of)];
      return true;
    } catch (error) {
      // A hook that cannot ask must not take that for an answer.
      if (error instanceof Error && error.name === "NotSupported") throw error;
      return false;
    }
  }

  function* access(of: unknown, wanted: unknown = CONSTANTS.F_OK): Work<void> {
    const path = pathOf(of);
    const place = { syscall: "access", path };
    const { mode } = (yield* at(place, ["stat", path])) as Facts;
    const bits = Number(wanted) & 7;
    // Whose bits count is not known here: it is enough that somebody's allow it.
    const allowed = [6, 3, 0].some((shift) => (((mode ?? 0) >> shift) & bits) === bits);
    if (!allowed) throw systemError("EACCES", place);
  }

  function* mkdtemp(of: unknown): Work {
    const path = pathOf(of, "prefix");
    const cut = path.lastIndexOf("/");
    const [dir, prefix] = cut < 0 ? [".", path] : [path.slice(0, cut) || "/", path.slice(cut + 1)];
    const made = yield* at({ syscall: "mkdtemp", path: `${path}XXXXXX` }, ["makeTempDir", { dir, prefix }]);
    // Deno gives a whole path, Node one that begins as the prefix does.
    return path.slice(0, cut + 1) + String(made).slice(String(made).lastIndexOf("/") + 1);
  }

  const onPath = (name: string, syscall: string) =>
    function* (of: unknown, ...args: unknown[]): Work {
      const path = pathOf(of);
      return yield* at({ syscall, path }, [name, path, ...args]);
    };
  return {
    ...{ readFile, writeFile, readdir, mkdir, rm, copyFile, access, mkdtemp },
    appendFile: (file, data, options) => writeFile(file, data, { flag: "a", ...optionsOf(options) }),
    stat: (path, options) => facts("stat", path, options),
    lstat: (path, options) => facts("lstat", path, options),
    unlink: (path) => removeOnly("file", path),
    rmdir: (path) => removeOnly("folder", path),
    *rename(from, to) {
      const [path, dest] = [pathOf(from, "oldPath"), pathOf(to, "newPath")];
      yield* at({ syscall: "rename", path, dest }, ["rename", path, dest]);
    },
    realpath: (path) => onPath("realPath", "lstat")(path),
    readlink: (path) => onPath("readLink", "readlink")(path),
    truncate: onPath("truncate", "open"),
    chmod: onPath("chmod", "chmod"),
    utimes: onPath("utime", "utime"),
    exists,
  };
}

function stepNow([name, ...args]: Step): unknown {
  const Deno = deno();
  if (name === "stdin") return (Deno.stdin as unknown as Namespace).readSync?.(...args);
  if (name === "stdout" || name === "stderr") return (Deno[name] as unknown as Namespace).writeSync?.(...args);
  const answer = Deno[`${name}Sync`]?.(...args);
  return name === "readDir" ? [...(answer as Iterable<unknown>)] : answer;
}

async function stepLater([name, ...args]: Step): Promise<unknown> {
  const Deno = deno();
  if (name === "stdin") return (Deno.stdin as unknown as Namespace).read?.(...args);
  if (name === "stdout" || name === "stderr") return (Deno[name] as unknown as Namespace).write?.(...args);
  const answer = Deno[name]?.(...args);
  if (name !== "readDir") return answer;
  const entries: unknown[] = [];
  for await (const entry of answer as AsyncIterable<unknown>) entries.push(entry);
  return entries;
}

function runNow(work: Work): unknown {
  let next = work.next();
  while (!next.done) {
    let answer: unknown;
    try {
      answer = stepNow(next.value);
    } catch (error) {
      next = work.throw(error);
      continue;
    }
    next = work.next(answer);
  }
  return next.value;
}

async function runLater(work: Work): Promise<unknown> {
  let next = work.next();
  while (!next.done) {
    let answer: unknown;
    try {
      answer = await stepLater(next.value);
    } catch (error) {
      next = work.throw(error);
      continue;
    }
    next = work.next(answer);
  }
  return next.value;
}

/** The form with a callback, which is the last argument. An error of the callback's own is nobody's. */
function withCallback(name: string, operation: Operation): Callable {
  return (...args) => {
    const callback = args.pop();
    if (typeof callback !== "function") throw wrongType("cb", "of type function", callback);
    const answer = (...values: unknown[]) => queueMicrotask(() => callback(...values));
    const done = name === "exists" ? answer : (value: unknown) => answer(null, value);
    void runLater(operation(...args)).then(done, answer);
  };
}

/** `node:fs` and `node:fs/promises`. */
export function fileSystem(Buffer: Buffers): { readonly fs: object; readonly promises: object } {
  const fs: Record<string, unknown> = { constants: CONSTANTS, Dirent, Stats };
  const promises: Record<string, unknown> = { constants: CONSTANTS };
  const named = (name: string, work: Callable) => Object.defineProperty(work, "name", { value: name });
  for (const [name, operation] of Object.entries(operations(Buffer))) {
    fs[name] = named(name, withCallback(name, operation));
    fs[`${name}Sync`] = named(`${name}Sync`, (...args) => runNow(operation(...args)));
    if (name !== "exists") promises[name] = named(name, (...args) => runLater(operation(...args)));
  }
  fs.writeSync = (file: unknown, data: unknown) => {
    if (file !== 1 && file !== 2) throw refusal("fs.writeSync to an open file", "use Deno.open");
    return stepNow([file === 1 ? "stdout" : "stderr", Buffer.from(data)]);
  };
  for (const [name, instead] of Object.entries(LEFT_OUT)) {
    const refuse = (form: string) =>
      named(form, () => {
        throw refusal(`fs.${form}`, instead);
      });
    fs[name] ??= refuse(name);
    promises[name] ??= refuse(name);
    if (NO_SYNC_EITHER.includes(name)) fs[`${name}Sync`] ??= refuse(`${name}Sync`);
  }
  return { fs: Object.assign(fs, { promises }), promises };
}

function refusal(what: string, instead: string): Error {
  const { NotSupported } = deno().errors as unknown as { NotSupported: new (message: string) => Error };
  return new NotSupported(`${what} is not offered: ${instead}`);
}
