import { realpath } from "node:fs/promises";
import type { DocumentSources } from "../domain/document-source.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { IndexProgress, IndexTarget } from "../domain/memory.ts";
import { type ReadPdf, type RunTarget, resolveFolder, runIndex } from "./index-run.ts";
import { followJob } from "./progress-feed.ts";
import type { DocumentFeed } from "./source/document-feed.ts";
import {
  readSourceList,
  rootOf,
  type SourceList,
  withFolder,
  withoutFolder,
  withSource,
  writeSourceList,
} from "./store/source-list.ts";
import type { OpenStore } from "./store/store-holder.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";

export type IndexDeskOptions = {
  /** Memory's folder: the list of what is indexed lies there. */
  readonly dir: string;
  /** Of this folder nothing is ever indexed. */
  readonly dataDir: string;
  readonly pool: MemoryPool;
  readonly readPdf: ReadPdf;
  readonly sources: DocumentSources;
  readonly sourceFeed: (source: ReturnType<DocumentSources>[number]) => DocumentFeed;
  /** Undefined when conversations are not indexed. */
  readonly conversations: (() => DocumentFeed) | undefined;
  /** Lends the store out, made when there is none. */
  readonly use: <T>(work: (open: OpenStore) => Promise<Result<T>>) => Promise<Result<T>>;
  /** Searches find something else from now on. */
  readonly changed: () => void;
  readonly listChanged: () => void;
  readonly closing: AbortSignal;
};

/** What a watcher saw: some files and folders, relative to the listed one. */
export type DirtyPaths = { readonly kind: "paths"; readonly folder: string; readonly paths: readonly string[] };

/** Brings things into the store, one run at a time. */
export type IndexDesk = {
  index(target: IndexTarget, signal: AbortSignal): AsyncIterable<Result<IndexProgress>>;
  /** The same without telling how far it is. */
  bring(target: IndexTarget | DirtyPaths, signal: AbortSignal): Promise<Result<IndexProgress>>;
  /** Fills a store that was just made with all that is listed. */
  refill(open: OpenStore, report: (progress: IndexProgress) => void): Promise<Result<void>>;
  /** Resolves when no publication is under way. */
  published(): Promise<void>;
  listed(): Promise<SourceList>;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
};

type Run = {
  readonly open: OpenStore;
  readonly report: (progress: IndexProgress) => void;
  readonly signal: AbortSignal;
};

/** A target with what is to be written down about it before it shows. */
type Aim = { readonly target: RunTarget; readonly list: (list: SourceList) => SourceList };

