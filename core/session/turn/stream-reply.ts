import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentBlockSchema } from "../../../proto/gen/clawd/v1/content_pb.ts";
import { StopReason } from "../../../proto/gen/clawd/v1/event_pb.ts";
import { DeltaKind } from "../../../proto/gen/clawd/v1/session_pb.ts";
import type { EventBody } from "../../domain/event.ts";
import { type Failure, unreachable } from "../../domain/failure.ts";
import { NO_USAGE, type Prompt, type Provider, type ReplyBlock, type TokenUsage } from "../../domain/provider.ts";
import { isStrangersCallId } from "../../domain/session.ts";
import type { ToolCallBlock } from "./judge-call.ts";
import { type HeldReply, judgeReply, type NumberedBlock } from "./judge-reply.ts";
import type { TurnContext } from "./turn-context.ts";

/** What a model call came to. Its events are with the writer, held until the next write or a quarter second. */
export type Reply =
  | { readonly kind: "whole"; readonly calls: readonly ToolCallBlock[] }
  | { readonly kind: "broken"; readonly failure: Failure };

const STOPS: Readonly<Record<HeldReply["stop"], StopReason>> = {
  done: StopReason.DONE,
  calls: StopReason.CALLS,
  length: StopReason.LENGTH,
  refused: StopReason.REFUSED,
  cancelled: StopReason.CANCELLED,
  failed: StopReason.FAILED,
};

/**
 * Streams one reply: deltas to whoever listens, whole blocks to the journal. Where hooks hear of it (`model.after`), its
 * words and blocks wait for them: what they make of the words is what is told and kept. Thinking, which they cannot
 * change, goes out as it comes.
 */
export async function streamReply(turn: TurnContext, provider: Provider, prompt: Prompt, step: number): Promise<Reply> {
  const { turnId, writer } = turn;
  const isHeard = await turn.hooks.hears("model.after");
  const waiting: NumberedBlock[] = [];
  const calls: ToolCallBlock[] = [];
  const callIds = new Set<string>();
  /** What was told of blocks that are not closed, by block. */
  const open = new Map<number, { readonly of: "text" | "thinking"; readonly text: string }>();

  function endBlock(block: number, ended: ReplyBlock): void {
    open.delete(block);
    const content = ended.kind === "toolCall" ? { ...ended, callId: freshCallId(callIds, ended.callId) } : ended;
    if (content.kind === "toolCall") calls.push(content);
    if (isHeard) waiting.push({ block, content });
    else writer.hold([blockEnded({ block, content })]);
  }

  function blockEnded({ block, content }: NumberedBlock): EventBody {
    return { case: "blockEnded", value: { turnId, step, block, content: storedBlock(content) } };
  }

  /** Says why the turn may not go on with this reply, if a hook says so. */
  async function endReply(stop: HeldReply["stop"], usage: TokenUsage): Promise<Failure | undefined> {
    const end: EventBody = { case: "replyEnded", value: { turnId, step, stop: STOPS[stop], usage } };
    if (!isHeard) {
      writer.hold([end]);
      return undefined;
    }
    const model = `${provider.name}/${prompt.model}`;
    const { blocks, receipts, failure } = await judgeReply(turn, { model, step, blocks: waiting, stop });
    writer.hold([...blocks.map(blockEnded), ...receipts, end]);
    return failure;
  }

  let blocked: Failure | undefined;
  for await (const chunk of provider.stream(prompt, turn.signal)) {
    switch (chunk.kind) {
      case "delta": {
        const { block, of, text } = chunk;
        const before = open.get(block)?.text ?? "";
        open.set(block, { of, text: before + text });
        if (isHeard && of === "text") break;
        const kind = of === "text" ? DeltaKind.TEXT : DeltaKind.THINKING;
        turn.tell({ turnId, step, block, kind, text, offset: before.length });
        break;
      }
      case "block":
        endBlock(chunk.block, chunk.content);
        break;
      case "end":
        blocked = await endReply(chunk.stop, chunk.usage);
        return blocked === undefined ? { kind: "whole", calls } : { kind: "broken", failure: blocked };
      case "failed": {
        // What people have read stays said; half a thought or half a call is worth nothing.
        for (const [block, { of, text }] of open) if (of === "text") endBlock(block, { kind: "text", text });
        await endReply(chunk.failure.code === "cancelled" ? "cancelled" : "failed", NO_USAGE);
        return { kind: "broken", failure: chunk.failure };
      }
      default:
        return unreachable(chunk);
    }
  }
  throw new Error(`provider ${provider.name} ended its stream without an end`);
}

/** A result finds its call by the id. Some servers give none, or the same to several calls of one reply. */
function freshCallId(taken: Set<string>, given: string): string {
  // The ids of calls that hooks and plugins make are not a model's to give.
  const name = given === "" || isStrangersCallId(given) ? "call" : given;
  let id = name;
  for (let number = 2; taken.has(id); number += 1) id = `${name}_${number}`;
  taken.add(id);
  return id;
}

function storedBlock(block: ReplyBlock): MessageInitShape<typeof ContentBlockSchema> {
  switch (block.kind) {
    case "text":
      return { kind: { case: "text", value: { text: block.text } } };
    case "thinking": {
      const { text, signature, redacted } = block;
      return { kind: { case: "thinking", value: { text, signature, redacted } } };
    }
    case "toolCall": {
      const { callId, tool, args } = block;
      return { kind: { case: "toolCall", value: { callId, tool, args } } };
    }
    default:
      return unreachable(block);
  }
}
