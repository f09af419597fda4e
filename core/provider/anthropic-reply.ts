import type { JsonObject } from "@bufbuild/protobuf";
import { type Failure, fail } from "../domain/failure.ts";
import { isJsonObject } from "../domain/json-object.ts";
import {
  type Chunk,
  MALFORMED_ARGS,
  NO_USAGE,
  type ReplyBlock,
  type Stop,
  type TokenUsage,
} from "../domain/provider.ts";

/** One server-sent event of the vendor, as far as it is read here. Everything may be missing: it comes from a network. */
type WireEvent = {
  readonly type?: string;
  readonly index?: number;
  readonly message?: { readonly usage?: WireUsage };
  readonly usage?: WireUsage;
  readonly content_block?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly data?: string;
    readonly id?: string;
    readonly name?: string;
    readonly input?: unknown;
  };
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly partial_json?: string;
    readonly stop_reason?: string | null;
  };
};

type WireUsage = {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
};

/** A block that has begun. `held` is the first half of a surrogate pair whose second half is still to come. */
type OpenBlock = { readonly number: number } & (
  | { readonly kind: "text"; text: string; held: string }
  | { readonly kind: "thinking"; text: string; held: string; signature: string }
  | { readonly kind: "redacted"; readonly data: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly given: unknown; json: string }
);

/** Longest reply that is taken, in UTF-16 units over all blocks. A model ends far below; a broken server may not. */
const REPLY_LIMIT_UNITS = 2 * 1024 * 1024;

/** Turns the events of one reply into chunks. An event gives at most one. */
export type ReplyReader = {
  read(data: string): Chunk | undefined;
  /** True once a chunk was given: from then on a second try would say things twice. */
  told(): boolean;
};

export function replyReader(): ReplyReader {
  /** By the vendor's index. Kinds that this build does not know are left out, and ours are numbered without gaps. */
  const open = new Map<number, OpenBlock>();
  let begun = 0;
  let told = false;
  let calls = 0;
  let units = 0;
  let stopReason = "";
  let usage = NO_USAGE;

  function beginBlock(event: WireEvent): void {
    const block = openBlock(begun, event.content_block ?? {});
    if (block === undefined) return;
    open.set(event.index ?? 0, block);
    begun += 1;
  }

  function grow(event: WireEvent): Chunk | undefined {
    const block = open.get(event.index ?? 0);
    const delta = event.delta ?? {};
    if (block === undefined) return undefined;
    if (block.kind === "text" && delta.type === "text_delta") return say(block, delta.text ?? "");
    if (block.kind === "thinking" && delta.type === "thinking_delta") return say(block, delta.thinking ?? "");
    if (block.kind === "thinking" && delta.type === "signature_delta") block.signature += delta.signature ?? "";
    if (block.kind === "call" && delta.type === "input_json_delta") {
      block.json += delta.partial_json ?? "";
      return tooLong(delta.partial_json ?? "");
    }
    return undefined;
  }

  function say(block: Extract<OpenBlock, { kind: "text" | "thinking" }>, piece: string): Chunk | undefined {
    block.text += piece;
    const whole = block.held + piece;
    block.held = /[\uD800-\uDBFF]$/.test(whole) ? whole.slice(-1) : "";
    const text = block.held === "" ? whole : whole.slice(0, -1);
    return tooLong(piece) ?? (text === "" ? undefined : { kind: "delta", block: block.number, of: block.kind, text });
  }

  function tooLong(piece: string): Chunk | undefined {
    units += piece.length;
    if (units <= REPLY_LIMIT_UNITS) return undefined;
    const message = `the model's reply grew beyond ${REPLY_LIMIT_UNITS / 1024 / 1024} MiB`;
    return {
      kind: "failed",
      failure: fail("exhausted", message, { hint: "check the server behind base_url" }).failure,
    };
  }

  function endBlock(event: WireEvent): Chunk | undefined {
    const block = open.get(event.index ?? 0);
    if (block === undefined) return undefined;
    open.delete(event.index ?? 0);
    if (block.kind === "call") calls += 1;
    return { kind: "block", block: block.number, content: closedBlock(block) };
  }

  function endReply(): Chunk {
    if (open.size > 0) return { kind: "failed", failure: brokenStream("the reply ended inside a block") };
    return { kind: "end", stop: stopOf(stopReason, calls), usage };
  }

  function readEvent(event: WireEvent): Chunk | undefined {
    switch (event.type) {
      case "message_start":
        usage = addUsage(usage, event.message?.usage);
        return undefined;
      case "content_block_start":
        beginBlock(event);
        return undefined;
      case "content_block_delta":
        return grow(event);
      case "content_block_stop":
        return endBlock(event);
      case "message_delta":
        usage = addUsage(usage, event.usage);
        stopReason = event.delta?.stop_reason ?? stopReason;
        return undefined;
      case "message_stop":
        return endReply();
      default:
        return undefined; // The vendor may add kinds of events at any time.
    }
  }

  return {
    told: () => told,
    read(data) {
      let event: WireEvent | null;
      try {
        event = JSON.parse(data) as WireEvent | null;
      } catch (cause) {
        return { kind: "failed", failure: brokenStream(`an event is not JSON: ${data.slice(0, 80)}`, cause) };
      }
      const chunk = readEvent(event ?? {});
      if (chunk !== undefined && chunk.kind !== "failed") told = true;
      return chunk;
    },
  };
}

