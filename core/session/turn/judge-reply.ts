import type { EventBody } from "../../domain/event.ts";
import type { Failure } from "../../domain/failure.ts";
import type { ReplyBlock, Stop } from "../../domain/provider.ts";
import { fireHooks } from "./fire-hooks.ts";
import { stoppedBy } from "./receipts.ts";
import type { TurnContext } from "./turn-context.ts";

/** A whole block with its number in the reply. */
export type NumberedBlock = { readonly block: number; readonly content: ReplyBlock };

export type HeldReply = {
  readonly model: string;
  readonly step: number;
  readonly blocks: readonly NumberedBlock[];
  readonly stop: Stop | "cancelled" | "failed";
};

/** The blocks to keep, the receipts to keep with them, and why the turn ends here, if it does. */
export type JudgedReply = {
  readonly blocks: readonly NumberedBlock[];
  readonly receipts: readonly EventBody[];
  readonly failure: Failure | undefined;
};

/** Lets the hooks of `model.after` see a reply before any of it is kept; also one that was cut off. */
export async function judgeReply(turn: TurnContext, { blocks, ...reply }: HeldReply): Promise<JudgedReply> {
  const text = blocks.map(({ content }) => (content.kind === "text" ? content.text : "")).join("");
  const calls = blocks.flatMap(({ content }) =>
    content.kind === "toolCall" ? [{ tool: content.tool, args: content.args }] : [],
  );
  const value = { ...reply, text, calls };
  const fired = await fireHooks(turn, { at: "model.after", value, signal: turn.lastSignal });
  const edited = fired.answer.do === "modify" ? fired.answer.value.text : text;
  return {
    blocks: typeof edited === "string" && edited !== text ? withText(blocks, edited) : blocks,
    receipts: fired.bodies,
    failure: stoppedBy(fired, "model.after"),
  };
}

/** All words of a reply become one text: in the place of the first, or before everything but the thinking. */
function withText(blocks: readonly NumberedBlock[], text: string): readonly NumberedBlock[] {
  const others = blocks.filter(({ content }) => content.kind !== "text");
  if (text === "") return others;
  const first = blocks.find(({ content }) => content.kind === "text");
  const number = first?.block ?? Math.max(-1, ...blocks.map(({ block }) => block)) + 1;
  const place =
    first === undefined ? others.findIndex(({ content }) => content.kind === "toolCall") : blocks.indexOf(first);
  return others.toSpliced(place < 0 ? others.length : place, 0, { block: number, content: { kind: "text", text } });
}
