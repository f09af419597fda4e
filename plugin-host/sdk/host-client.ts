import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { HostCalls } from "./host-calls.ts";

/** One hit of a memory search: the text, and where it is from (a path or a note's id). */
export type Recollection = { readonly text: string; readonly source: string };

export type LogLevel = "debug" | "info" | "warning" | "error";

/** Values of the plugin's own that survive it: keys of 1 to 256 characters, any JSON of at most 64 KiB each. */
export type Store = {
  /** Undefined when there is none. */
  get(key: string): Promise<JsonValue | undefined>;
  /** Resolves when the value is durable. */
  set(key: string, value: JsonValue): Promise<void>;
  delete(key: string): Promise<void>;
  /** In their order; all, or those that begin so. */
  keys(prefix?: string): Promise<readonly string[]>;
};

/** Files of the plugin's own, for what is too large for a message. A result names one by its id. */
export type Artifacts = {
  /** Keeps bytes of any length, or adds them to the artifact named by `to`; gives its id. */
  write(
    data: string | Uint8Array,
    more?: { readonly mimeType?: string; readonly to?: string },
  ): Promise<{ readonly id: string; readonly sizeBytes: number }>;
  /** All of it, or what is from `offsetBytes` on, at most `limitBytes`. */
  read(id: string, more?: { readonly offsetBytes?: number; readonly limitBytes?: number }): Promise<Uint8Array>;
};

/** What the host does for a plugin. Calls reject when the host refuses or is gone. */
export type Host = {
  /** Writes a line to the plugin's log (`claw plugin logs NAME`). Needs no permission. */
  log(message: string, level?: LogLevel): Promise<void>;
  /** Searches long-term memory, best first, 5 hits unless told otherwise. Needs the permission "memory=read". */
  recall(query: string, limit?: number): Promise<readonly Recollection[]>;
  readonly store: Store;
  readonly artifacts: Artifacts;
};

/** And what it does in the conversation of a call, as long as that runs. */
export type CallHost = Host & {
  /** Shows a line to whoever waits for the call. */
  progress(line: string): Promise<void>;
  /** Asks the person a question of at most 500 characters with yes or no. Nobody there means no. */
  ask(question: string): Promise<{ readonly yes: boolean; readonly answered: boolean }>;
  /** Calls another tool by its full name, through all its gates. Needs the permission "tool=<name>". */
  callTool(tool: string, args?: JsonObject): Promise<{ readonly text: string; readonly isError: boolean }>;
};

/** The host's services at a socket. */
export type HostLine = {
  /** In no call. */
  readonly host: Host;
  forCall(callId: string): CallHost;
};

/** Dials the host's socket on the first use: a plugin that asks for nothing loads nothing for it. */
export function hostLine(socketPath: string, token: string): HostLine {
  let dialled: Promise<HostCalls> | undefined;
  const calls = () => {
    dialled ??= import("./host-calls.ts").then(({ dialHost }) => dialHost(socketPath, token));
    return dialled;
  };
  const host: Host = {
    log: async (message, level = "info") => (await calls()).log(message, level),
    recall: async (query, limit = 0) => (await calls()).recall(query, limit),
    store: {
      get: async (key) => (await calls()).getValue(key),
      set: async (key, value) => (await calls()).setValue(key, value),
      delete: async (key) => (await calls()).deleteValue(key),
      keys: async (prefix = "") => (await calls()).listKeys(prefix),
    },
    artifacts: {
      write: async (data, { mimeType = "", to = "" } = {}) => (await calls()).writeArtifact(data, mimeType, to),
      read: async (id, { offsetBytes = 0, limitBytes = Number.POSITIVE_INFINITY } = {}) =>
        (await calls()).readArtifact(id, offsetBytes, limitBytes),
    },
  };
  return {
    host,
    forCall: (callId) => ({
      ...host,
      progress: async (line) => (await calls()).progress(callId, line),
      ask: async (question) => (await calls()).ask(callId, question),
      callTool: async (tool, args = {}) => (await calls()).callTool(callId, tool, args),
    }),
  };
}
