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
  readonly mode: number;
};

export type WriteOptions = {
  readonly append: boolean;
  readonly create: boolean;
  readonly createNew: boolean;
  /** Permission bits of a new file; null for the default. */
  readonly mode: number | null;
};

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
  fetch: [FetchOrder, FetchAnswer];
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
  "fetch",
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

/** A call that came to nothing: an error by name (of `Deno.errors` or JavaScript) with a text that shows no path the guest did not name. */
export type CallError = { readonly name: string; readonly message: string };
export type CallAnswer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: CallError };

/** Facts about the machine, by the name of their `sys` permission; only granted ones are there. */
export type SysView = { readonly [api: string]: Json };

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
    }
  | { readonly k: "event"; readonly id: number; readonly event: unknown }
  | { readonly k: "reply"; readonly id: number; readonly answer: CallAnswer }
  /** From the host itself: the time the guest asked for has come. */
  | { readonly k: "wake" };

export type FromGuest =
  | { readonly k: "loaded" }
  | { readonly k: "unloadable"; readonly error: GuestError }
  | { readonly k: "answer"; readonly id: number; readonly value: unknown }
  | { readonly k: "threw"; readonly id: number; readonly error: GuestError }
  | { readonly k: "log"; readonly to: "stdout" | "stderr"; readonly text: string }
  /** `args` is of the shape that `Calls` names, when the guest is honest. */
  | { readonly k: "call"; readonly id: number; readonly name: CallName; readonly args: Json }
  | { readonly k: "fault"; readonly error: GuestError }
  /** Ends the script, with a code of 0 to 255. */
  | { readonly k: "exit"; readonly code: number }
  /** The code to end with when the script comes to its end by itself. */
  | { readonly k: "exitCode"; readonly code: number };

/**
 * Texts for the host alone begin with one of these letters; every other text begins with "{" and is for the broker.
 * - `T` and the milliseconds until it shall wake the guest, or nothing for never.
 * - `R` and a number of bytes: the host answers the call itself with so many random bytes, as base64.
 * - `L` and a name: the host answers with the source text of a library of the prelude's own, "" when there is none.
 * - `D` and JSON `{ id, algorithm, data }`: a digest, which comes back as a `reply` to that id.
 */
export const HOST_WORDS = { wake: "T", random: "R", library: "L", digest: "D" } as const;

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
