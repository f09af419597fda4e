import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { CallHost, Host } from "./host-client.ts";

/** A value, now or later. */
type Soon<T> = T | Promise<T>;

/** What everything that runs gets beside its arguments. */
export type Context = {
  /** Aborts when nobody waits any more: the call was cancelled, its time is up, or the host is gone. */
  readonly signal: AbortSignal;
  readonly host: Host;
  /** The plugin's settings at this moment: the defaults of plugin.json under what a person gave in config.toml. */
  readonly config: JsonObject;
  /** What it may touch, in the permission language: what plugin.json asks for, or less. */
  readonly granted: readonly string[];
  /** A folder of its own that it may write, absolute, kept between its lives; undefined when it was granted none. */
  readonly dataFolder: string | undefined;
};

/** The same for what belongs to a conversation. */
export type CallContext = Context & {
  /** Asking the person and calling other tools is possible as long as this runs. */
  readonly host: CallHost;
  readonly callId: string;
  readonly sessionId: string;
  /** The folder that the conversation works in, absolute; only told: what may be read there is a matter of the grant. */
  readonly workspace: string;
  /** Shows a line to whoever waits. Never stored. */
  readonly progress: (line: string) => void;
};

export type ToolContext = CallContext & {
  /**
   * Sends a piece of the output at once; the result's text follows all pieces. Await it: it waits while the host is
   * slower than the tool. Bytes are not copied: give each piece its own.
   */
  readonly write: (piece: string | Uint8Array) => Promise<void>;
};

/** A part of a result: words, data that the model reads as JSON, or an artifact that the plugin wrote before. */
export type ResultPart = string | { readonly json: JsonValue } | { readonly artifact: string };

/** What a tool gives back: a text, several parts, its output piece by piece, or nothing after what it wrote itself. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has the type void
export type ToolAnswer = string | readonly ResultPart[] | AsyncIterable<string | Uint8Array> | undefined | void;

/** A tool. Its description and input schema stand in plugin.json. */
export type ToolDefinition<Args extends object = JsonObject> = {
  /** As in plugin.json, without a prefix. */
  readonly name: string;
  /** Arguments are valid by the schema. What it throws is told to the model as an error; a `toolError` says which. */
  readonly run: (args: Args, context: ToolContext) => Soon<ToolAnswer>;
};

/** What happened, as a hook gets to see it. */
export type HookEvent = {
  /** The point, by its canonical name, e.g. "tool.before". */
  readonly at: string;
  readonly sessionId: string;
  /** The folder that the conversation works in. */
  readonly workspace: string;
  /** What the point is about; docs/hooks.md has the fields of each. */
  readonly value: JsonObject;
};

/** What a hook says, as hook scripts do: nothing is a pass. */
export type HookVerdict =
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has the type void
  | void
  | undefined
  | { readonly pass: true }
  | { readonly modify: JsonObject }
  | { readonly block: string }
  | { readonly answer: JsonValue }
  | { readonly skip: true };

/** A listener at one point. Its priority, time limit and filter stand in plugin.json. */
export type HookDefinition = {
  /** By its canonical name. Where several listen at one point they stand in the order of plugin.json. */
  readonly at: string;
  /** What it throws counts as its failure; the on_error of plugin.json decides then. */
  readonly run: (event: HookEvent, context: CallContext) => Soon<HookVerdict>;
};

export type ModelCall = { readonly callId: string; readonly tool: string; readonly args: JsonObject };

export type ModelPart =
  | { readonly text: string }
  | { readonly thinking: string }
  | { readonly call: ModelCall }
  | { readonly result: { readonly callId: string; readonly text: string; readonly isError: boolean } };

export type ModelRequest = {
  /** Never empty. */
  readonly model: string;
  /** Instructions. */
  readonly system: string;
  /** User and assistant in turns. */
  readonly messages: readonly { readonly role: string; readonly parts: readonly ModelPart[] }[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly inputSchema: JsonObject }[];
  /** The most that it may answer; undefined for as much as the model gives. */
  readonly maxTokens?: number;
};

