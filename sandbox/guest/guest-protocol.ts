/**
 * What the broker and the prelude inside a guest say to each other, as JSON texts that the hook host passes on unread.
 * The prelude shares its isolate with a stranger's code: the broker takes every text as that stranger's.
 */

import type { EnvView } from "./env-view.ts";

/**
 * What was thrown, as plain text; `stack` in V8's format, empty when there is none. Of what is no error the name is empty,
 * and the message is the value as `Deno.inspect` writes it.
 */
export type GuestError = { readonly name: string; readonly message: string; readonly stack: string };

/** What a call may carry: JSON. Bytes are base64. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** How a file is described to a guest. Times are milliseconds since 1970, null when the system does not tell. */
export type FileFacts = {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
  readonly size: number;
  readonly mtime: number | null;
  readonly atime: number | null;
  readonly birthtime: number | null;
  /** Whole seconds, in milliseconds, as Deno has it. */
  readonly ctime: number | null;
  readonly mode: number;
  readonly dev: number;
  readonly ino: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly rdev: number;
  readonly blksize: number;
  readonly blocks: number;
  readonly isBlockDevice: boolean;
  readonly isCharDevice: boolean;
  readonly isFifo: boolean;
  readonly isSocket: boolean;
};

export type WriteOptions = {
  readonly append: boolean;
  readonly create: boolean;
  readonly createNew: boolean;
  /** Permission bits of a new file; null for the default. */
  readonly mode: number | null;
};

/** As `Deno.OpenOptions`. */
export type OpenOptions = {
  readonly read: boolean;
  readonly write: boolean;
  readonly append: boolean;
  readonly truncate: boolean;
  readonly create: boolean;
  readonly createNew: boolean;
  /** Permission bits of a new file; null for the default. */
  readonly mode: number | null;
};

/** What a handle stands for is the broker's: an open file, a watcher or a child process, each guest's own. */
export type Handle = number;

export type WatchedChange = { readonly kind: "create" | "modify" | "remove"; readonly paths: readonly string[] };

/** Signals that a script can hear. */
export const HEARD_SIGNALS = ["SIGINT", "SIGTERM"] as const;
export type HeardSignal = (typeof HEARD_SIGNALS)[number];

/** A permission as `Deno.permissions` names it. */
export type PermissionDescriptor = {
  readonly name: string;
  /** Its path, host, variable, command, kind or tool; null for all of the kind. */
  readonly value: string | null;
};

/** `env` and `sys` are what is open to the guest from now on. */
export type PermissionAnswer = {
  readonly state: "granted" | "prompt" | "denied";
  readonly partial: boolean;
  readonly env: EnvView;
  readonly sys: SysView;
};

export type FetchOrder = {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64; null for none. */
  readonly body: string | null;
  readonly redirect: "follow" | "manual" | "error";
};

export type FetchAnswer = {
  /** Of the last hop. */
  readonly url: string;
  readonly redirected: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64. */
  readonly body: string;
};

/** What came over a WebSocket; the data of `binary` is base64. `close` is the last. */
export type SocketNews =
  | { readonly kind: "text" | "binary"; readonly data: string }
  | { readonly kind: "close"; readonly code: number; readonly reason: string; readonly clean: boolean };

export type CommandOrder = {
  readonly program: string;
  readonly args: readonly string[];
  /** Null for the folder that relative paths start from. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly clearEnv: boolean;
  /** Base64 of what it reads; null for nothing. */
  readonly stdin: string | null;
};

