import { SessionService, type SessionSummary } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { Connection } from "../connection.ts";
import { fail, ok, type Result } from "../trouble.ts";

/** A session's id as written; "last" stands for the newest. */
export async function resolveSession(daemon: Connection, written: string): Promise<Result<string>> {
  if (written !== "last") return ok(written);
  const newest = await newestSession(daemon);
  return newest.ok ? ok(newest.value.sessionId) : newest;
}

export async function newestSession(daemon: Connection): Promise<Result<SessionSummary>> {
  const listed = await daemon.call(SessionService.method.listSessions, { limit: 1 });
  if (!listed.ok) return listed;
  const [newest] = listed.value.sessions;
  return newest === undefined ? fail("refused", "there is no session yet", 'claw say "hello" begins one') : ok(newest);
}
