import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { FailureCode } from "../../core/domain/failure.ts";
import type {
  EmbedRequest,
  EmbedResponse,
  GenerateRequestSchema,
  GenerateResponse,
  HookAnswer,
  HookEventSchema,
  InitializeRequestSchema,
  ListDocumentsResponse,
  RunSlashCommandRequestSchema,
  RunSlashCommandResponse,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";

export type ToolCall = {
  readonly callId: string;
  readonly sessionId: string;
  /** The folder that the conversation works in, absolute. */
  readonly workspace: string;
  /** As the manifest names it. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly timeLimitMs: number;
};

export type ToolNews =
  | { readonly kind: "progress"; readonly text: string }
  /** Bytes of UTF-8 text; a character may be cut by the border of two pieces. */
  | { readonly kind: "output"; readonly data: Uint8Array }
  /** Exactly once, last. */
  | { readonly kind: "result"; readonly result: ToolResult };

/** What every major and wire can say of a result. The artifacts are of the plugin's own. */
export type ToolResult = {
  readonly parts: readonly ResultPart[];
  readonly failure: PluginFailure | undefined;
};

/** `category` says the code in finer words and may be empty; `retryable` says something only beside one. */
export type PluginFailure = {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint: string;
  readonly category: string;
  readonly retryable: boolean;
};

export type ResultPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "artifact"; readonly artifactId: string };

export type Initialized = {
  readonly version: string;
  readonly tools: readonly string[];
  /** What it can do beyond the first release of its major, in words of its own; for its log. */
  readonly features: readonly string[];
};

/** `unserved`: the plugin does not take settings while it runs. */
export type Configured = "in force" | "unserved" | "restart" | { readonly problem: string };

/**
 * What went wrong between the host and a plugin's process, whatever the wire: `unserved` is a method that the plugin does
 * not have, `too large` a message beyond the limit, `cancelled` our own signal, `refused` what the plugin itself says, in
 * the words of its author, `broken` everything else: most often the process is dying, and its exit says why.
 */
export class LinkError extends Error {
  readonly kind: "unserved" | "too large" | "cancelled" | "timed out" | "refused" | "broken";
  constructor(kind: LinkError["kind"], message: string, cause: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/**
 * How the host speaks to one running plugin: one adapter a wire and major. Everything rejects with `LinkError`, and ends
 * when its signal aborts; the plugin is told of that. Nothing here knows of queues, deadlines or permissions.
 */
export type PluginLink = {
  /** For people, e.g. "gRPC, major 1". */
  readonly wire: string;
  initialize(facts: MessageInitShape<typeof InitializeRequestSchema>, signal: AbortSignal): Promise<Initialized>;
  /** Names of the tools that it serves. */
  listTools(signal: AbortSignal): Promise<readonly string[]>;
  configure(config: JsonObject, signal: AbortSignal): Promise<Configured>;
  callTool(call: ToolCall, signal: AbortSignal): AsyncIterable<ToolNews>;
  runHook(event: MessageInitShape<typeof HookEventSchema>, signal: AbortSignal): Promise<HookAnswer>;
  generate(
    request: MessageInitShape<typeof GenerateRequestSchema>,
    signal: AbortSignal,
  ): AsyncIterable<GenerateResponse>;
  embed(request: Pick<EmbedRequest, "embedder" | "texts" | "isQuery">, signal: AbortSignal): Promise<EmbedResponse>;
  listDocuments(source: string, signal: AbortSignal): AsyncIterable<ListDocumentsResponse>;
  runSlashCommand(
    request: MessageInitShape<typeof RunSlashCommandRequestSchema>,
    signal: AbortSignal,
  ): Promise<RunSlashCommandResponse>;
  /** Resolves when nothing runs any more, at the latest after `timeLimitMs`, also when the plugin cannot drain. */
  drain(timeLimitMs: number): Promise<void>;
  /** True when the plugin took the order to end. */
  shutdown(reason: string, timeoutMs: number): Promise<boolean>;
  /** True when the process answers anything at all in time. */
  answers(timeoutMs: number): Promise<boolean>;
  close(): void;
};
