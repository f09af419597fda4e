import { existsSync } from "node:fs";
import type { DocumentSources } from "../domain/document-source.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import { type Journal, RESERVED_JOURNALS } from "../domain/journal.ts";
import type { IndexProgress, Memory, MemoryAnswer, MemoryQuery, MemoryStats } from "../domain/memory.ts";
import type { EmbedderChoice } from "./embed/choose-embedder.ts";
import { countVectors, noteSegment, storedSegment } from "./embedded-segments.ts";
import { evaluateDataSet } from "./eval/evaluate.ts";
import { evaluationIndex } from "./evaluation-index.ts";
import { type IndexDesk, openIndexDesk } from "./index-desk.ts";
import { buildOver, type ReadPdf } from "./index-run.ts";
import { openKeepUp } from "./keep-up.ts";
import { openNotes } from "./note/notes.ts";
import { noteColumns } from "./note-columns.ts";
import { followJob } from "./progress-feed.ts";
import { numberBuffers, openSearch, type SearchRules } from "./search.ts";
import { type EmbeddedSegment, openSearchVectors } from "./search-vectors.ts";
import { conversationFeed } from "./source/conversations.ts";
import { pluginFeed } from "./source/plugin-sources.ts";
import type { CutTexts } from "./source/text-cutting.ts";
import { removeStore, storeBytes, storeFile } from "./store/open-store.ts";
import type { CheckVectorFiles, Store } from "./store/store.ts";
import { holdStore } from "./store/store-holder.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";

/** After so long without use DuckDB is closed and its memory given back. */
const STORE_IDLE_TIMEOUT_MS = 600_000;
/** So long a search waits for what was said a moment ago; then it answers from what there is. */
const CATCH_UP_WAIT_MS = 2_000;

export type MemorySettings = SearchRules & {
  /** Of the vector leg; undefined for the embedder's own. */
  readonly vectorWeight: number | undefined;
  /** Past conversations are indexed. */
  readonly conversations: boolean;
};

export type MemoryOptions = {
  /** Its folder; made when needed. */
  readonly dir: string;
  /** The daemon's data folder: keys and the token lie there, so that nothing of it is ever indexed. */
  readonly dataDir: string;
  /** Whoever opened it closes it, after the memory. */
  readonly pool: MemoryPool;
  readonly journal: Journal;
  readonly settings: MemorySettings;
  /** The embedder of this moment. */
  readonly embedder: () => EmbedderChoice;
  readonly readPdf: ReadPdf;
  /** What plugins offer. */
  readonly sources: DocumentSources;
  /** Makes ids of notes. */
  readonly newId: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly ticks: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Writes down a broken promise of our own code. */
  readonly complain: (cause: unknown) => void;
};

/** Memory, and what only its builder needs of it. */
export type OpenMemory = Memory & {
  readonly desk: IndexDesk;
  /** Looks at everything that is listed again, and watches the folders from then on. */
  keepUp(): void;
  /** Resolves when no vectors are to be made any more. */
  embedded(): Promise<void>;
  /** The store as Parquet files, for `claw sql`. */
  readonly views: {
    /** Another text means another content; undefined while there is no store. */
    revision(): Promise<Result<string | undefined>>;
    /** Into a folder that exists; gives their paths. */
    exportViews(folder: string): Promise<Result<readonly string[]>>;
  };
  /** Why there are fewer vectors than there could be; undefined when all is well. */
  vectorProblem(): string | undefined;
  /** Why changes of folders are seen later than they might be. */
  watchProblems(): readonly Failure[];
};

/**
 * Long-term memory over `<dir>/memory.duckdb` and the segments beside it. Costs nothing until it is used: notes need only
 * the journal, and DuckDB is loaded when something else was indexed. The folder may be deleted at any time while nobody has
 * it open: it is made anew from what `<dir>/sources.json` lists and from the journals at the next use, and searches wait for that.
 */
