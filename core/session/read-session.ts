import type { Artifact } from "../domain/artifact.ts";
import type { Event, EventBody } from "../domain/event.ts";
import { evolve } from "../domain/evolve.ts";
import { type Failed, type Failure, fail, ok, type Result } from "../domain/failure.ts";
import { type Head, type Journal, JournalError, RESERVED_JOURNALS } from "../domain/journal.ts";
import { emptySession, type Session } from "../domain/session.ts";

/** A session in a list. */
export type Summary = {
  readonly sessionId: string;
  readonly title: string;
  readonly workspace: string;
  readonly openedAtMs: number;
  readonly changedAtMs: number;
  readonly events: number;
  readonly busy: boolean;
  readonly failure?: Failure;
};

/** Enough events from the start to know a session's folder and title. */
const SUMMARY_EVENTS = 8;

export async function foldSession(journal: Journal, id: string): Promise<Result<Session>> {
  if (RESERVED_JOURNALS.has(id)) return noSession(id);
  let session = emptySession(id);
  const read = await readEvents(journal, id, (event) => {
    session = evolve(session, event);
    return true;
  });
  if (!read.ok) return read;
  return session.workspace === "" ? noSession(id) : ok(session);
}

/** At most `limit` sessions, the latest changed first. */
export async function listSessions(
  journal: Journal,
  limit: number,
  isBusy: (id: string) => boolean,
): Promise<readonly Summary[]> {
  const rows: Summary[] = [];
  for await (const head of journal.heads()) {
    if (rows.length >= limit) break;
    if (RESERVED_JOURNALS.has(head.sessionId)) continue;
    const row = await summarize(journal, head, isBusy(head.sessionId));
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** A list's row; undefined for a journal that is not a conversation. */
async function summarize(journal: Journal, head: Head, busy: boolean): Promise<Summary | undefined> {
  const { sessionId, changedAtMs, seq: events } = head;
  let session = emptySession(sessionId);
  let openedAtMs: number | undefined;
  const read = await readEvents(journal, sessionId, (event) => {
    if (event.body.case === "sessionOpened") openedAtMs = event.atMs;
    session = evolve(session, event);
    return session.title === "" && event.seq < SUMMARY_EVENTS;
  });
  if (read.ok && openedAtMs === undefined) return undefined;
  const { title, workspace } = session;
  const row = { sessionId, title, workspace, openedAtMs: openedAtMs ?? 0, changedAtMs, events, busy };
  return read.ok ? row : { ...row, failure: read.failure };
}

/** A journal that ends with one of these has no open turn. */
const CLOSED: ReadonlySet<NonNullable<EventBody["case"]>> = new Set(["sessionOpened", "turnEnded"]);

/** Whether a stop may have left something open in a session, as far as its last event tells. */
export function mayBeOpen({ sessionId, lastBody, lastTurnId }: Head): boolean {
  if (lastBody === undefined || CLOSED.has(lastBody) || RESERVED_JOURNALS.has(sessionId)) return false;
  return lastBody !== "hookRan" || lastTurnId !== "";
}

/** The events of a session's fork: those of the original up to `atSeq` (0 for all), opened under the new id. */
export async function forkBodies(
  journal: Journal,
  id: string,
  forkId: string,
  atSeq: number,
): Promise<Result<readonly EventBody[]>> {
  if (RESERVED_JOURNALS.has(id)) return noSession(id);
  const bodies: EventBody[] = [];
  let taken = 0;
  const read = await readEvents(journal, id, (event) => {
    if (atSeq !== 0 && event.seq > atSeq) return false;
    taken = event.seq;
    if (event.body.case !== undefined) bodies.push(event.body);
    return true;
  });
  if (!read.ok) return read;
  const opened = bodies.shift();
  if (opened?.case !== "sessionOpened") return noSession(id);
  if (taken < atSeq)
    return fail("invalid", `session ${id} has ${taken} events, so it cannot be forked at ${atSeq}`, {
      hint: "0 takes all of them",
    });
  const { workspace = "", title = "", model = "" } = opened.value;
  const value = { sessionId: forkId, workspace, title, model, forkedFrom: id, forkedAtSeq: taken };
  return ok([{ case: "sessionOpened", value }, ...bodies]);
}

/** An artifact that a call of the session named. */
export async function findArtifact(journal: Journal, id: string, artifactId: string): Promise<Result<Artifact>> {
  if (RESERVED_JOURNALS.has(id)) return noSession(id);
  let found: Artifact | undefined;
  const read = await readEvents(journal, id, ({ body }) => {
    if (body.case === "toolCallEnded") found = body.value.artifacts.find((one) => one.artifactId === artifactId);
    return found === undefined;
  });
  if (!read.ok) return read;
  return found === undefined
    ? fail("not_found", `no call of session ${id} named an artifact "${artifactId}"`)
    : ok(found);
}

/** Hands over stored events in order until `take` says that it has enough. */
async function readEvents(journal: Journal, id: string, take: (event: Event) => boolean): Promise<Result<void>> {
  const stop = new AbortController();
  try {
    for await (const event of journal.read(id, { after: 0, follow: false }, stop.signal)) {
      if (!take(event)) break;
    }
    return ok(undefined);
  } catch (error) {
    if (error instanceof JournalError) return { ok: false, failure: error.failure };
    throw error;
  } finally {
    stop.abort();
  }
}

function noSession(id: string): Failed {
  return fail("not_found", `there is no session "${id}"`, { hint: "list them: claw sessions list" });
}
