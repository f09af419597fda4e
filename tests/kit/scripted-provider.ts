import type { JsonObject } from "@bufbuild/protobuf";
import type { Result } from "../../core/domain/failure.ts";
import { type Chunk, NO_USAGE, type Prompt, type Provider, type ProviderCatalog } from "../../core/domain/provider.ts";

/** One reply of a scripted model: what it says and the calls it makes, or chunks made by hand. */
export type ScriptedReply =
  | { readonly text?: string; readonly calls?: readonly { readonly tool: string; readonly args?: JsonObject }[] }
  | ((prompt: Prompt, signal: AbortSignal) => AsyncIterable<Chunk>);

/** A model that says what a test wrote down, in order, and keeps the prompts it was shown. */
export function scriptedProvider(replies: readonly ScriptedReply[]): Provider & { readonly prompts: Prompt[] } {
  const prompts: Prompt[] = [];
  let calls = 0;
  return {
    name: "scripted",
    defaultModel: "one",
    prompts,
    async *stream(prompt, signal) {
      const reply = replies[prompts.length] ?? { text: "That was all." };
      prompts.push(prompt);
      if (typeof reply === "function") return yield* reply(prompt, signal);
      let block = 0;
      if (reply.text !== undefined) {
        yield { kind: "delta", block, of: "text", text: reply.text };
        yield { kind: "block", block, content: { kind: "text", text: reply.text } };
        block += 1;
      }
      for (const { tool, args = {} } of reply.calls ?? []) {
        calls += 1;
        yield { kind: "block", block, content: { kind: "toolCall", callId: `call-${calls}`, tool, args } };
        block += 1;
      }
      yield { kind: "end", stop: reply.calls === undefined ? "done" : "calls", usage: NO_USAGE };
    },
  };
}

/** A catalog in which every name leads to one provider. */
export function onlyProvider(provider: Provider): ProviderCatalog {
  return {
    resolve: (): Result<{ provider: Provider; model: string }> => ({
      ok: true,
      value: { provider, model: provider.defaultModel },
    }),
  };
}
