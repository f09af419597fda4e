import { lastWords } from "../../domain/prompt.ts";
import { unlessAborted } from "../../domain/unless-aborted.ts";
import type { TurnContext } from "./turn-context.ts";

/** How long a turn waits for memory, milliseconds. */
const RECALL_LIMIT_MS = 500;

/**
 * Puts what memory holds about the words of a turn beside them, as an event, before its first model call. Whatever
 * memory does, the turn goes on.
 */
export async function recallMemory(turn: TurnContext): Promise<void> {
  const { recall, writer, turnId, signal } = turn;
  const session = writer.ahead();
  const state = session.turn;
  if (recall === undefined || state === undefined || signal.aborted) return;
  // Of a turn that was prepared before, the model may have read the words already: they must not change under it.
  if (state.recalled || state.contextHeard || state.steps > 0) return;
  const words = lastWords(session);
  if (words.trim() === "") return;
  const { workspace, id: sessionId } = session;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(RECALL_LIMIT_MS)]);
  const asked = recall(words, { workspace, sessionId }, limit).catch((cause: unknown) => {
    turn.complain(cause);
    return undefined;
  });
  const recalled = await unlessAborted(asked, limit, () => undefined);
  if (recalled === undefined) return;
  const value = { turnId, text: recalled.text, memoryIds: [...recalled.memoryIds] };
  await writer.post([{ case: "memoryRecalled", value }]);
}
