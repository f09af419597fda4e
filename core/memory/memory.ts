import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import type { IndexProgress, Memory, MemoryHit, MemoryStats } from "../domain/memory.ts";
import { addToFolderList, readFolderList, removeFromFolderList } from "./source/folder-list.ts";
import { resolveFolder, runIndex } from "./index-run.ts";
import { openNotes } from "./note/notes.ts";
import { storeBytes } from "./store/open-store.ts";
import { followJob } from "./progress-feed.ts";
import type { RankedDocument } from "./lexical/ranking.ts";
import { memoryPool } from "./worker/memory-pool.ts";
import type { StoredText } from "./store/store.ts";
import { holdStore, type OpenStore } from "./store/store-holder.ts";

const HIT_LIMIT = 100;
const QUERY_LIMIT_CHARS = 8_192;
/** A publication between ranking and reading takes texts away; two in a row are already unlikely. */
const SEARCH_LIMIT_ATTEMPTS = 3;
/** Two, so that a search does not wait for an index run. */
const THREAD_LIMIT = 2;

export type MemoryOptions = {
  /** Its folder; made when needed. */
  readonly dir: string;
  /** The daemon's data folder: keys and the token lie there, so that nothing of it is ever indexed. */
  readonly dataDir: string;
  /** The bundled memory-worker. */
  readonly workerFile: string;
  readonly journal: Journal;
  /** Makes ids of notes. */
  readonly newId: () => string;
};

/**
 * Long-term memory over `<dir>/memory.duckdb`. Costs nothing until it is used: notes need only the journal, and DuckDB is
 * loaded when a folder was indexed. The file may be deleted at any time while nobody has it open: it is rebuilt from the
 * folders in `<dir>/folders.json` at the next use, and searches wait for that.
 */