export type CommandAnswer = {
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Everything that a guest can ask the broker for: name → what goes in, what comes out. */
export type Calls = {
  readTextFile: [{ path: string }, string];
  readFile: [{ path: string }, string];
  writeTextFile: [{ path: string; data: string; options: WriteOptions }, null];
  writeFile: [{ path: string; data: string; options: WriteOptions }, null];
  readDir: [{ path: string }, { name: string; isFile: boolean; isDirectory: boolean; isSymlink: boolean }[]];
  stat: [{ path: string }, FileFacts];
  lstat: [{ path: string }, FileFacts];
  mkdir: [{ path: string; recursive: boolean; mode: number | null }, null];
  remove: [{ path: string; recursive: boolean }, null];
  rename: [{ from: string; to: string }, null];
  copyFile: [{ from: string; to: string }, null];
  truncate: [{ path: string; length: number }, null];
  chmod: [{ path: string; mode: number }, null];
  /** Times are milliseconds since 1970. */
  utime: [{ path: string; atime: number; mtime: number }, null];
  realPath: [{ path: string }, string];
  readLink: [{ path: string }, string];
  /** `dir` null for a temporary folder of the guest's own, which is removed when it ends. Gives the path that was made. */
  makeTemp: [{ kind: "file" | "folder"; dir: string | null; prefix: string; suffix: string }, string];
  openFile: [{ path: string; options: OpenOptions }, Handle];
  /** Base64 of at most so many bytes; null at the end. */
  fileRead: [{ handle: Handle; bytes: number }, string | null];
  /** How many bytes were written: all of them. */
  fileWrite: [{ handle: Handle; data: string }, number];
  /** `whence`: 0 from the start, 1 from where it is, 2 from the end. Gives the new position. */
  fileSeek: [{ handle: Handle; offset: number; whence: number }, number];
  fileTruncate: [{ handle: Handle; length: number }, null];
  fileSync: [{ handle: Handle }, null];
  fileStat: [{ handle: Handle }, FileFacts];
  fileUtime: [{ handle: Handle; atime: number; mtime: number }, null];
  watchStart: [{ paths: readonly string[]; recursive: boolean }, Handle];
  /** Waits for the next change; null when the watcher was closed. */
  watchNext: [{ handle: Handle }, WatchedChange | null];
  /** Starts a command whose pipes are read and written while it runs; `stdin` is false for nothing to read. */
  commandStart: [Omit<CommandOrder, "stdin"> & { stdin: boolean }, Handle];
  /** Base64 of what it printed since the last read; null at the end. */
  commandRead: [{ handle: Handle; from: "stdout" | "stderr" }, string | null];
  /** Closes the end that is read: a child that goes on printing has a broken pipe. */
  commandDrop: [{ handle: Handle; from: "stdout" | "stderr" }, null];
  /** Resolves when the child's pipe has taken it. Null data ends its input. */
  commandWrite: [{ handle: Handle; data: string | null }, null];
  /** Waits for its end. */
  commandWait: [{ handle: Handle }, { code: number; signal: string | null }];
  /** Ends it and all it started. */
  commandKill: [{ handle: Handle }, null];
  /** Closes a file or a watcher; of a command, forgets it and kills what is left. */
  closeHandle: [{ handle: Handle }, null];
  /** Waits for what the person, or the pipe, gives the script to read. Base64; null at the end. */
  inputRead: [{ bytes: number }, string | null];
  /** From now on the script hears this signal, or does no more. */
  listenSignal: [{ signal: HeardSignal; on: boolean }, null];
  fetch: [FetchOrder, FetchAnswer];
  socketOpen: [{ url: string; protocols: readonly string[] }, { socket: number; protocol: string }];
  /** `data` is base64 where `binary`. */
  socketSend: [{ socket: number; binary: boolean; data: string }, null];
  /** Waits for what comes next. */
  socketRead: [{ socket: number }, SocketNews];
  socketClose: [{ socket: number; code: number | null; reason: string }, null];
  /** Gives up a fetch or a command that is under way; `call` is its id. */
  abort: [{ call: number }, null];
  command: [CommandOrder, CommandAnswer];
  queryPermission: [PermissionDescriptor, PermissionAnswer];
  requestPermission: [PermissionDescriptor, PermissionAnswer];
  revokePermission: [PermissionDescriptor, PermissionAnswer];
  storeGet: [{ key: string }, Json];
  storeSet: [{ key: string; value: Json }, null];
  storeDelete: [{ key: string }, null];
  storeList: [{ prefix: string }, string[]];
  memorySearch: [{ query: string; limit: number }, { id: string; path: string; line: number; text: string }[]];
  memoryRemember: [{ text: string }, string];
  callTool: [{ tool: string; args: { readonly [key: string]: Json } }, string];
};
export type CallName = keyof Calls;
export const CALL_NAMES = [
  "readTextFile",
  "readFile",
  "writeTextFile",
  "writeFile",
  "readDir",
  "stat",
  "lstat",
  "mkdir",
  "remove",
  "rename",
  "copyFile",
  "truncate",
  "chmod",
  "utime",
  "realPath",
  "readLink",
  "makeTemp",
  "openFile",
  "fileRead",
  "fileWrite",
  "fileSeek",
  "fileTruncate",
  "fileSync",
  "fileStat",
  "fileUtime",
  "watchStart",
  "watchNext",
  "commandStart",
  "commandRead",
  "commandDrop",
  "commandWrite",
  "commandWait",
  "commandKill",
  "closeHandle",
  "inputRead",
  "listenSignal",
  "fetch",
  "socketOpen",
  "socketSend",
  "socketRead",
  "socketClose",
  "abort",
  "command",
  "queryPermission",
  "requestPermission",
  "revokePermission",
  "storeGet",
  "storeSet",
  "storeDelete",
  "storeList",
  "memorySearch",
  "memoryRemember",
  "callTool",
] as const satisfies readonly CallName[];

/**
 * Calls that may wait for others for as long as they like. They take no turn from the rest; how many of them are open is
 * limited with all others.
 */
export const LONG_CALLS: ReadonlySet<CallName> = new Set([
  "watchNext",
  "commandRead",
  "commandWrite",
  "commandWait",
  "inputRead",
]);

/** A call that came to nothing: an error by name (of `Deno.errors` or JavaScript) with a text that shows no path the guest did not name. */
export type CallError = { readonly name: string; readonly message: string };
export type CallAnswer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: CallError };

