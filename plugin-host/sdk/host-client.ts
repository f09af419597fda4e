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

/** Texts of the plugin's own that stand in no journal and are blotted out in its log: at most 32 of 64 KiB. */
export type Secrets = {
  /** Undefined when there is none. */
  get(key: string): Promise<string | undefined>;
  /** Resolves when it is durable; an empty text takes it out. */
  set(key: string, value: string): Promise<void>;
};

/** What the host does for a plugin. Calls reject when the host refuses or is gone. */
export type Host = {
  /** Writes a line to the plugin's log (`claw plugin logs NAME`). Needs no permission. */
  log(message: string, level?: LogLevel): Promise<void>;
  /** Searches long-term memory, best first, 5 hits unless told otherwise. Needs the permission "memory=read". */
  recall(query: string, limit?: number): Promise<readonly Recollection[]>;
  readonly store: Store;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  /**
   * Says which tools and slash commands there are now beside those of plugin.json, which must say "dynamic": true. Gives the
   * names by which models know the tools, in their order; an empty one for what cannot be offered, for which `problems` says why.
   */
  offer(
    tools: readonly OfferedTool[],
    commands?: readonly OfferedCommand[],
  ): Promise<{ readonly names: readonly string[]; readonly problems: readonly string[] }>;
};

/** A slash command that a plugin offers while it runs. */
export type OfferedCommand = {
  /** Without what the host puts in front of it. */
  readonly name: string;
  readonly description: string;
  /** What programs fill in by name. */
  readonly takes?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
};

/** A tool that a plugin offers while it runs. */
export type OfferedTool = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments; must be of type object. */
  readonly inputSchema: JsonObject;
  /** The most that one call takes; a minute unless told otherwise. */
  readonly timeoutMs?: number;
};

/** And what it does in the conversation of a call, as long as that runs. */
export type CallHost = Host & {
  /** Shows a line to whoever waits for the call. */
  progress(line: string): Promise<void>;
  /**
   * Asks the person a question of at most 500 characters with yes or no. Nobody there means no. With a flat JSON Schema of type
   * object they fill in its fields, too: `content` is what they said, valid by it. What looks like a password is not asked for.
   */
  ask(
    question: string,
    requestedSchema?: JsonObject,
  ): Promise<{ readonly yes: boolean; readonly answered: boolean; readonly content?: JsonObject }>;
  /** Calls another tool by its full name, through all its gates. Needs the permission "tool=<name>". */
  callTool(tool: string, args?: JsonObject): Promise<{ readonly text: string; readonly isError: boolean }>;
  /**
   * Asks the model of the conversation, which hears nothing else of it. Only for a plugin that its owner gave a budget of tokens,
   * as servers of MCP can have one; ends when `signal` aborts.
   */
  generate(wanted: WordsWanted, signal?: AbortSignal): Promise<WordsGiven>;
};

/** What a model shall answer. */
export type WordsWanted = {
  /** Instructions; none unless told otherwise. */
  readonly system?: string;
  /** At most 256, the last by the user; 256 KiB in all. */
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly texts: readonly string[] }[];
  /** The most that it may answer; fewer when less is left of the budget. */
  readonly maxTokens: number;
};

/** What it answered, and what that took of the budget, prompt and answer. */
export type WordsGiven = {
  readonly text: string;
  /** "done", "length" or "refused". */
  readonly stop: string;
  /** "PROVIDER/NAME". */
  readonly model: string;
  readonly tokens: number;
  readonly tokensLeft: number;
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
    offer: async (tools, commands = []) => (await calls()).offer(tools, commands),
    secrets: {
      get: async (key) => (await calls()).getSecret(key),
      set: async (key, value) => (await calls()).setSecret(key, value),
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
      ask: async (question, requestedSchema) => (await calls()).ask(callId, question, requestedSchema),
      callTool: async (tool, args = {}) => (await calls()).callTool(callId, tool, args),
      generate: async (wanted, signal) => (await calls()).generate(callId, wanted, signal),
    }),
  };
}
