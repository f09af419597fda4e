import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { EventSchema } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "../domain/event.ts";
import { type Head, JournalError } from "../domain/journal.ts";
import { readChunk } from "./chain-reader.ts";
import { diskFault, errorCode, missingFolder } from "./journal-fault.ts";
import { LINE_LIMIT_BYTES, peekLine } from "./line-codec.ts";

const SESSION_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const FILE_ENDING = ".jsonl";
/** Files looked at in one go; bounds the load on the thread pool that the commits share. */
const STATS_AT_ONCE = 32;
/** The last line is seldom longer; when it is, twice as much is read, and so on. */
const TAIL_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** How much of a file with this inode and size may be shown, bytes. */
export type ShownBytes = (sessionId: string, inode: number, sizeBytes: number) => number;

type Found = {
  readonly sessionId: string;
  readonly path: string;
  readonly changedAtMs: number;
  readonly bytes: number;
};

/** A session's id is a file name, so it must not be able to be a path. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

export function journalPath(dir: string, sessionId: string): string {
  return join(dir, `${sessionId}${FILE_ENDING}`);
}

/** The journals in a folder, latest changed first. Reads the end of each when its turn comes; opens and cuts nothing. */
export async function* journalHeads(dir: string, shownBytes: ShownBytes): AsyncGenerator<Head, void> {
  for (const { sessionId, path, changedAtMs, bytes } of await findJournals(dir, shownBytes)) {
    try {
      yield { sessionId, changedAtMs, ...(await peekTail(path, bytes)) };
    } catch {
      // Deleted by hand or not ours to read: it is in no list. Reading that one session tells why.
    }
  }
}

async function findJournals(dir: string, shownBytes: ShownBytes): Promise<readonly Found[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((cause: unknown) => {
    throw new JournalError(errorCode(cause) === "ENOENT" ? missingFolder(dir) : diskFault("list", dir, cause));
  });
  const ids = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(FILE_ENDING))
    .map((entry) => entry.name.slice(0, -FILE_ENDING.length))
    .filter(isSessionId);
  const found: Found[] = [];
  for (let start = 0; start < ids.length; start += STATS_AT_ONCE) {
    const some = ids.slice(start, start + STATS_AT_ONCE).map(async (sessionId) => {
      const path = journalPath(dir, sessionId);
      const stats = await stat(path).catch(() => undefined);
      if (stats === undefined) return;
      const bytes = shownBytes(sessionId, stats.ino, stats.size);
      found.push({ sessionId, path, changedAtMs: stats.mtimeMs, bytes });
    });
    await Promise.all(some);
  }
  return found.sort((a, b) => b.changedAtMs - a.changedAtMs || (a.sessionId < b.sessionId ? -1 : 1));
}

type Tail = Pick<Head, "seq" | "lastBody" | "lastTurnId">;

/** The last whole line of the first `bytes` of a file that looks like one of ours. */
async function peekTail(path: string, bytes: number): Promise<Tail> {
  for (let length = TAIL_BYTES; ; length *= 2) {
    const start = Math.max(0, bytes - length);
    const chunk = await readChunk(path, start, bytes - start);
    for (let end = chunk.lastIndexOf(NEWLINE); end > 0; ) {
      const before = chunk.lastIndexOf(NEWLINE, end - 1);
      if (before === -1 && start > 0) break;
      const line = peekLine(chunk.subarray(before + 1, end));
      if (line !== undefined) return { seq: line.seq, lastBody: bodyCase(line.body), lastTurnId: line.turnId };
      end = before;
    }
    if (start === 0 || length > LINE_LIMIT_BYTES) return { seq: 0, lastBody: undefined, lastTurnId: "" };
  }
}

/** Undefined for an event that a newer build wrote. */
function bodyCase(name: string): EventBody["case"] | undefined {
  const field = EventSchema.fields.find(({ oneof, localName }) => oneof !== undefined && localName === name);
  return field?.localName as EventBody["case"] | undefined;
}