/** Facts about the machine, by the name of their `sys` permission; only granted ones are there. */
export type SysView = { readonly [api: string]: Json };

export type Terminals = { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };

/** `filter`: a part of a name, or a pattern between slashes; empty for all tests. */
export type TestOrder = { readonly filter: string; readonly failFast: boolean };

/** What becomes of the tests; `path`: a name and those of the tests it is a step of, outermost first. */
export type TestNews =
  | { readonly at: "plan"; readonly planned: number; readonly filteredOut: number; readonly only: boolean }
  | { readonly at: "begun"; readonly path: readonly string[] }
  | {
      readonly at: "ended";
      readonly path: readonly string[];
      readonly outcome: "ok" | "failed" | "ignored";
      readonly ms: number;
      /** Null when nothing went wrong. */
      readonly error: GuestError | null;
    };

/** Most names in a path of steps. */
export const TEST_STEPS_MAX = 16;

/**
 * What is known outside of the reason of a rejection: of an error its texts, of other objects nothing (`object`), of what
 * is no object its text.
 */
export type RejectionReason =
  | { readonly type: "error"; readonly error: GuestError }
  | {
      readonly type: "object" | "null" | "string" | "number" | "boolean" | "bigint" | "undefined";
      readonly text: string;
    };

export type ToGuest =
  | {
      readonly k: "load";
      /** `hook`: the default export answers events. `script`: the top level is the whole run. */
      readonly mode: "hook" | "script";
      /** An expression that gives an async function; it runs the module and hands its exports to its argument. */
      readonly source: string;
      readonly name: string;
      readonly args: readonly string[];
      readonly env: EnvView;
      readonly sys: SysView;
      /** What `Deno.cwd()` says; empty where that needs a permission that was not granted. */
      readonly cwd: string;
      /** Which standard streams are terminals; none when absent. */
      readonly terminals?: Terminals;
      /** The tests that were declared are run when the top level has run. */
      readonly tests?: TestOrder;
    }
  | { readonly k: "event"; readonly id: number; readonly event: unknown }
  | { readonly k: "reply"; readonly id: number; readonly answer: CallAnswer }
  /** One that the script listens to. */
  | { readonly k: "signal"; readonly name: HeardSignal }
  /** From the host itself: what ran last has left a promise rejected that nobody handles. */
  | { readonly k: "rejected"; readonly reason: RejectionReason }
  /** From the host itself: the time the guest asked for has come. */
  | { readonly k: "wake" };

