import { ok, type Result } from "../../domain/failure.ts";
import type { TurnContext } from "./turn-context.ts";

/**
 * Takes what the profile says now into the session, as an event, before the first model call of a turn; nothing when it
 * says what it did. A profile that cannot be read is a failure of the turn.
 */
export async function showProfile(turn: TurnContext): Promise<Result<void>> {
  const { profile, writer, turnId, signal } = turn;
  const session = writer.ahead();
  if (session.turn === undefined || session.turn.steps > 0 || signal.aborted) return ok(undefined);
  const read = profile === undefined ? ok("") : await profile.text();
  if (!read.ok) return read;
  if (read.value !== session.profile) {
    await writer.post([{ case: "profileShown", value: { turnId, text: read.value } }]);
  }
  return ok(undefined);
}
