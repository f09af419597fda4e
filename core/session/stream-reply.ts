import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentBlockSchema } from "../../proto/gen/clawd/v1/content_pb.ts";
import { StopReason } from "../../proto/gen/clawd/v1/event_pb.ts";
import { DeltaKind } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { EventBody } from "../domain/event.ts";
import { type Failure, unreachable } from "../domain/failure.ts";
import {
  NO_USAGE,
  type Prompt,
  type Provider,
  type ReplyBlock,
  type Stop,
  type TokenUsage,
} from "../domain/provider.ts";
import type { TurnContext } from "./turn-context.ts";

/** What a model call came to. Its events are with the writer, held until the next write or a quarter second. */
export type Reply =
  | { readonly kind: "whole"; readonly calls: readonly Extract<ReplyBlock, { kind: "toolCall" }>[] }
  | { readonly kind: "broken"; readonly failure: Failure };

const STOPS: Readonly<Record<Stop, StopReason>> = {
  done: StopReason.DONE,
  calls: StopReason.CALLS,
  length: StopReason.LENGTH,
  refused: StopReason.REFUSED,
};

/** Streams one reply: deltas to whoever listens, whole blocks to the journal. */
export async function streamReply(turn: TurnContext, provider: Provider, prompt: Prompt, step: number): Promise<Reply> {
  const { turnId, writer } = turn;
  const calls: Extract<ReplyBlock, { kind: "toolCall" }>[] = [];
  const callIds = new Set<string>();
  /** What was told of blocks that are not closed, by block. */
  const open = new Map<number, { readonly of: "text" | "thinking"; readonly text: string }>();

  function endBlock(block: number, ended: ReplyBlock): void {
    open.delete(block);
    const content = ended.kind === "toolCall" ? { ...ended, callId: freshCallId(callIds, ended.callId) } : ended;
    if (content.kind === "toolCall") calls.push(content);
    writer.hold([{ case: "blockEnded", value: { turnId, step, block, content: storedBlock(content) } }]);
  }

  function endReply(stop: StopReason, usage: TokenUsage): void {
    const body: EventBody = { case: "replyEnded", value: { turnId, step, stop, usage } };
    writer.hold([body]);
  }

  for await (const chunk of provider.stream(prompt, turn.signal)) {
    switch (chunk.kind) {
      case "delta": {
        const { block, of, text } = chunk;
        const before = open.get(block)?.text ?? "";
        open.set(block, { of, text: before + text });
        const kind = of === "text" ? DeltaKind.TEXT : DeltaKind.THINKING;
        turn.tell({ turnId, step, block, kind, text, offset: before.length });
        break;
      }
      case "block":
        endBlock(chunk.block, chunk.content);
        break;
      case "end":
        endReply(STOPS[chunk.stop], chunk.usage);
        return { kind: "whole", calls };
      case "failed": {
        // What people have read stays said; half a thought or half a call is worth nothing.
        for (const [block, { of, text }] of open) if (of === "text") endBlock(block, { kind: "text", text });
        endReply(chunk.failure.code === "cancelled" ? StopReason.CANCELLED : StopReason.FAILED, NO_USAGE);
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
  let id = given === "" ? "call" : given;
  for (let number = 2; taken.has(id); number += 1) id = `${given === "" ? "call" : given}_${number}`;
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
