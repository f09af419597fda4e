import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Event } from "../domain/event.ts";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import { type Journal, JournalError } from "../domain/journal.ts";
import { readChain, START } from "./chain-reader.ts";
import { type Disk, systemDisk } from "./disk.ts";
import { follow, readStored } from "./event-reader.ts";
import { handleLimit } from "./handle-limit.ts";
import { corrupt, diskFault } from "./journal-fault.ts";
import { type JournalFile, journalFile } from "./journal-file.ts";
import { isSessionId, journalHeads, journalPath } from "./journal-heads.ts";

/** Files kept open for writing while nothing is written to them. */
const OPEN_FILES_LIMIT = 256;
/** Journals whose end is remembered, so that they need not be read again before the next append. */
const KNOWN_JOURNALS_LIMIT = 16_384;

const OWNER_ONLY = 0o700;

export type JournalOptions = {
  /** Folder of the journals; made when missing. One process at a time: hold the home lock. */
  readonly dir: string;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  readonly disk?: Disk;
};

/** `close` writes what is under way, ends every follower and refuses everything afterwards with `unavailable`. */
export type JsonlJournal = Journal & { close(): Promise<void> };

/**
 * The journals of a folder: one file `<sessionId>.jsonl` each, a line of ProtoJSON an event, each line with the hash
 * over itself and the line before. Appends to one file that wait at the same time share one write and one sync; files
 * sync side by side. A file is read and its torn end cut when it is first asked for, not here, so opening is cheap.
 */
export async function openJournal(options: JournalOptions): Promise<Result<JsonlJournal>> {
  const { dir, now, disk = systemDisk } = options;
  try {
    await makeFolder(dir, disk);
  } catch (cause) {
    return { ok: false, failure: diskFault("open", dir, cause) };
  }
  return ok(jsonlJournal(dir, now, disk));
}

/** A folder that is not durable takes its journals along when the power fails; so each new one is synced in its parent. */
async function makeFolder(dir: string, disk: Disk): Promise<void> {
  const topmost = await mkdir(dir, { recursive: true, mode: OWNER_ONLY });
  if (topmost === undefined) return;
  let parent = dirname(resolve(dir));
  await disk.syncFolder(parent);
  while (parent.startsWith(resolve(topmost))) {
    parent = dirname(parent);
    await disk.syncFolder(parent);
  }
}

function jsonlJournal(dir: string, now: () => number, disk: Disk): JsonlJournal {
  const handles = handleLimit(OPEN_FILES_LIMIT);
  /** In the order of their last use. */
  const files = new Map<string, JournalFile>();
  let isClosed = false;

  function fileOf(sessionId: string): Result<JournalFile> {
    if (!isSessionId(sessionId)) return notAnId(sessionId);
    if (isClosed) return fail("unavailable", `the journals in ${dir} are closed`, { hint: "restart the daemon" });
    const file = files.get(sessionId) ?? journalFile(sessionId, journalPath(dir, sessionId), disk, now, handles);
    files.delete(sessionId);
    files.set(sessionId, file);
    if (files.size > KNOWN_JOURNALS_LIMIT) forgetOldest(file);
    return ok(file);
  }

  function forgetOldest(newest: JournalFile): void {
    for (const [sessionId, file] of files) {
      if (file === newest || !file.isIdle()) continue;
      file.rest();
      files.delete(sessionId);
      return;
    }
  }

  async function* read(
    sessionId: string,
    from: { after: number; follow: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<Event, void> {
    const file = fileOf(sessionId);
    if (!file.ok) throw new JournalError(file.failure);
    yield* from.follow ? follow(file.value, from.after, signal) : readStored(file.value, from.after, signal);
  }

  return {
    read,
    async create(sessionId) {
      const file = fileOf(sessionId);
      return file.ok ? file.value.create() : file;
    },
    async append(sessionId, expectedSeq, bodies) {
      const file = fileOf(sessionId);
      return file.ok ? file.value.append(expectedSeq, bodies) : file;
    },
    async remove(sessionId) {
      const file = fileOf(sessionId);
      return file.ok ? file.value.remove() : file;
    },
    async verify(sessionId) {
      const file = fileOf(sessionId);
      return file.ok ? verify(file.value) : file;
    },
    heads: () =>
      journalHeads(
        dir,
        (sessionId, inode, sizeBytes) => files.get(sessionId)?.shownBytes(inode, sizeBytes) ?? sizeBytes,
      ),
    async close() {
      isClosed = true;
      await Promise.all([...files.values()].map((file) => file.close()));
      files.clear();
    },
  };
}

/** Reads the file from its first byte to its last durable one, whatever is remembered of it. */
async function verify(file: JournalFile): Promise<Result<{ readonly events: number; readonly headHash: string }>> {
  const extent = await file.extent();
  if (!extent.ok) return extent;
  if (extent.value.flaw !== undefined) return { ok: false, failure: corrupt(file.path, extent.value.flaw) };
  let end = START;
  try {
    for await (const part of readChain(file.path, START, extent.value.end.offset)) {
      if (part.kind === "flaw") return { ok: false, failure: corrupt(file.path, part.flaw) };
      end = part.after;
    }
  } catch (cause) {
    return { ok: false, failure: diskFault("read", file.path, cause) };
  }
  return ok({ events: end.seq, headHash: end.hash });
}

function notAnId(sessionId: string): Failed {
  return fail("invalid", `${JSON.stringify(sessionId.slice(0, 80))} is not a session id`, {
    hint: "an id has 1 to 64 small letters, digits and hyphens, and does not begin with a hyphen",
  });
}
