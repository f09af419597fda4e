import type { JsonObject } from "@bufbuild/protobuf";
import type { Failure, Result } from "./failure.ts";
import type { JsonSchema } from "./tool.ts";

/** A finished piece of a reply. */
export type ReplyBlock =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string; readonly signature: string; readonly redacted: string }
  | { readonly kind: "toolCall"; readonly callId: string; readonly tool: string; readonly args: JsonObject };

export type ResultBlock = {
  readonly kind: "toolResult";
  readonly callId: string;
  readonly text: string;
  readonly isError: boolean;
};

/**
 * The one key of a tool call's arguments when the model did not write a JSON object: the value is what it wrote. Such a
 * call is answered with `invalid` and never runs. (The key is the one that Anthropic's documentation proposes.)
 */
export const MALFORMED_ARGS = "INVALID_JSON";

/** What the model wrote in place of arguments, or undefined for arguments that are fine. */
export function malformedArgs(args: JsonObject): string | undefined {
  const raw = args[MALFORMED_ARGS];
  return typeof raw === "string" && Object.keys(args).length === 1 ? raw : undefined;
}

/** Words for the model: a person's, or what hooks or memory put beside them. */
export type WordsBlock = {
  readonly kind: "text";
  readonly text: string;
  readonly byHooks?: true;
  readonly byMemory?: true;
};

/** A message is frozen once it is in a session, so adapters may cache what they made of it. */
export type Message =
  | { readonly role: "user"; readonly content: readonly (ResultBlock | WordsBlock)[] }
  | { readonly role: "assistant"; readonly content: readonly ReplyBlock[] };

export type ToolSpec = { readonly name: string; readonly description: string; readonly input: JsonSchema };

/** What the model sees. User and assistant messages alternate; each call is answered in the next user message. */
export type Prompt = {
  /** The model's name without the provider, empty for the provider's default. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** The most that it may answer, for words that have a budget; as much as the provider gives without it. */
  readonly maxTokens?: number;
};

export type TokenUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
};

export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export type Stop = "done" | "calls" | "length" | "refused";

/** Blocks are numbered from 0 in order of their beginning. A `block` chunk closes its number and holds all of it. */
export type Chunk =
  | { readonly kind: "delta"; readonly block: number; readonly of: "text" | "thinking"; readonly text: string }
  | { readonly kind: "block"; readonly block: number; readonly content: ReplyBlock }
  | { readonly kind: "end"; readonly stop: Stop; readonly usage: TokenUsage }
  | { readonly kind: "failed"; readonly failure: Failure };

/** `stream` never throws; its last chunk is `end` or `failed` (`cancelled` when the signal aborted). */
export type Provider = {
  readonly name: string;
  /** The model that answers when the prompt names none. */
  readonly defaultModel: string;
  stream(prompt: Prompt, signal: AbortSignal): AsyncIterable<Chunk>;
};

/** Names of providers that are clawd's own, those of later releases included; no plugin may take one. */
export const OWN_PROVIDERS: readonly string[] = ["anthropic", "openai", "gemini", "local", "tape", "rehearsal"];

/** The providers that plugins offer at this moment. Of two with one name the first is meant. */
export type ProviderSource = () => readonly Provider[];

export type ResolvedModel = { readonly provider: Provider; readonly model: string };

/** Finds who answers "PROVIDER/NAME", "PROVIDER" or "" (the daemon's choice). */
export type ProviderCatalog = { resolve(model: string): Result<ResolvedModel> };
