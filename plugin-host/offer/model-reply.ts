import type { Failure } from "../../core/domain/failure.ts";
import type { Chunk, Stop } from "../../core/domain/provider.ts";
import type { GenerateEnd, GenerateResponse, ModelPart } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";

/** Words, thoughts and arguments of one reply, UTF-16 code units. */
const REPLY_LIMIT_UNITS = 8 * 1024 * 1024;
const REPLY_LIMIT_BLOCKS = 1_000;
/** The author's words about a failure are cut here. */
const WORDS_LIMIT_UNITS = 500;

const STOPS: ReadonlyMap<string, Stop> = new Map([
  ["", "done"],
  ["done", "done"],
  ["calls", "calls"],
  ["length", "length"],
  ["refused", "refused"],
]);

/** What a piece of news means; a problem is what the plugin did against the protocol. */
export type ReadNews = { readonly chunks: readonly Chunk[] } | { readonly problem: string };

/**
 * Turns the news of one reply into chunks: blocks numbered, deltas that add up to their block, one end. Calls get ids that
 * are not among the `taken` ones of the conversation before.
 */
export function replyReader(model: string, taken: ReadonlySet<string>): (news: GenerateResponse["news"]) => ReadNews {
  let blocks = 0;
  let calls = 0;
  let units = 0;
  /** What was told of a text that is not closed. */
  let told = "";
  const given = new Set<string>();

  function freshId(wanted: string): string {
    const base = wanted === "" ? "call" : wanted;
    let id = base;
    for (let number = 2; taken.has(id) || given.has(id); number += 1) id = `${base}-${number}`;
    given.add(id);
    return id;
  }

  function grow(by: number): boolean {
    units += by;
    return units <= REPLY_LIMIT_UNITS && blocks < REPLY_LIMIT_BLOCKS;
  }

  function readDelta(text: string): ReadNews {
    if (text === "") return { chunks: [] };
    if (!grow(text.length)) return TOO_LONG;
    told += text;
    return { chunks: [{ kind: "delta", block: blocks, of: "text", text }] };
  }

  function readText(text: string): ReadNews {
    if (!text.startsWith(told)) return { problem: "closed a text with other words than those of its deltas" };
    const block = blocks;
    const rest = text.slice(told.length);
    if (text === "") return { chunks: [] };
    if (!grow(rest.length)) return TOO_LONG;
    told = "";
    blocks += 1;
    const whole: Chunk = { kind: "block", block, content: { kind: "text", text } };
    return { chunks: rest === "" ? [whole] : [{ kind: "delta", block, of: "text", text: rest }, whole] };
  }

  function readPart({ part }: ModelPart): ReadNews {
    if (part.case === "text") return readText(part.value);
    if (told !== "") return OPEN_TEXT;
    const block = blocks;
    switch (part.case) {
      case "thinking":
        if (!grow(part.value.length)) return TOO_LONG;
        blocks += 1;
        return {
          chunks: [
            { kind: "block", block, content: { kind: "thinking", text: part.value, signature: "", redacted: "" } },
          ],
        };
      case "call": {
        const { callId, tool, args = {} } = part.value;
        if (tool === "") return { problem: "wants a call without naming a tool" };
        if (!grow(JSON.stringify(args).length)) return TOO_LONG;
        blocks += 1;
        calls += 1;
        return {
          chunks: [{ kind: "block", block, content: { kind: "toolCall", callId: freshId(callId), tool, args } }],
        };
      }
      case "result":
        return { problem: "sent the result of a call, which is not a model's to give" };
      default:
        // A kind that this host does not know comes from a newer library and is passed over.
        return { chunks: [] };
    }
  }

  function readEnd({ stop: said, inputTokens, outputTokens }: GenerateEnd): ReadNews {
    if (told !== "") return OPEN_TEXT;
    const stop = STOPS.get(said);
    if (stop === undefined) return { problem: `ended with "${said.slice(0, 40)}", which is no way to end` };
    if (stop === "calls" && calls === 0) return { problem: "ended for its calls, but wants none" };
    const usage = { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
    return { chunks: [{ kind: "end", stop: stop === "done" && calls > 0 ? "calls" : stop, usage }] };
  }

  return (news) => {
    // Also what says nothing counts, or it could go on for ever.
    if (!grow(1)) return TOO_LONG;
    switch (news.case) {
      case "textDelta":
        return readDelta(news.value);
      case "part":
        return readPart(news.value);
      case "end":
        return readEnd(news.value);
      case "failure": {
        const { message, retryable } = news.value;
        const code = retryable ? "unavailable" : "invalid";
        const words = message === "" ? "it does not say why" : message.slice(0, WORDS_LIMIT_UNITS).toWellFormed();
        const failure: Failure = {
          code,
          message: `${model} failed: ${words}`,
          ...(retryable ? { hint: "say it again" } : {}),
        };
        return { chunks: [{ kind: "failed", failure }] };
      }
      default:
        return { chunks: [] };
    }
  };
}

const OPEN_TEXT: ReadNews = { problem: "went on without closing the text that its deltas began" };
const TOO_LONG: ReadNews = {
  problem: `sent more than ${REPLY_LIMIT_UNITS / 1024 / 1024} Mi characters or ${REPLY_LIMIT_BLOCKS} parts`,
};