export function openMemory(options: MemoryOptions): Memory {
  const file = join(options.dir, "memory.duckdb");
  const folderList = join(options.dir, "folders.json");
  const pool = memoryPool(options.workerFile, THREAD_LIMIT);
  const notes = openNotes(options.journal, pool, options.newId);
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let indexQueue: Promise<unknown> = Promise.resolve();
  let publishing: Promise<void> = Promise.resolve();

  const holder = holdStore(file, async (open) => {
    for (const folder of await readFolderList(folderList)) {
      const indexed = await indexInto(open, folder, () => {}, closing.signal);
      // A folder that cannot be read now must not take the others down with it.
      if (!indexed.ok && indexed.failure.code === "cancelled") return indexed;
    }
    return open.store.markFilled();
  });

  async function indexInto(
    open: OpenStore,
    path: string,
    report: (progress: IndexProgress) => void,
    signal: AbortSignal,
  ): Promise<Result<IndexProgress>> {
    const folder = await resolveFolder(path);
    if (!folder.ok) return folder;
    const listed = await readFolderList(folderList);
    if (!folder.value.exists && !listed.includes(folder.value.path)) {
      return fail("not_found", `there is no folder ${path}`, { hint: "give the path of an existing folder" });
    }
    const published = Promise.withResolvers<void>();
    try {
      const indexed = await runIndex(
        {
          store: open.store,
          pool,
          report,
          signal: AbortSignal.any([signal, open.retired, closing.signal]),
          segments: open.segments,
          hidden: await realpath(options.dataDir),
          announce() {
            publishing = published.promise;
            const { path: real, exists } = folder.value;
            return exists ? addToFolderList(folderList, real) : removeFromFolderList(folderList, real);
          },
        },
        folder.value.path,
        folder.value.exists,
      );
      if (!indexed.ok) return indexed;
      open.segments = indexed.value.segments;
      return ok(indexed.value.progress);
    } finally {
      published.resolve();
    }
  }

  /** One run at a time; the others wait for their turn, or for their signal. */
  function index(folder: string, signal: AbortSignal): AsyncIterable<Result<IndexProgress>> {
    return followJob<Result<IndexProgress>>((report, stop) => {
      const turn = indexQueue.then(() =>
        stop.aborted
          ? stopped("indexing")
          : holder.use((open) => indexInto(open, folder, (progress) => report(ok(progress)), stop)),
      );
      indexQueue = turn.catch(() => undefined);
      return unlessAborted(track(turn), stop, "indexing");
    }, signal);
  }

  /** Searches notes, and the files of a store when there is one. */
  async function rank(
    noteSegments: readonly SharedArrayBuffer[],
    open: OpenStore | undefined,
    query: string,
    limit: number,
  ): Promise<Result<readonly MemoryHit[]>> {
    for (let attempt = 1; ; attempt += 1) {
      const segments = [...noteSegments, ...(open?.segments ?? []).map(({ buffer }) => buffer)];
      if (segments.length === 0) return ok([]);
      const ranked = await pool.search({ segments, query, limit });
      if (!ranked.ok) return ranked;
      const isNote = (hit: RankedDocument) => hit.segment < noteSegments.length;
      const chunkIds = ranked.value.filter((hit) => !isNote(hit)).map((hit) => hit.id);
      const texts = open === undefined ? ok(new Map<number, StoredText>()) : await open.store.texts(chunkIds);
      if (!texts.ok) return texts;
      if (texts.value.size < chunkIds.length && attempt < SEARCH_LIMIT_ATTEMPTS) {
        await publishing;
        continue;
      }
      return ok(ranked.value.flatMap((hit) => (isNote(hit) ? noteHit(hit) : chunkHit(hit, texts.value))));
    }
  }

  function noteHit({ id, score }: RankedDocument): MemoryHit[] {
    const note = notes.at(id);
    return note === undefined ? [] : [{ id: note.id, path: "", line: 0, text: note.text, score, author: note.author }];
  }

  function search(query: string, limit: number, signal: AbortSignal, among: "all" | "notes" = "all") {
    if (query.length > QUERY_LIMIT_CHARS) {
      const failure = fail(
        "invalid",
        `a query holds at most ${QUERY_LIMIT_CHARS} characters; this one has ${query.length}`,
        {
          hint: "use the words that matter",
        },
      );
      return Promise.resolve(failure);
    }
    const most = Math.min(Math.max(Math.trunc(limit), 1), HIT_LIMIT);
    return unlessAborted(track(searchLater(query, most, among)), signal, "the search");
  }

  async function searchLater(query: string, limit: number, among: "all" | "notes") {
    // Before the store is lent out: a broken journal of notes is no damage of the store, which would be made anew.
    const noted = await notes.segments();
    if (!noted.ok) return noted;
    if (among === "notes" || !(await hasStore())) return rank(noted.value, undefined, query, limit);
    return holder.use((open) => rank(noted.value, open, query, limit));
  }

  async function hasStore(): Promise<boolean> {
    return existsSync(file) || (await readFolderList(folderList)).length > 0;
  }

  async function stats(): Promise<Result<MemoryStats>> {
    const noted = await notes.count();
    if (!noted.ok) return noted;
    const empty = { files: 0, chunks: 0 };
    const counted = (await hasStore()) ? await holder.use(({ store }) => store.counts()) : ok(empty);
    if (!counted.ok) return counted;
    const folders = await readFolderList(folderList);
    return ok({ ...counted.value, notes: noted.value, storeBytes: await storeBytes(file), folders });
  }

  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    const done = () => underWay.delete(work);
    work.then(done, done);
    return work;
  }

  return {
    search,
    index,
    remember: (text, author, sessionId) => track(notes.remember(text, author, sessionId)),
    forget(id) {
      if (CHUNK_ID.test(id)) {
        const failure = fail("invalid", `${id} is a piece of a file, not a note`, {
          hint: "change or remove the file, then index its folder again",
        });
        return Promise.resolve(failure);
      }
      return track(notes.forget(id));
    },
    stats: () => track(stats()),
    async close() {
      closing.abort();
      await Promise.allSettled([...underWay, indexQueue]);
      await holder.close();
      await pool.close();
    },
  };
}

const CHUNK_ID = /^file:[0-9a-f]+$/;

function chunkHit({ id, score }: RankedDocument, texts: ReadonlyMap<number, StoredText>): MemoryHit[] {
  const found = texts.get(id);
  return found === undefined ? [] : [{ id: `file:${id.toString(16)}`, ...found, score, author: "file" }];
}

function stopped(what: string): Promise<Result<never>> {
  return Promise.resolve(fail("cancelled", `${what} was stopped`, { hint: "start it again" }));
}

/** Answers `cancelled` as soon as the signal aborts; the work itself ends on its own. */
async function unlessAborted<T>(work: Promise<Result<T>>, signal: AbortSignal, what: string): Promise<Result<T>> {
  if (signal.aborted) return stopped(what);
  const { promise, resolve } = Promise.withResolvers<Result<T>>();
  const abort = () => void stopped(what).then(resolve);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
