import type { WordsWanted } from "../../core/domain/desk.ts";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { GenerationGrant } from "../../core/domain/generation-grant.ts";
import type { Message } from "../../core/domain/provider.ts";
import { showableLine } from "../../core/domain/showable.ts";
import type { HostServiceGenerateRequest } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";
import type { HostMethods } from "./host-method.ts";
import type { LiveCall, LiveCalls } from "./live-calls.ts";
import type { GenerationWanted, PluginRecords } from "./plugin-records.ts";

const MESSAGES_MAX = 256;
const WORDS_LIMIT_BYTES = 256 * 1024;
/** Each is two lines that are kept for good, and perhaps a person's patience. */
const PER_CALL_MAX = 32;
const AT_ONCE_MAX = 8;
/** What a person reads of the words. */
const SHOWN_CHARS = 1_000;
/** No token of a model's is shorter than a byte; what stands around a message takes a few more. */
const TOKENS_PER_MESSAGE = 16;

export type GenerateParts = {
  readonly plugin: string;
  readonly calls: LiveCalls;
  readonly records: PluginRecords;
  readonly generation: GenerationGrant | undefined;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
};

/** Words of a conversation's model, for whom the owner gave a budget. Counted durably before and after. */
export function generateMethod(parts: GenerateParts): HostMethods<"generate"> {
  const { plugin, calls, generation } = parts;
  const spent = new WeakMap<LiveCall, number>();
  let open = 0;

  return {
    async generate(request, signal) {
      if (generation === undefined)
        return fail("denied", `plugin "${plugin}" may not ask a model: its owner gave it no tokens for that`, {
          hint: "sampling_tokens in its entry, where it is a server of MCP",
        });
      const call = calls.find(request.callId);
      if (call === undefined)
        return fail("not_found", `what plugin "${plugin}" asks a model for is no call that it is running`);
      const wanted = readWanted(request);
      if (!wanted.ok) return wanted;
      const count = (spent.get(call) ?? 0) + 1;
      spent.set(call, count);
      if (count > PER_CALL_MAX)
        return fail("exhausted", `a plugin asks a model at most ${PER_CALL_MAX} times in one call`);
      if (open >= AT_ONCE_MAX) return fail("exhausted", `a plugin asks a model at most ${AT_ONCE_MAX} things at once`);
      open += 1;
      try {
        return await generate(parts, generation, call, wanted.value, signal);
      } finally {
        open -= 1;
      }
    },
  };
}

async function generate(
  { plugin, records, now, random }: GenerateParts,
  { tokensPerDay, asks }: GenerationGrant,
  { callId, sessionId, desk }: LiveCall,
  wanted: WordsWanted,
  signal: AbortSignal,
) {
  const order = (): Omit<GenerationWanted, "generationId"> => ({
    ...{ plugin, sessionId, callId, tokensPerDay, maxTokens: wanted.maxTokens },
    ...{ promptTokens: promptTokensOf(wanted), atMs: now() },
  });
  // Nobody is asked about what cannot be.
  const left = await records.checkGeneration(order());
  if (!left.ok) return left;
  if (asks) {
    const most = Math.min(wanted.maxTokens, left.value);
    const word = await desk.confirm(`plugin:${plugin}`, sayQuestion(wanted, most));
    if (word.said === "nobody")
      return fail("denied", "nobody was there to let it ask the model", { hint: "sampling_ask = false asks nobody" });
    if (word.said === "no") return fail("denied", "the person did not let it ask the model");
  }
  if (signal.aborted) return fail("cancelled", "it is not waited for any more");
  const generationId = Buffer.from(random(8)).toString("hex");
  const begun = await records.beginGeneration({ ...order(), generationId });
  if (!begun.ok) return begun;
  const { said, tokens } = await desk.generate({ ...wanted, maxTokens: begun.value.maxTokens }, signal);
  const counted = await records.endGeneration(begun.value, tokens);
  if (!counted.ok) return counted;
  if (!said.ok) return said;
  return ok({ ...said.value, tokens: counted.value.tokens, tokensLeft: counted.value.left });
}

/** At the most, and surely: a budget is not overdrawn by a wrong guess. */
function promptTokensOf({ system, messages }: WordsWanted): number {
  const texts = [
    system,
    ...messages.flatMap(({ content }) => content.map((block) => ("text" in block ? block.text : ""))),
  ];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + TOKENS_PER_MESSAGE, 0);
}

function readWanted({ system, messages, maxTokens }: HostServiceGenerateRequest): Result<WordsWanted> {
  if (maxTokens < 1) return fail("invalid", "max_tokens must be at least 1");
  if (messages.length < 1 || messages.length > MESSAGES_MAX)
    return fail("invalid", `a model is asked with 1 to ${MESSAGES_MAX} messages, not ${messages.length}`);
  const read: Message[] = [];
  for (const { role, parts } of messages) {
    const texts = parts.map(({ kind }) => (kind.case === "text" ? kind.value : ""));
    if (texts.length === 0 || texts.some((text) => text.trim() === ""))
      return fail("invalid", "a message to a model has texts, none of them empty");
    const wrong = addMessage(read, role, texts);
    if (wrong !== undefined) return wrong;
  }
  if (read.at(-1)?.role !== "user") return fail("invalid", "the last message must be the user's");
  const bytes = [system, ...messages.flatMap(({ parts }) => parts.map(({ kind }) => kind.value ?? ""))]
    .map((text) => Buffer.byteLength(text))
    .reduce((sum, size) => sum + size, 0);
  if (bytes > WORDS_LIMIT_BYTES)
    return fail("exhausted", `a model is asked with at most ${WORDS_LIMIT_BYTES} bytes, not ${bytes}`);
  return ok({ system, messages: read, maxTokens });
}

/** Models want user and assistant in turns: what one says twice is said at once. */
function addMessage(read: Message[], role: string, texts: readonly string[]): Failed | undefined {
  const content = texts.map((text) => ({ kind: "text", text }) as const);
  const last = read.at(-1);
  if (role === "user") {
    if (last?.role === "user") read.splice(-1, 1, { role, content: [...last.content, ...content] });
    else read.push({ role, content });
    return undefined;
  }
  if (role !== "assistant") return fail("invalid", `a message to a model is by "user" or "assistant"`);
  if (last === undefined) return fail("invalid", "the first message must be the user's");
  if (last.role === "assistant") read.splice(-1, 1, { role, content: [...last.content, ...content] });
  else read.push({ role, content });
  return undefined;
}

/** Its words stand in quotes at the end: nothing of theirs can pass for the host's. */
function sayQuestion({ system, messages }: WordsWanted, most: number): string {
  const turns = messages.map(({ role, content }) => {
    const words = content.map((block) => ("text" in block ? block.text : "")).join("\n");
    return `${role}: ${words}`;
  });
  const words = [...(system === "" ? [] : [`system: ${system}`]), ...turns].join("\n");
  const cut = words.length > SHOWN_CHARS ? ` (and ${words.length - SHOWN_CHARS} characters more)` : "";
  const quoted = JSON.stringify(words.slice(0, SHOWN_CHARS));
  return showableLine(`may it ask your model for up to ${most} tokens${cut}, in its own words: ${quoted}`);
}
