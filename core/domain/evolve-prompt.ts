import type { ContextBuilt, HookRan, MemoryRecalled, ToolsChosen } from "../../proto/gen/clawd/v1/event_pb.ts";
import { withWords } from "./evolve-reply.ts";
import { contextBlock, recalledBlock } from "./prompt.ts";
import type { Session, Turn } from "./session.ts";

export function hearHook({ turn }: Session, { point, turnId }: HookRan): Partial<Session> {
  if (turn === undefined || point !== "context.build" || turnId !== turn.id) return {};
  return { turn: { ...turn, contextHeard: true } };
}

/** What holds for the whole turn joins its words for good: what a model has read before must not change under it. */
export function buildContext({ turn, messages }: Session, built: ContextBuilt): Partial<Session> {
  const { turnId, step, context, system } = built;
  if (turn === undefined || turnId !== turn.id) return {};
  if (step > 0) return { turn: { ...turn, built: { step, context, system } } };
  if (messages.at(-1)?.role !== "user" || turn.contextHeard) return {};
  return {
    turn: { ...turn, context, contextHeard: true },
    messages: context === "" ? messages : withWords(messages, [contextBlock(context)]),
  };
}

/** Before the first reply only, for the same reason. */
export function recallMemory({ turn, messages }: Session, { turnId, text }: MemoryRecalled): Partial<Session> {
  if (turn === undefined || turnId !== turn.id || turn.recalled || turn.steps > 0) return {};
  if (messages.at(-1)?.role !== "user" || text === "") return {};
  return { turn: { ...turn, recalled: true }, messages: withWords(messages, [recalledBlock(text)]) };
}

export function chooseTools({ turn }: Session, { turnId, step, leftOut }: ToolsChosen): Partial<Session> {
  if (turn === undefined || turnId !== turn.id) return {};
  return { turn: { ...turn, hidden: { step, tools: leftOut.map(({ tool }) => tool) } } };
}

/** A tool that was called stays with the model until the turn ends, though it had not been shown. */
export function showCalled(turn: Turn | undefined, tool: string): Turn | undefined {
  if (turn?.hidden?.tools.includes(tool) !== true) return turn;
  return { ...turn, hidden: { ...turn.hidden, tools: turn.hidden.tools.filter((name) => name !== tool) } };
}