export function openMemory(options: MemoryOptions): OpenMemory {
  const { dir, pool, journal, settings } = options;
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const notes = openNotes({ journal, workers: pool, newId: options.newId, now: options.now });
  const numberOf = numberBuffers();
  const cut: CutTexts = (texts, signal) => pool.run("cutTexts", texts, "back", signal);
  let catchingUp: Promise<unknown> | undefined;
  const openings = new WeakMap<Store, number>();
  let openingCount = 0;
  let refilling: (progress: IndexProgress) => void = () => {};

  const holder = holdStore({
    dir,
    refill: (open) => desk.refill(open, (progress) => refilling(progress)),
    build: buildOver(pool),
    idleTimeoutMs: STORE_IDLE_TIMEOUT_MS,
  });

  const desk = openIndexDesk({
    ...{ dir, dataDir: options.dataDir, pool, readPdf: options.readPdf, sources: options.sources },
    sourceFeed: (source) => pluginFeed(source, cut),
    conversations: settings.conversations ? () => conversationFeed(journal, cut) : undefined,
    use: (work) => holder.use(work),
    changed: () => vectors.wake(),
    listChanged: () => keepUp.listChanged(),
    closing: closing.signal,
  });

  const vectors = openSearchVectors({
    ...{ pool, choose: options.embedder, weight: settings.vectorWeight },
    ...{ ticks: options.ticks, random: options.random, complain: options.complain },
    segments: embeddedSegments,
    cache: {
      vectorsOf: (id, hashes) => holder.use(({ store }) => store.vectorsOf(id, hashes)),
      putVectors: (id, rows) => holder.use(({ store }) => store.putVectors(id, rows)),
    },
  });

  const keepUp = openKeepUp(desk, pool, options.complain, closing.signal);

  const find = openSearch({
    ...{ pool, notes, vectors, rules: settings, now: options.now, numberOf },
    lend: async (work) => ((await hasStore()) ? holder.use(work) : work(undefined)),
    published: () => desk.published(),
  });

  async function hasStore(): Promise<boolean> {
    if (existsSync(storeFile(dir))) return true;
    const { folders, sources } = await desk.listed();
    return folders.length + sources.length > 0;
  }

  /** All that is searched, for its vectors. */
  async function embeddedSegments(): Promise<Result<readonly EmbeddedSegment[]>> {
    const noted = await notes.segments();
    if (!noted.ok) return noted;
    const ofNotes = noted.value.map((segment, index) => noteSegment(segment, index, notes));
    if (!(await hasStore())) return ok(ofNotes);
    const stored = await holder.use(async ({ store, segments }) => {
      return ok(segments.map((segment) => storedSegment(segment, store, holder)));
    });
    return stored.ok ? ok([...ofNotes, ...stored.value]) : stored;
  }

  async function search(query: MemoryQuery, signal: AbortSignal): Promise<Result<MemoryAnswer>> {
    if (closing.signal.aborted) return closed();
    if (mayAskConversations(query)) await caughtUp(signal);
    return find(query, signal);
  }

  /** What was said meanwhile is brought in first, as far as that takes no longer than somebody would wait. */
  async function caughtUp(signal: AbortSignal): Promise<void> {
    if (!settings.conversations || !((await hasConversations(journal)) || (await hasStore()))) return;
    catchingUp ??= track(desk.bring({ kind: "conversations" }, closing.signal)).finally(() => {
      catchingUp = undefined;
    });
    await within(CATCH_UP_WAIT_MS, catchingUp, signal);
  }

  async function stats(): Promise<Result<MemoryStats>> {
    const noted = await notes.count();
    if (!noted.ok) return noted;
    const { folders, sources } = await desk.listed();
    const counted = (await hasStore()) ? await holder.use(({ store }) => store.counts()) : ok(NO_COUNTS);
    if (!counted.ok) return counted;
    const segments = await embeddedSegments();
    if (!segments.ok) return segments;
    const { files, messages, pieces, skipped, removed, errors } = counted.value;
    return ok({
      ...{ files, chunks: pieces, notes: noted.value, storeBytes: await storeBytes(dir), folders, sources, messages },
      ...{ skipped, removed, errors, embedder: vectors.state().embedderId },
      ...countVectors(segments.value, vectors),
    });
  }

  async function verify(signal: AbortSignal): Promise<Result<readonly string[]>> {
    const found: string[] = [];
    const noted = await notes.segments();
    if (!noted.ok) found.push(noted.failure.message);
    if (!(await hasStore())) return ok(found);
    const areWhole: CheckVectorFiles = (files, stop) => pool.run("checkVectors", files, "back", stop);
    const stored = await holder.use(({ store }) => store.problems(areWhole, signal));
    return stored.ok ? ok([...found, ...stored.value]) : stored;
  }

  async function rebuild(report: (progress: IndexProgress) => void, signal: AbortSignal) {
    await desk.idle();
    if (signal.aborted) return stopped("the rebuilding");
    let last: IndexProgress | undefined;
    refilling = (progress) => {
      last = progress;
      report({ ...progress, done: false });
    };
    try {
      const removed = await holder.whileClosed(() => removeStore(dir));
      if (!removed.ok) return removed;
      const filled = await holder.use(({ store }) => store.counts());
      if (!filled.ok) return filled;
      vectors.wake();
      const { files, pieces, skipped } = filled.value;
      return ok({ files, filesTotal: files, chunks: pieces, skipped, removed: last?.removed ?? 0, done: true });
    } finally {
      refilling = () => {};
    }
  }

  /** A store that was closed and opened again counts from the beginning. */
  async function revision(): Promise<Result<string | undefined>> {
    if (!(await hasStore())) return ok(undefined);
    return holder.use(async ({ store }) => ok(`${numberOfOpening(store)}.${store.revision()}`));
  }

  function numberOfOpening(store: Store): number {
    const known = openings.get(store);
    if (known !== undefined) return known;
    openingCount += 1;
    openings.set(store, openingCount);
    return openingCount;
  }

  async function exportTo(folder: string): Promise<Result<readonly string[]>> {
    const all = await notes.everything();
    if (!all.ok) return all;
    return holder.use(({ store }) => store.exportTo(folder, noteColumns(all.value)));
  }

  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    const done = () => underWay.delete(work);
    work.then(done, done);
    return work;
  }

  function unlessClosed<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    return closing.signal.aborted ? Promise.resolve(closed()) : track(work());
  }

  return {
    search: (query, signal) =>
      unlessAborted(
        unlessClosed(() => search(query, signal)),
        signal,
        "the search",
      ),
    index: (target, signal) => desk.index(target, signal),
    remember: (draft) => unlessClosed(() => notes.remember(draft)),
    forget(ids, viewer) {
      const piece = ids.find((id) => PIECE_ID.test(id));
      if (piece === undefined) return unlessClosed(() => notes.forget(ids, viewer));
      const failure = fail("invalid", `${piece} is a piece of something that is indexed, not a note`, {
        hint: "change or remove the file, then index its folder again",
      });
      return Promise.resolve(failure);
    },
    notes: (viewer, how) => unlessClosed(() => notes.list(viewer, how)),
    stats: () => unlessClosed(stats),
    verify: (signal) =>
      unlessAborted(
        unlessClosed(() => verify(signal)),
        signal,
        "the check",
      ),
    rebuild: (signal) =>
      followJob<Result<IndexProgress>>(
        (report, stop) => unlessClosed(() => rebuild((progress) => report(ok(progress)), stop)),
        signal,
      ),
    exportTo: (folder) => unlessClosed(() => exportTo(folder)),
    evaluate(folder, signal) {
      const stop = AbortSignal.any([signal, closing.signal]);
      return evaluateDataSet(folder, evaluationIndex(pool, numberOf, stop), stop);
    },
    desk,
    keepUp: () => keepUp.start(),
    watchProblems: () => keepUp.problems(),
    embedded: () => vectors.settled(),
    views: {
      revision: () => unlessClosed(revision),
      exportViews: (folder) => unlessClosed(() => holder.use(({ store }) => store.exportViews(folder))),
    },
    vectorProblem: () => vectors.state().failure?.message,
    async close() {
      closing.abort();
      await Promise.all([vectors.close(), keepUp.close()]);
      await Promise.allSettled([...underWay, desk.idle()]);
      await holder.close();
    },
  };
}

