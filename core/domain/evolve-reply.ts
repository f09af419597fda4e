import type { ContentBlock, Usage } from "../../proto/gen/clawd/v1/content_pb.ts";
import type { Message, ReplyBlock, ResultBlock, TokenUsage, WordsBlock } from "./provider.ts";
import type { Session } from "./session.ts";

export function addBlock(session: Session, content: ContentBlock | undefined): Partial<Session> {
  const block = replyBlock(content);
  if (block === undefined) return {};
  const reply = [...session.reply, block];
  if (block.kind !== "toolCall") return { reply };
  const { callId, tool, args } = block;
  return { reply, calls: new Map(session.calls).set(callId, { callId, tool, args, status: "asked" }) };
}

/** A stored block as the prompt shows it; undefined for a kind that this build does not know. */
function replyBlock(content: ContentBlock | undefined): ReplyBlock | undefined {
  switch (content?.kind.case) {
    case "text":
      return { kind: "text", text: content.kind.value.text };
    case "thinking": {
      const { text, signature, redacted } = content.kind.value;
      return { kind: "thinking", text, signature, redacted };
    }
    case "toolCall": {
      const { callId, tool, args = {} } = content.kind.value;
      return { kind: "toolCall", callId, tool, args };
    }
    default:
      return undefined;
  }
}

export function endReply(session: Session, usage: Usage | undefined): Partial<Session> {
  const messages: readonly Message[] =
    session.reply.length === 0
      ? session.messages
      : [...session.messages, { role: "assistant", content: session.reply }];
  const said = session.reply.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("");
  const turn = session.turn === undefined ? undefined : { ...session.turn, steps: session.turn.steps + 1, said };
  const replied = { ...session, messages, turn, reply: [], steered: false, usage: addUsage(session.usage, usage) };
  return { ...replied, ...settleResults(replied) };
}

function addUsage(sum: TokenUsage, usage: Usage | undefined): TokenUsage {
  if (usage === undefined) return sum;
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cacheReadTokens: sum.cacheReadTokens + usage.cacheReadTokens,
    cacheWriteTokens: sum.cacheWriteTokens + usage.cacheWriteTokens,
  };
}

/** Once the reply is whole and each of its calls has ended, the results and what was said meanwhile become a message. */
export function settleResults(session: Session): Partial<Session> {
  if (session.reply.length > 0) return {};
  const results: ResultBlock[] = [];
  for (const call of session.calls.values()) {
    if (call.status !== "ended") return {};
    results.push(call.result);
  }
  return {
    messages: withWords(
      withResults(session.messages, results),
      session.steering.map((text) => ({ kind: "text", text })),
    ),
    calls: new Map(),
    steering: [],
    steered: session.steered || session.steering.length > 0,
  };
}

function withResults(messages: readonly Message[], results: readonly ResultBlock[]): readonly Message[] {
  return results.length === 0 ? messages : [...messages, { role: "user", content: results }];
}

export function withWords(messages: readonly Message[], blocks: readonly WordsBlock[]): readonly Message[] {
  if (blocks.length === 0) return messages;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: blocks }];
  return [...messages.slice(0, -1), { role: "user", content: [...last.content, ...blocks] }];
}