export type FromGuest =
  | { readonly k: "loaded" }
  | { readonly k: "unloadable"; readonly error: GuestError }
  | { readonly k: "answer"; readonly id: number; readonly value: unknown }
  | { readonly k: "threw"; readonly id: number; readonly error: GuestError }
  | { readonly k: "log"; readonly to: "stdout" | "stderr"; readonly text: string }
  /** `args` is of the shape that `Calls` names, when the guest is honest. */
  | {
      readonly k: "call";
      readonly id: number;
      readonly name: CallName;
      readonly args: Json;
      /** The guest's thread stands still until the answer is there. */
      readonly stands?: true;
    }
  /** An error that nothing caught; `inPromise`: what a promise was rejected with. */
  | { readonly k: "fault"; readonly error: GuestError; readonly inPromise?: true }
  /** Bytes as they are, base64. */
  | { readonly k: "bytes"; readonly to: "stdout" | "stderr"; readonly data: string }
  | { readonly k: "test"; readonly news: TestNews }
  /** Ends the script, with a code of 0 to 255. */
  | { readonly k: "exit"; readonly code: number }
  /** The code to end with when the script comes to its end by itself. */
  | { readonly k: "exitCode"; readonly code: number };

/**
 * Texts for the host alone begin with one of these letters; every other text begins with "{" and is for the broker.
 * - `T` and the milliseconds until it shall wake the guest, or nothing for never.
 * - `R` and a number of bytes: the host answers the call itself with so many random bytes, as base64.
 * - `L` and a name: the host answers with the source text of a library of the prelude's own, "" when there is none.
 * - `J` and JSON, `{ id }` and a `HostJob`: work whose result comes back as a `reply` to that id.
 */
export const HOST_WORDS = { wake: "T", random: "R", library: "L", job: "J" } as const;

/** The methods of `crypto.subtle`. */
export type CryptoMethod =
  | "digest"
  | "encrypt"
  | "decrypt"
  | "sign"
  | "verify"
  | "generateKey"
  | "importKey"
  | "exportKey"
  | "deriveBits"
  | "deriveKey"
  | "wrapKey"
  | "unwrapKey";

/** What a guest may know of a key; bytes in `algorithm` are `{ $bytes }`, base64. */
export type KeyFacts = {
  readonly type: string;
  readonly extractable: boolean;
  readonly algorithm: Json;
  readonly usages: readonly string[];
};

export type PressFormat = "gzip" | "deflate" | "deflate-raw";

/** Work that the host does by itself. */
export type HostJob =
  /** In `args` and in what comes back, bytes are `{ $bytes }` and keys `{ $key, facts }`, both texts sealed or base64. */
  | { readonly job: "crypto"; readonly method: CryptoMethod; readonly args: readonly Json[] }
  /**
   * One step of packing or unpacking in a stream whose number the guest chooses; the first step opens it. `data` is base64
   * of what goes in; "" to go on after an answer with `more`. Answers `PressAnswer`.
   */
  | {
      readonly job: "press";
      readonly stream: number;
      readonly way: "pack" | "unpack";
      readonly format: PressFormat;
      readonly data: string;
      readonly end: boolean;
    }
  /** Gives a stream up. */
  | { readonly job: "dropPress"; readonly stream: number };

/** `data` is base64 of what came out; `more`: there is more to come of what went in. */
export type PressAnswer = { readonly data: string; readonly more: boolean };

/** Most bytes that one step of a `press` takes. */
export const PRESS_STEP_BYTES = 256 * 1024;
/** Streams of `press` that one guest may have open. */
export const PRESSES_MAX = 16;

/** Longest text a guest may send, UTF-16 units. */
export const SAY_LIMIT_CHARS = 6 * 1024 * 1024;
/** Longest piece of console output in one text, UTF-16 units. */
export const LOG_PIECE_CHARS = 64 * 1024;
export const PENDING_CALLS_MAX = 64;
export const TIMERS_MAX = 64;
/** Console lines of a hook per event; what is beyond is left out. */
export const LOG_LINES_MAX = 1000;
/** Most random bytes at once, as `crypto.getRandomValues` has it. */
export const RANDOM_BYTES_MAX = 65_536;