/** What a model says: a piece of its text, a whole part, and, if it likes, how it ended. */
export type ModelNews =
  | string
  | { readonly thinking: string }
  | { readonly call: Omit<ModelCall, "callId"> & { readonly callId?: string } }
  | {
      readonly end: {
        readonly stop?: "done" | "calls" | "length" | "refused";
        readonly inputTokens?: number;
        readonly outputTokens?: number;
      };
    };

/** A model provider. */
export type ModelDefinition = {
  /** As in plugin.json. */
  readonly name: string;
  /**
   * What it throws ends the reply as a failure; a `toolError` that is `retryable`, or of the code "unavailable", says that trying
   * again may help.
   */
  readonly generate: (request: ModelRequest, context: Context) => AsyncIterable<ModelNews>;
};

/** An embedder. */
export type EmbedderDefinition = {
  /** As in plugin.json. */
  readonly id: string;
  /** One vector a text, in their order; at most 256 texts. */
  readonly embed: (
    texts: readonly string[],
    kind: "query" | "document",
    context: Context,
  ) => Soon<readonly (readonly number[] | Float32Array)[]>;
};

/** A source of documents for memory. */
export type MemorySourceDefinition = {
  /** As in plugin.json. */
  readonly name: string;
  /** All of them. The id names one for ever, e.g. a path or an address; the title is for people. */
  readonly documents: (
    context: Context,
  ) => AsyncIterable<{ readonly id: string; readonly text: string; readonly title?: string }>;
};

/** What becomes of a message: said to the model in its place, or shown to the person and nothing said. */
export type SlashAnswer = ({ readonly say: string } | { readonly show: string }) & {
  /**
   * For programs that take more than a text: all that it says, pictures and resources included, each in the form of a PromptMessage
   * of the Model Context Protocol, e.g. `{ role: "user", content: { type: "image", data, mimeType } }`; 3 MiB in all.
   */
  readonly messages?: readonly JsonObject[];
};

/** What stands behind a command's name. */
export type SlashWords = {
  readonly args: string;
  /** The same by name, where a program filled in the arguments of plugin.json; empty for a person's words. */
  readonly named: Readonly<Record<string, string>>;
  /** True when whoever asks takes messages, too. */
  readonly whole: boolean;
  readonly sessionId: string;
  readonly workspace: string;
};

/** A slash command. */
export type SlashCommandDefinition = {
  /** As in plugin.json, without the slash. */
  readonly name: string;
  readonly run: (command: SlashWords, context: CallContext) => Soon<SlashAnswer>;
};

export type PluginDefinition = {
  /** As in plugin.json. */
  readonly name: string;
  /** As in plugin.json. */
  readonly version: string;
  readonly tools?: readonly ToolDefinition[];
  /** Finds one that it offered by `host.offer`, by its name there. */
  readonly findTool?: (name: string) => ToolDefinition | undefined;
  readonly hooks?: readonly HookDefinition[];
  readonly models?: readonly ModelDefinition[];
  readonly embedders?: readonly EmbedderDefinition[];
  readonly memorySources?: readonly MemorySourceDefinition[];
  readonly slashCommands?: readonly SlashCommandDefinition[];
  /** Finds one that it offered by `host.offer`, by its name there. */
  readonly findSlashCommand?: (name: string) => SlashCommandDefinition | undefined;
  /**
   * Takes the settings: once before anything else, and whenever a person changes them. "restart" says that new ones come
   * into force at the next start only; what it throws says why they cannot be used. The host can be asked for things already.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has the type void
  readonly configure?: (config: JsonObject, host: Host) => Soon<"restart" | undefined | void>;
  /** Tidies up before the process ends; it has two seconds, and half a one when the host is gone. */
  readonly stop?: () => Soon<void>;
};