/** The connection or the server broke in the middle of a reply. */
export function brokenStream(what: string, cause?: unknown): Failure {
  const message = `the model's reply broke off: ${what}`;
  return {
    code: "unavailable",
    message,
    hint: "say it again; if it stays, check base_url",
    ...(cause === undefined ? {} : { cause }),
  };
}

function openBlock(number: number, start: NonNullable<WireEvent["content_block"]>): OpenBlock | undefined {
  switch (start.type) {
    case "text":
      return { kind: "text", number, held: "", text: start.text ?? "" };
    case "thinking":
      return { kind: "thinking", number, held: "", text: start.thinking ?? "", signature: start.signature ?? "" };
    case "redacted_thinking":
      return { kind: "redacted", number, data: start.data ?? "" };
    case "tool_use":
      return { kind: "call", number, id: start.id ?? "", name: start.name ?? "", given: start.input, json: "" };
    default:
      return undefined;
  }
}

function closedBlock(block: OpenBlock): ReplyBlock {
  switch (block.kind) {
    case "text":
      return { kind: "text", text: block.text.toWellFormed() };
    case "thinking":
      return { kind: "thinking", text: block.text.toWellFormed(), signature: block.signature, redacted: "" };
    case "redacted":
      return { kind: "thinking", text: "", signature: "", redacted: block.data };
    case "call":
      return { kind: "toolCall", callId: block.id, tool: block.name, args: readArgs(block.json, block.given) };
  }
}

/** The arguments of a call, or `{ MALFORMED_ARGS: what the model wrote }`, so that nothing runs on half an order. */
function readArgs(json: string, given: unknown): JsonObject {
  if (json.trim() === "") return isJsonObject(given) ? given : {};
  try {
    const args: unknown = JSON.parse(json, (_key, value: unknown) => {
      // 1e999 is JSON, but no number that could be written down again.
      if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("a number is too large");
      return typeof value === "string" ? value.toWellFormed() : value;
    });
    if (isJsonObject(args)) return args;
  } catch {
    // What is wrong with it is told where the call is answered.
  }
  return { [MALFORMED_ARGS]: json.toWellFormed() };
}

/** Servers disagree on the reason when there are calls; the blocks decide. */
function stopOf(reason: string, calls: number): Stop {
  switch (reason) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "refusal":
      return "refused";
    default:
      return calls > 0 ? "calls" : "done";
  }
}

/** The vendor's numbers are running totals; a number that is absent leaves the one before. */
function addUsage(before: TokenUsage, news: WireUsage | undefined): TokenUsage {
  return {
    inputTokens: count(news?.input_tokens, before.inputTokens),
    outputTokens: count(news?.output_tokens, before.outputTokens),
    cacheReadTokens: count(news?.cache_read_input_tokens, before.cacheReadTokens),
    cacheWriteTokens: count(news?.cache_creation_input_tokens, before.cacheWriteTokens),
  };
}

function count(news: number | null | undefined, before: number): number {
  return typeof news === "number" && Number.isSafeInteger(news) && news >= 0 ? news : before;
}