const PIECE_ID = /^(file|pdf|conversation|document):[0-9a-f]+$/;
const NO_COUNTS = { files: 0, messages: 0, pieces: 0, skipped: 0, removed: 0, errors: 0 } as const;

function mayAskConversations({ filter }: MemoryQuery): boolean {
  return filter?.kinds?.includes("conversation") ?? true;
}

async function hasConversations(journal: Journal): Promise<boolean> {
  for await (const { sessionId } of journal.heads()) if (!RESERVED_JOURNALS.has(sessionId)) return true;
  return false;
}

function closed() {
  return fail("unavailable", "memory is closed", { hint: "the daemon is ending; start it again" });
}

function stopped(what: string) {
  return fail("cancelled", `${what} was stopped`, { hint: "start it again" });
}

/** Resolves when the work is done, the time is over or the signal aborts, whichever comes first. */
async function within(limitMs: number, work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, limitMs);
  signal.addEventListener("abort", end, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/** Answers `cancelled` as soon as the signal aborts; the work itself ends on its own. */
async function unlessAborted<T>(work: Promise<Result<T>>, signal: AbortSignal, what: string): Promise<Result<T>> {
  if (signal.aborted) return stopped(what);
  const { promise, resolve } = Promise.withResolvers<Result<T>>();
  const abort = () => resolve(stopped(what));
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
