import type { EventBody } from "../../domain/event.ts";
import { fail, type Result } from "../../domain/failure.ts";
import { lastWords } from "../../domain/prompt.ts";
import type { Session } from "../../domain/session.ts";
import type { Tool } from "../../domain/tool.ts";
import { leaveOut, type ToolFilter } from "../../domain/tool-filter.ts";
import { unlessAborted } from "../../domain/unless-aborted.ts";
import type { TurnContext } from "./turn-context.ts";

/** How long a turn waits for vectors of its words, milliseconds. */
const LIKENESS_LIMIT_MS = 500;

/**
 * Which tools the model is not shown in this turn, as an event: decided with the words of the turn, and again when a person
 * says more meanwhile. What was shown once stays until the turn ends, so the beginning of its prompts stays the same.
 */
export async function chooseTools(
  turn: TurnContext,
  tools: readonly Tool[],
  step: number,
): Promise<readonly EventBody[]> {
  const { toolFilter, writer, turnId, signal } = turn;
  const session = writer.ahead();
  if (toolFilter === undefined || signal.aborted || !isToDecide(session, step)) return [];
  const words = lastWords(session);
  if (words.trim() === "") return [];
  const near = await compare(turn, toolFilter, words, tools);
  if (signal.aborted) return [];
  const before = session.turn?.hidden?.tools;
  if (!near.ok) return [{ case: "toolsChosen", value: { turnId, step, problem: near.failure.message } }];
  const leftOut = leaveOut(tools, words, near.value, toolFilter.rules).filter(
    ({ tool }) => before === undefined || before.includes(tool),
  );
  if (leftOut.length === (before?.length ?? 0)) return [];
  return [{ case: "toolsChosen", value: { turnId, step, leftOut: [...leftOut] } }];
}

function isToDecide({ turn, steered }: Session, step: number): boolean {
  if (turn === undefined) return false;
  const { hidden } = turn;
  // Of a turn that began without a choice, the model has seen every tool.
  if (hidden === undefined) return turn.steps === 0;
  return steered && hidden.tools.length > 0 && hidden.step < step;
}

async function compare(
  turn: TurnContext,
  { likeness }: ToolFilter,
  words: string,
  tools: readonly Tool[],
): Promise<Result<ReadonlyMap<string, number>>> {
  const limit = AbortSignal.any([turn.signal, AbortSignal.timeout(LIKENESS_LIMIT_MS)]);
  const asked = likeness(words, tools, limit).catch((cause: unknown) => {
    turn.complain(cause);
    return fail("unavailable", "the comparison of words and tools broke");
  });
  return unlessAborted(asked, limit, () =>
    fail("timed_out", `there was no vector of the words within ${LIKENESS_LIMIT_MS} ms`),
  );
}
