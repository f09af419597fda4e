// What hook scripts of clawd get, for editors. A copy of it lies beside the hooks and is written anew with each release:
//
//   import type { Hook } from "./hooks.d.ts";
//   export default (async (event, clawd) => {
//     if (event.value.tool === "shell") return { block: "no shell today" };
//   }) satisfies Hook<"tool.before">;
//
// Of the browser's names that an editor offers, these are there: console, timers, queueMicrotask, structuredClone, URL,
// URLSearchParams, URLPattern, TextEncoder, TextDecoder, AbortController, AbortSignal, Event, EventTarget, MessageChannel,
// DOMException, atob, btoa, crypto and crypto.subtle, performance, Blob, File, FormData, Headers, Request, Response, fetch,
// WebSocket, ReadableStream, WritableStream, TransformStream, text and compression streams. There is no document.

/// <reference lib="es2024" />
/// <reference lib="dom" />

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** A tool call that a model wants. */
export type ToolCall = { tool: string; args: JsonObject };

/** What a hook sees at each point. */
export type HookValues = {
  "session.created": { model: string };
  /** `reason` is "removed" or "daemon ended". */
  "session.closed": { reason: string };
  /** A skip says that the hook has dealt with the message: no model hears of it. */
  "message.received": { text: string };
  /** Once a turn; `context` goes to the model beside the conversation. */
  "context.build": { text: string; context: string };
  /** Once a model call. `step` counts from 1. */
  "model.before": { model: string; step: number; system: string; context: string };
  "model.after": { model: string; step: number; text: string; calls: ToolCall[]; stop: string };
  "step.before": { step: number };
  "step.after": { step: number; calls: ToolCall[] };
  "tool.before": ToolCall;
  "tool.after": { tool: string; args: JsonObject; status: string; output: string };
  "turn.ended": { outcome: string; text: string };
  "approval.asked": { tool: string; args: JsonObject; permission: string; because: string };
  "compact.before": JsonObject;
  "compact.after": JsonObject;
  "subagent.started": JsonObject;
  "subagent.ended": JsonObject;
  "config.reloaded": JsonObject;
};

/** `custom.NAME` is a moment that an extension names itself. */
export type HookPoint = keyof HookValues | `custom.${string}`;
export type ValueAt<P extends HookPoint> = P extends keyof HookValues ? HookValues[P] : JsonObject;

type EventAt<P extends HookPoint> = {
  readonly at: P;
  readonly sessionId: string;
  /** Empty outside a turn. */
  readonly turnId: string;
  /** Empty at points without a call. */
  readonly callId: string;
  readonly workspace: string;
  readonly value: ValueAt<P>;
};

/** A moment. Without a point it is a union: look at `event.at` to tell them apart. */
export type HookEvent<P extends HookPoint = HookPoint> = P extends HookPoint ? EventAt<P> : never;

/** Go on as if nothing were; so does an answer of nothing. */
export type Pass = { pass: true };
/** Pass over the hooks after this one. */
export type Skip = { skip: true };
/** Stop it; the reason is shown. */
export type Block = { block: string };
/** Go on with another value: the whole value, as in `{ modify: { ...event.value, text } }`. */
export type Modify<P extends HookPoint> = { modify: ValueAt<P> };
/** The result in the tool's place. */
export type Answer = { answer: Json };

/** Points that are only heard. */
type Heard = "session.closed" | "step.after" | "turn.ended";
type Blockable = "session.created" | "step.before" | "approval.asked";
type Answerable = "tool.before" | "tool.after";
type AnswerAt<P extends HookPoint> = P extends Heard
  ? never
  : P extends Blockable
    ? Block
    : P extends Answerable
      ? Block | Modify<P> | Answer
      : P extends keyof HookValues
        ? Block | Modify<P>
        : Block | Modify<P> | Answer;
