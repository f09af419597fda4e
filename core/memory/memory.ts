import { existsSync } from "node:fs";
import type { DocumentSources } from "../domain/document-source.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import {
  type IndexProgress,
  MEMORY_KINDS,
  type Memory,
  type MemoryAnswer,
  type MemoryQuery,
} from "../domain/memory.ts";
import { openCaretaker } from "./caretaker.ts";
import { openCatchUp } from "./catch-up.ts";
import type { EmbedderChoice } from "./embed/choose-embedder.ts";
import { lendWhileHeld, noteSegment, storedSegment } from "./embedded-segments.ts";
import { evaluateDataSet } from "./eval/evaluate.ts";
import { evaluationIndex } from "./evaluation-index.ts";
import { type IndexDesk, openIndexDesk } from "./index-desk.ts";
import { buildOver, type ReadPdf } from "./index-run.ts";
import { openKeepUp } from "./keep-up.ts";
import { openNotes } from "./note/notes.ts";
import { followJob } from "./progress-feed.ts";
import { openRebuild } from "./rebuild.ts";
import { numberBuffers, openSearch, type SearchRules } from "./search.ts";
import { type EmbeddedSegment, openSearchVectors } from "./search-vectors.ts";
import { conversationFeed } from "./source/conversations.ts";
import { pluginFeed } from "./source/plugin-sources.ts";
import type { CutTexts } from "./source/text-cutting.ts";
import { storeFile } from "./store/open-store.ts";
import { holdStore } from "./store/store-holder.ts";
import { unlessAborted } from "./unless-aborted.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";

/** After so long without use DuckDB is closed and its memory given back. */
const STORE_IDLE_TIMEOUT_MS = 600_000;

export type MemorySettings = SearchRules & {
  /** Of the vector leg; undefined for the embedder's own. */
  readonly vectorWeight: number | undefined;
  /** Past conversations are indexed and found. */
  readonly conversations: boolean;
  /** With so much on disk nothing more is indexed; 0 for what the disk has room for. Notes are not counted. */
  readonly storeLimitBytes: number;
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
  /** Why what is found is older than it might be: folders that cannot be watched, runs that failed. */
  indexProblems(): readonly Failure[];
};

/**
 * Long-term memory over `<dir>/memory.duckdb` and the segments beside it. Costs nothing until it is used: notes need only
 * the journal, and DuckDB is loaded when something else was indexed. The folder may be deleted at any time while nobody has
 * it open: it is made anew from what `<dir>/sources.json` lists and from the journals at the next use, and searches wait for that.
 * For a rebuilding they do not: it fills a store of its own, and they are answered from the one before until it is whole.
 */
export function openMemory(options: MemoryOptions): OpenMemory {
  const { dir, pool, journal, settings } = options;
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const notes = openNotes({ journal, workers: pool, newId: options.newId, now: options.now });
  const numberOf = numberBuffers();
  const cut: CutTexts = (texts, signal) => pool.run("cutTexts", texts, "back", signal);

  const holder = holdStore({
    dir,
    async refill(open) {
      if (rebuild.isUnderWay()) return beingRebuilt();
      const filled = await desk.refill(open);
      return filled.ok ? ok(undefined) : filled;
    },
    build: buildOver(pool),
    idleTimeoutMs: STORE_IDLE_TIMEOUT_MS,
  });

  const desk = openIndexDesk({
    ...{ dir, dataDir: options.dataDir, pool, readPdf: options.readPdf, sources: options.sources },
    storeLimitBytes: settings.storeLimitBytes,
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

  const rebuild = openRebuild({ dir, desk, holder, vectors, closing: closing.signal });

  const catchUp = openCatchUp({
    ...{ journal, desk, hasStore, closing: closing.signal },
    isRebuilding: () => rebuild.isUnderWay(),
  });

  const caretaker = openCaretaker({
    ...{ dir, pool, notes, desk, holder, vectors, hasStore, segments: searchedSegments },
    storeLimitBytes: settings.storeLimitBytes,
  });

  async function hasStore(): Promise<boolean> {
    if (existsSync(storeFile(dir))) return true;
    const { folders, sources } = await desk.listed();
    return folders.length + sources.length > 0;
  }

  /** All that has vectors: what is searched, and what is to take its place. */
  async function embeddedSegments(): Promise<Result<readonly EmbeddedSegment[]>> {
    const coming = rebuild.segments();
    const searched = await searchedSegments();
    // A store that is damaged must not keep the one from its vectors that is made for it.
    if (!searched.ok) return coming.length > 0 ? ok(coming) : searched;
    return ok([...coming, ...searched.value]);
  }

  async function searchedSegments(): Promise<Result<readonly EmbeddedSegment[]>> {
    const noted = await notes.segments();
    if (!noted.ok) return noted;
    const ofNotes = noted.value.map((segment, index) => noteSegment(segment, index, notes));
    if (!(await hasStore())) return ok(ofNotes);
    const stored = await holder.use(async ({ store, segments }) => {
      return ok(segments.map((segment) => storedSegment(segment, store, lendWhileHeld(store, holder))));
    });
    return stored.ok ? ok([...ofNotes, ...stored.value]) : stored;
  }

  async function search(query: MemoryQuery, signal: AbortSignal): Promise<Result<MemoryAnswer>> {
    if (closing.signal.aborted) return closed();
    const asked = settings.conversations ? query : withoutConversations(query);
    if (asked === undefined) return ok({ hits: [], legs: NO_CONVERSATIONS });
    if (mayAskConversations(asked)) await catchUp(signal);
    return find(asked, signal);
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
    stats: () => unlessClosed(() => caretaker.stats()),
    verify: (signal) =>
      unlessAborted(
        unlessClosed(() => caretaker.verify(signal)),
        signal,
        "the check",
      ),
    rebuild: (signal) =>
      followJob<Result<IndexProgress>>(
        (report, stop) => unlessClosed(() => rebuild.run((progress) => report(ok(progress)), stop)),
        signal,
      ),
    exportTo: (folder) => unlessClosed(() => caretaker.exportTo(folder)),
    evaluate(folder, signal) {
      const stop = AbortSignal.any([signal, closing.signal]);
      return evaluateDataSet(folder, evaluationIndex(pool, numberOf, stop), stop);
    },
    desk,
    keepUp: () => keepUp.start(),
    indexProblems: () => [...keepUp.problems(), ...desk.troubles()],
    embedded: () => vectors.settled(),
    views: {
      revision: () => unlessClosed(() => caretaker.revision()),
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

const NOT_INDEXED = "conversations are not indexed";
const NO_CONVERSATIONS = { lexical: NOT_INDEXED, vector: NOT_INDEXED } as const;

/** What was indexed before it was turned off is there until the next rebuild. Undefined when nothing is left to ask. */
function withoutConversations(query: MemoryQuery): MemoryQuery | undefined {
  const kinds = (query.filter?.kinds ?? MEMORY_KINDS).filter((kind) => kind !== "conversation");
  return kinds.length === 0 ? undefined : { ...query, filter: { ...query.filter, kinds } };
}

function mayAskConversations({ filter }: MemoryQuery): boolean {
  return filter?.kinds?.includes("conversation") ?? true;
}

function beingRebuilt() {
  return fail("unavailable", "what memory had indexed is damaged or gone, and is being made anew", {
    hint: "search again when `claw memory rebuild` is done",
  });
}

function closed() {
  return fail("unavailable", "memory is closed", { hint: "the daemon is ending; start it again" });
}