export function openIndexDesk(options: IndexDeskOptions): IndexDesk {
  const { dir, closing } = options;
  let queue: Promise<unknown> = Promise.resolve();
  let publishing: Promise<void> = Promise.resolve();

  function index(target: IndexTarget, signal: AbortSignal): AsyncIterable<Result<IndexProgress>> {
    return followJob<Result<IndexProgress>>(
      (report, stop) => inTurn(target, (progress) => report(ok(progress)), stop),
      signal,
    );
  }

  /** One run at a time; the others wait for their turn, or for their signal. */
  function inTurn(
    target: IndexTarget | DirtyPaths,
    report: (progress: IndexProgress) => void,
    signal: AbortSignal,
  ): Promise<Result<IndexProgress>> {
    const turn = queue.then(async () => {
      if (signal.aborted || closing.aborted) return stopped();
      return options.use((open) => runOne({ open, report, signal }, target));
    });
    queue = turn.catch(() => undefined);
    return untilAborted(turn, signal);
  }

  async function runOne(run: Run, target: IndexTarget | DirtyPaths): Promise<Result<IndexProgress>> {
    const aim = await aimAt(target);
    if (!aim.ok) return aim;
    const { open, report, signal } = run;
    const published = Promise.withResolvers<void>();
    try {
      const outcome = await runIndex(
        {
          store: open.store,
          pool: options.pool,
          readPdf: options.readPdf,
          report,
          signal: AbortSignal.any([signal, open.retired, closing]),
          hidden: await realpath(options.dataDir),
          async announce() {
            publishing = published.promise;
            const list = await readSourceList(dir);
            const changed = aim.value.list(list);
            if (changed === list) return ok(undefined);
            const written = await writeSourceList(dir, changed);
            if (written.ok) options.listChanged();
            return written;
          },
          published(segments) {
            open.segments = segments;
          },
        },
        aim.value.target,
      );
      if (!outcome.ok) return outcome;
      if (outcome.value.changed) options.changed();
      return ok(outcome.value.progress);
    } finally {
      published.resolve();
    }
  }

  async function aimAt(target: IndexTarget | DirtyPaths): Promise<Result<Aim>> {
    switch (target.kind) {
      case "folder":
        return aimAtFolder(target.folder);
      case "paths":
        return ok({ target, list: (list) => list });
      case "source":
        return aimAtSource(target.name);
      case "conversations": {
        const { conversations } = options;
        if (conversations !== undefined) return ok({ target: { kind: "feed", feed: conversations() }, list: same });
        return fail("denied", "conversations are not indexed", { hint: "set conversations = true under [memory]" });
      }
    }
  }

  async function aimAtFolder(path: string): Promise<Result<Aim>> {
    const folder = await resolveFolder(path);
    if (!folder.ok) return folder;
    const { path: real, exists } = folder.value;
    const list = await readSourceList(dir);
    const root = rootOf(list, real);
    if (!exists && root === undefined) {
      return fail("not_found", `there is no folder ${path}`, { hint: "give the path of an existing folder" });
    }
    return ok({
      target: { kind: "folder", folder: real, root: root ?? real, exists },
      list: (now) => (exists ? withFolder(now, real) : withoutFolder(now, real)),
    });
  }

  async function aimAtSource(name: string): Promise<Result<Aim>> {
    const source = options.sources().find((one) => one.name === name);
    if (source !== undefined) {
      return ok({ target: { kind: "feed", feed: options.sourceFeed(source) }, list: (list) => withSource(list, name) });
    }
    const offered = options.sources().map((one) => one.name);
    return fail("not_found", `there is no source ${JSON.stringify(name)}`, {
      hint: offered.length === 0 ? "no plugin that is turned on offers one" : `there are ${offered.join(", ")}`,
    });
  }

  return {
    index,
    bring: (target, signal) => inTurn(target, () => {}, signal),
    async refill(open, report) {
      // A filling that was cut off has published something already.
      const begun = await open.store.segments();
      if (!begun.ok) return begun;
      open.segments = begun.value.segments;
      const { folders, sources } = await readSourceList(dir);
      const targets: IndexTarget[] = [
        ...folders.map((folder) => ({ kind: "folder" as const, folder })),
        ...sources.map((name) => ({ kind: "source" as const, name })),
        ...(options.conversations === undefined ? [] : [{ kind: "conversations" as const }]),
      ];
      for (const target of targets) {
        const done = await runOne({ open, report, signal: closing }, target);
        // What cannot be read now must not take the others down with it.
        if (!done.ok && (done.failure.code === "cancelled" || done.failure.code === "corrupt")) return done;
      }
      return open.store.markFilled();
    },
    published: () => publishing,
    listed: () => readSourceList(dir),
    async idle() {
      await queue;
    },
  };
}

function same(list: SourceList): SourceList {
  return list;
}

function stopped(): Result<never> {
  return fail("cancelled", "indexing was stopped", { hint: "start it again" });
}

/** Answers `cancelled` as soon as the signal aborts; the run itself ends on its own. */
async function untilAborted<T>(work: Promise<Result<T>>, signal: AbortSignal): Promise<Result<T>> {
  if (signal.aborted) return stopped();
  const { promise, resolve } = Promise.withResolvers<Result<T>>();
  const abort = () => resolve(stopped());
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