/** What a hook may answer. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing passes
export type HookAnswer<P extends HookPoint = HookPoint> = void | undefined | null | Pass | Skip | AnswerAt<P>;

/** A hook of these points. */
export type Hook<P extends HookPoint = HookPoint> = (
  event: HookEvent<P>,
  clawd: Clawd,
) => HookAnswer<P> | Promise<HookAnswer<P>>;

export type MemoryHit = { readonly id: string; readonly path: string; readonly line: number; readonly text: string };

/** What a hook may use beside `Deno`. */
export type Clawd = {
  /** The hook's own name. */
  readonly hook: string;
  /** Writes a line into the daemon's log. */
  log(...values: unknown[]): void;
  /** A few values that outlive the hook: keys of 256 characters and values of 64 KiB at most, 1 MiB in all. */
  readonly store: {
    /** Null when there is none. */
    get(key: string): Promise<Json>;
    set(key: string, value: Json): Promise<void>;
    delete(key: string): Promise<void>;
    /** Keys that begin with `prefix`. */
    list(prefix?: string): Promise<string[]>;
  };
  /** Long-term memory; needs `memory=query` or `memory=write`. */
  readonly memory: {
    search(query: string, limit?: number): Promise<MemoryHit[]>;
    /** Gives the note's id. */
    remember(text: string): Promise<string>;
  };
  /** Runs a tool through the same gates as the model's calls; needs `tool=NAME`. Gives what a model would read. */
  tool(name: string, args?: JsonObject): Promise<string>;
};

