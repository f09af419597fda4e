import type { MessageInitShape } from "@bufbuild/protobuf";
import { unreachable } from "../../core/domain/failure.ts";
import type { Chunk, Message, Prompt, Provider, ReplyBlock } from "../../core/domain/provider.ts";
import type { GenerateRequestSchema, ModelPartSchema } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { CallQueue } from "../life/call-queue.ts";
import { brokeContract, hearPlugin } from "./hear-plugin.ts";
import { replyReader } from "./model-reply.ts";
import type { OfferParts } from "./offer-parts.ts";

/** Models think for a while before their first word. */
const SILENCE_MS = 180_000;
const REPLY_LIMIT_MS = 60 * 60_000;

/** As the manifest declares it. */
export type DeclaredModel = { readonly name: string; readonly defaultModel: string };

/** A plugin's models as the daemon sees them. Its process is started by the first prompt. */
export function makePluginModel(parts: OfferParts, queue: CallQueue, declared: DeclaredModel): Provider {
  const { name, defaultModel } = declared;
  const what = `model provider "${name}"`;
  return {
    name,
    defaultModel,
    async *stream(prompt: Prompt, signal: AbortSignal): AsyncGenerator<Chunk, void, undefined> {
      const read = replyReader(`${what} of plugin "${parts.manifest.name}"`, callIdsOf(prompt));
      const request = requestOf(declared, prompt);
      const question = { what, queue, silenceMs: SILENCE_MS, wholeMs: REPLY_LIMIT_MS } as const;
      const news = hearPlugin(parts, { ...question, ask: (link, end) => link.generate(request, end) }, signal);
      for await (const item of news) {
        if (!item.ok) {
          yield { kind: "failed", failure: item.failure };
          return;
        }
        const heard = read(item.value.news);
        if ("problem" in heard) {
          yield failedBy(parts, what, heard.problem);
          return;
        }
        for (const chunk of heard.chunks) {
          yield chunk;
          if (chunk.kind === "end" || chunk.kind === "failed") return;
        }
      }
      yield failedBy(parts, what, "ended its reply without an end");
    },
  };
}

function failedBy(parts: OfferParts, what: string, problem: string): Chunk {
  const broken = brokeContract(parts, what, problem);
  if (broken.ok) throw new Error("a broken contract is a failure");
  return { kind: "failed", failure: broken.failure };
}

function callIdsOf({ messages }: Prompt): ReadonlySet<string> {
  const ids = messages.flatMap(({ content }) => content.flatMap((block) => ("callId" in block ? [block.callId] : [])));
  return new Set(ids);
}

function requestOf(
  { name, defaultModel }: DeclaredModel,
  { model, system, messages, tools, maxTokens = 0 }: Prompt,
): MessageInitShape<typeof GenerateRequestSchema> {
  return {
    provider: name,
    model: model === "" ? defaultModel : model,
    system,
    maxTokens,
    messages: messages.map((message) => ({ role: message.role, parts: partsOf(message) })),
    tools: tools.map(({ name: tool, description, input }) => ({ name: tool, description, inputSchema: input })),
  };
}

function partsOf(message: Message): MessageInitShape<typeof ModelPartSchema>[] {
  if (message.role === "assistant") return message.content.flatMap(partOfReply);
  return message.content.map((block) =>
    block.kind === "text"
      ? { part: { case: "text", value: block.text } }
      : { part: { case: "result", value: { callId: block.callId, text: block.text, isError: block.isError } } },
  );
}

function partOfReply(block: ReplyBlock): MessageInitShape<typeof ModelPartSchema>[] {
  switch (block.kind) {
    case "text":
      return [{ part: { case: "text", value: block.text } }];
    case "thinking":
      // What another vendor encrypted says nothing here.
      return block.text === "" ? [] : [{ part: { case: "thinking", value: block.text } }];
    case "toolCall":
      return [{ part: { case: "call", value: { callId: block.callId, tool: block.tool, args: block.args } } }];
    default:
      return unreachable(block);
  }
}
