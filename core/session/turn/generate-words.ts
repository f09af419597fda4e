import { type ModelWords, STRANGERS_WORDS_LIMIT_CHARS, type WordsWanted } from "../../domain/desk.ts";
import { type FailureCode, fail, ok } from "../../domain/failure.ts";
import type { Chunk, Provider, Stop, TokenUsage } from "../../domain/provider.ts";
import { unlessAborted } from "../../domain/unless-aborted.ts";
import type { TurnContext } from "./turn-context.ts";

/** With these a provider turned the question away: when that came before its first word, nothing was used. */
const TURNED_AWAY: ReadonlySet<FailureCode> = new Set(["invalid", "not_found", "denied", "exhausted", "unavailable"]);

/** Asks the conversation's own model for a stranger, or the one that the program lent to its call. The model hears nothing of the conversation, and has no tools. */
export async function generateWords(turn: TurnContext, wanted: WordsWanted, signal: AbortSignal): Promise<ModelWords> {
  if (turn.lentModel !== undefined) return turn.lentModel(wanted, AbortSignal.any([turn.signal, signal]));
  const { turn: open, model: chosen } = turn.writer.state();
  const resolved = turn.providers.resolve(open?.model || chosen);
  if (!resolved.ok) return { said: resolved, tokens: 0 };
  const over = AbortSignal.any([turn.signal, signal]);
  if (over.aborted) return { said: cancelled(), tokens: 0 };
  const { provider, model } = resolved.value;
  const prompt = { ...wanted, model, tools: [] };
  return unlessAborted(readWords(provider, `${provider.name}/${model}`, provider.stream(prompt, over)), over, () => ({
    said: cancelled(),
    tokens: undefined,
  }));
}

async function readWords(provider: Provider, model: string, chunks: AsyncIterable<Chunk>): Promise<ModelWords> {
  let text = "";
  let isSilent = true;
  for await (const chunk of chunks) {
    switch (chunk.kind) {
      case "failed":
        return {
          said: { ok: false, failure: chunk.failure },
          tokens: isSilent && TURNED_AWAY.has(chunk.failure.code) ? 0 : undefined,
        };
      case "end":
        return { said: ok({ text, stop: stopOf(chunk.stop), model }), tokens: sumOf(chunk.usage) };
      case "block":
        if (chunk.content.kind === "text") text += chunk.content.text;
        break;
      case "delta":
        break;
    }
    isSilent = false;
    if (text.length > STRANGERS_WORDS_LIMIT_CHARS)
      return { said: fail("exhausted", `${provider.name} answers too much`), tokens: undefined };
  }
  throw new Error(`provider ${provider.name} ended its stream without an end`);
}

/** There are no tools to call, whatever a model believes. */
function stopOf(stop: Stop): Stop {
  return stop === "calls" ? "done" : stop;
}

/** Undefined for a provider that counts nothing. */
function sumOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: TokenUsage): number | undefined {
  const sum = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  return sum > 0 ? sum : undefined;
}

function cancelled() {
  return fail("cancelled", "what the model was asked for is over");
}
