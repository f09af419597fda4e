import { realpath } from "node:fs/promises";
import { type Failure, ok, type Result } from "../domain/failure.ts";
import type { IndexProgress, IndexTarget } from "../domain/memory.ts";
import { type AimOptions, aimAt, type ChangedPaths, goneFolder, isNowhere, nameOf, noFolder } from "./index-aim.ts";
import { type ReadPdf, runIndex } from "./index-run.ts";
import { openListedSources } from "./listed-sources.ts";
import { followJob } from "./progress-feed.ts";
import type { SourceList } from "./store/source-list.ts";
import type { OpenStore } from "./store/store-holder.ts";
import { stopped, unlessAborted } from "./unless-aborted.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";

export type IndexDeskOptions = AimOptions & {
  /** Memory's folder: the list of what is indexed lies there. */
  readonly dir: string;
  /** Of this folder nothing is ever indexed. */
  readonly dataDir: string;
  readonly pool: MemoryPool;
  readonly readPdf: ReadPdf;
  /** 0 for what the disk has room for. */
  readonly storeLimitBytes: number;
  /** Lends the store out, made when there is none. */
  readonly use: <T>(work: (open: OpenStore) => Promise<Result<T>>) => Promise<Result<T>>;
  /** Searches find something else from now on. */
  readonly changed: () => void;
  readonly listChanged: () => void;
  readonly closing: AbortSignal;
};

/** Brings things into the store, one run at a time. */
export type IndexDesk = {
  index(target: IndexTarget, signal: AbortSignal): AsyncIterable<Result<IndexProgress>>;
  /** The same without telling how far it is. */
  bring(target: IndexTarget | ChangedPaths, signal: AbortSignal): Promise<Result<IndexProgress>>;
  /** Fills a store that was just made with all that is listed; gives what hindered it. */
  refill(open: OpenStore, filling?: Filling): Promise<Result<Troubles>>;
  /** A store that was filled beside the one before is searched from now on. */
  replaced(troubles: Troubles): void;
  /** Waits for the runs before, and holds up the others until the work is done. */
  alone<T>(work: () => Promise<Result<T>>, signal: AbortSignal, what: string): Promise<Result<T>>;
  /** Resolves when no publication is under way. */
  published(): Promise<void>;
  listed(): Promise<SourceList>;
  /** Why what is found may be older than what is there. */
  troubles(): readonly Failure[];
  /** A run is under way, and the next one has to wait. */
  isBusy(): boolean;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
};

/** Why sources could not be brought in, by what a person calls them. */
export type Troubles = ReadonlyMap<string, Failure>;

/** How a store is filled that nobody searches yet: all of it, as far as its sources can be read, or not at all. */
export type Filling = { readonly report: (progress: IndexProgress) => void; readonly signal: AbortSignal };

type Run = {
  readonly open: OpenStore;
  readonly report: (progress: IndexProgress) => void;
  readonly signal: AbortSignal;
  readonly troubles: Map<string, Failure>;
  /** What it publishes shows with the store as a whole. */
  readonly aside: boolean;
};