declare global {
  /** The part of Deno that there is. What needs a permission rejects with `Deno.errors.NotCapable` without it. */
  namespace Deno {
    /** Arguments of a script; none for a hook. */
    const args: readonly string[];
    const build: {
      readonly target: string;
      readonly arch: string;
      readonly os: string;
      readonly vendor: string;
      readonly env?: string;
      readonly standalone: boolean;
    };
    const version: { readonly deno: string; readonly v8: string; readonly typescript: string };
    const mainModule: string;
    const noColor: boolean;
    const pid: number;
    const ppid: number;
    /** The code that a script ends with when it ends by itself. */
    let exitCode: number;

    /** Ends a script at once. */
    function exit(code?: number): never;
    /** Where relative paths start; needs `read` of it. */
    function cwd(): string;
    function inspect(value: unknown, options?: object): string;

    type ReadOptions = { signal?: AbortSignal };
    type WriteOptions = {
      append?: boolean;
      /** True unless told otherwise. */
      create?: boolean;
      createNew?: boolean;
      mode?: number;
      signal?: AbortSignal;
    };
    type DirEntry = { name: string; isFile: boolean; isDirectory: boolean; isSymlink: boolean };
    type FileInfo = {
      isFile: boolean;
      isDirectory: boolean;
      isSymlink: boolean;
      size: number;
      mtime: Date | null;
      atime: Date | null;
      birthtime: Date | null;
      mode: number | null;
    };
    function readTextFile(path: string | URL, options?: ReadOptions): Promise<string>;
    function readFile(path: string | URL, options?: ReadOptions): Promise<Uint8Array>;
    function writeTextFile(path: string | URL, data: string, options?: WriteOptions): Promise<void>;
    function writeFile(path: string | URL, data: Uint8Array, options?: WriteOptions): Promise<void>;
    function readDir(path: string | URL): AsyncIterable<DirEntry>;
    /** Follows links; `lstat` does not. */
    function stat(path: string | URL): Promise<FileInfo>;
    function lstat(path: string | URL): Promise<FileInfo>;
    function mkdir(path: string | URL, options?: { recursive?: boolean; mode?: number }): Promise<void>;
    function remove(path: string | URL, options?: { recursive?: boolean }): Promise<void>;
    function rename(from: string | URL, to: string | URL): Promise<void>;

    /** Each name needs `env=NAME`. What is set or deleted stays with the script. */
    const env: {
      get(name: string): string | undefined;
      has(name: string): boolean;
      set(name: string, value: string): void;
      delete(name: string): void;
      toObject(): { [name: string]: string };
    };

    type PermissionDescriptor =
      | { name: "read" | "write"; path?: string | URL }
      | { name: "net"; host?: string }
      | { name: "env"; variable?: string }
      | { name: "run"; command?: string | URL }
      | { name: "sys"; kind?: string }
      | { name: "tool"; tool?: string }
      | { name: "memory"; access?: string };
    class PermissionStatus extends EventTarget {
      private constructor();
      readonly state: "granted" | "prompt" | "denied";
      /** True when it is granted but something within it is denied. */
      readonly partial: boolean;
      onchange: ((event: Event) => unknown) | null;
    }
    const permissions: {
      /** Asks nobody. */
      query(descriptor: PermissionDescriptor): Promise<PermissionStatus>;
      /** Asks a person, where one can be asked. */
      request(descriptor: PermissionDescriptor): Promise<PermissionStatus>;
      /** Gives a permission up. */
      revoke(descriptor: PermissionDescriptor): Promise<PermissionStatus>;
    };

    type CommandOptions = {
      args?: readonly string[];
      cwd?: string | URL;
      env?: { readonly [name: string]: string };
      clearEnv?: boolean;
      stdin?: "piped" | "null";
      stdout?: "piped" | "inherit" | "null";
      stderr?: "piped" | "inherit" | "null";
      signal?: AbortSignal;
    };
    type CommandStatus = { readonly success: boolean; readonly code: number; readonly signal: string | null };
    type CommandOutput = CommandStatus & { readonly stdout: Uint8Array; readonly stderr: Uint8Array };
    /** All that a command printed; it comes when the command has ended. */
    type ChildOutput = AsyncIterable<Uint8Array> & {
      text(): Promise<string>;
      json(): Promise<unknown>;
      bytes(): Promise<Uint8Array>;
      arrayBuffer(): Promise<ArrayBuffer>;
    };
    /** The command starts when its input is closed. */
    type ChildInput = {
      getWriter(): { write(chunk: Uint8Array): Promise<void>; close(): Promise<void>; releaseLock(): void };
      close(): Promise<void>;
    };
    type ChildProcess = {
      readonly stdin: ChildInput;
      readonly stdout: ChildOutput;
      readonly stderr: ChildOutput;
      readonly status: Promise<CommandStatus>;
      output(): Promise<CommandOutput>;
      kill(signal?: "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP"): void;
      ref(): void;
      unref(): void;
    };
    /** A program, in the OS sandbox with the script's own permissions; needs `run=PROGRAM`. */
    class Command {
      constructor(program: string | URL, options?: CommandOptions);
      output(): Promise<CommandOutput>;
      spawn(): ChildProcess;
    }

    /** Each needs `sys=` and its own name. */
    function hostname(): string;
    function osRelease(): string;
    function osUptime(): number;
    function loadavg(): number[];
    function systemMemoryInfo(): { [name: string]: number };
    function uid(): number | null;
    function gid(): number | null;

    namespace errors {
      class NotFound extends Error {}
      class PermissionDenied extends Error {}
      class ConnectionRefused extends Error {}
      class ConnectionReset extends Error {}
      class ConnectionAborted extends Error {}
      class NotConnected extends Error {}
      class AddrInUse extends Error {}
      class AddrNotAvailable extends Error {}
      class BrokenPipe extends Error {}
      class AlreadyExists extends Error {}
      class InvalidData extends Error {}
      class TimedOut extends Error {}
      class Interrupted extends Error {}
      class WriteZero extends Error {}
      class WouldBlock extends Error {}
      class UnexpectedEof extends Error {}
      class BadResource extends Error {}
      class Http extends Error {}
      class Busy extends Error {}
      class NotSupported extends Error {}
      class FilesystemLoop extends Error {}
      class IsADirectory extends Error {}
      class NetworkUnreachable extends Error {}
      class NotADirectory extends Error {}
      /** A permission is missing; the message names the flag that would grant it. */
      class NotCapable extends Error {}
    }
  }

  interface ImportMeta {
    main: boolean;
  }
}