export function openIndexDesk(options: IndexDeskOptions): IndexDesk {
  const { dir, closing } = options;
  const listed = openListedSources({ dir, use: options.use, changed: options.listChanged });
  let queue: Promise<unknown> = Promise.resolve();
  let runs = 0;
  let publishing: Promise<void> = Promise.resolve();
  let troubles = new Map<string, Failure>();

  function index(target: IndexTarget, signal: AbortSignal): AsyncIterable<Result<IndexProgress>> {
    return followJob<Result<IndexProgress>>(
      (report, stop) => inTurn(target, (progress) => report(ok(progress)), stop),
      signal,
    );
  }

  /** One run at a time; the others wait for their turn, or for their signal. */
  function inTurn(
    target: IndexTarget | ChangedPaths,
    report: (progress: IndexProgress) => void,
    signal: AbortSignal,
  ): Promise<Result<IndexProgress>> {
    const work = (list: SourceList) =>
      options.use((open) => runOne({ open, report, signal, troubles, aside: false }, target, list));
    return takeTurn(work, signal, "indexing");
  }

  function takeTurn<T>(
    work: (list: SourceList) => Promise<Result<T>>,
    signal: AbortSignal,
    what: string,
  ): Promise<Result<T>> {
    runs += 1;
    const turn = queue.then(async () => {
      if (signal.aborted || closing.aborted) return stopped(what);
      const list = await listed.toChange();
      return list.ok ? work(list.value) : list;
    });
    queue = turn
      .catch(() => undefined)
      .finally(() => {
        runs -= 1;
      });
    return unlessAborted(turn, signal, what);
  }

  async function runOne(
    run: Run,
    target: IndexTarget | ChangedPaths,
    list: SourceList,
  ): Promise<Result<IndexProgress>> {
    const aim = await aimAt(target, list, options);
    if (!aim.ok) return aim;
    const { open, report, signal, aside } = run;
    const published = Promise.withResolvers<void>();
    try {
      const outcome = await runIndex(
        {
          store: open.store,
          pool: options.pool,
          readPdf: options.readPdf,
          storeLimitBytes: options.storeLimitBytes,
          report,
          signal: AbortSignal.any([signal, open.retired, closing]),
          hidden: await realpath(options.dataDir),
          announce() {
            if (!aside) publishing = published.promise;
            return listed.change(aim.value.list);
          },
          published(segments) {
            open.segments = segments;
          },
        },
        aim.value.target,
      );
      noteTrouble(run.troubles, nameOf(aim.value.target), outcome.ok ? undefined : outcome.failure);
      if (!outcome.ok) return outcome;
      if (outcome.value.changed && !aside) options.changed();
      const { progress } = outcome.value;
      if (target.kind === "folder" && progress.removed === 0 && isNowhere(aim.value.target)) {
        return nameOf(aim.value.target) === target.folder ? goneFolder(target.folder) : noFolder(target.folder);
      }
      return target.kind === "conversations" ? withAllMessages(progress, open) : ok(progress);
    } finally {
      published.resolve();
    }
  }

  /** Nobody waits for a run in the background: what hinders the last one over something is told until one goes well. */
  function noteTrouble(known: Map<string, Failure>, name: string, failure: Failure | undefined): void {
    if (failure === undefined) known.delete(name);
    else if (failure.code !== "cancelled") {
      known.set(name, { ...failure, message: `memory is not up to date with ${name}: ${failure.message}` });
    }
  }

  return {
    index,
    bring: (target, signal) => inTurn(target, () => {}, signal),
    async refill(open, filling) {
      // A filling that was cut off has published something already.
      const begun = await open.store.segments();
      if (!begun.ok) return begun;
      open.segments = begun.value.segments;
      const list = await listed.toFill();
      const targets: (IndexTarget | ChangedPaths)[] = [
        ...list.folders.map((folder) => ({ kind: "paths" as const, folder, paths: [""] })),
        ...list.sources.map((name) => ({ kind: "source" as const, name })),
        ...(options.conversations === undefined ? [] : [{ kind: "conversations" as const }]),
      ];
      const aside = filling !== undefined;
      const hindered = aside ? new Map<string, Failure>() : troubles;
      const { report, signal } = filling ?? { report: () => {}, signal: closing };
      for (const target of targets) {
        const done = await runOne({ open, report, signal, troubles: hindered, aside }, target, list);
        // What cannot be read now must not take the others down with it.
        if (!done.ok && (isEnd(done.failure) || (aside && done.failure.code === "exhausted"))) return done;
      }
      const filled = await open.store.markFilled();
      return filled.ok ? ok(hindered) : filled;
    },
    replaced(hindered) {
      troubles = new Map(hindered);
      options.changed();
    },
    alone: takeTurn,
    published: () => publishing,
    listed: () => listed.all(),
    troubles: () => [...[listed.trouble() ?? []].flat(), ...troubles.values()],
    isBusy: () => runs > 0,
    async idle() {
      await queue;
    },
  };
}

function isEnd({ code }: Failure): boolean {
  return code === "cancelled" || code === "corrupt";
}

/** A run over conversations reads only what is new, and tells what there is, as one over a folder does. */
async function withAllMessages(progress: IndexProgress, { store }: OpenStore): Promise<Result<IndexProgress>> {
  const counted = await store.counts();
  if (!counted.ok) return counted;
  const { messages, messagePieces } = counted.value;
  return ok({ ...progress, files: messages, filesTotal: messages, chunks: messagePieces });
}
