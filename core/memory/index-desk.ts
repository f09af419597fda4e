import { realpath } from "node:fs/promises";
import type { DocumentSources } from "../domain/document-source.ts";
import { type Failed, type Failure, fail, ok, type Result } from "../domain/failure.ts";
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
  withoutSource,
  withSource,
  writeSourceList,
} from "./store/source-list.ts";
import type { OpenStore } from "./store/store-holder.ts";
import { stopped, unlessAborted } from "./unless-aborted.ts";
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

/** What may have changed in a listed folder: files and folders, relative to it, "" for all of it. It stays listed, gone or not. */
export type ChangedPaths = { readonly kind: "paths"; readonly folder: string; readonly paths: readonly string[] };

/** Brings things into the store, one run at a time. */
export type IndexDesk = {
  index(target: IndexTarget, signal: AbortSignal): AsyncIterable<Result<IndexProgress>>;
  /** The same without telling how far it is. */
  bring(target: IndexTarget | ChangedPaths, signal: AbortSignal): Promise<Result<IndexProgress>>;
  /** Fills a store that was just made with all that is listed. */
  refill(open: OpenStore, report: (progress: IndexProgress) => void): Promise<Result<void>>;
  /** Resolves when no publication is under way. */
  published(): Promise<void>;
  listed(): Promise<SourceList>;
  /** Why what is found may be older than what is there. */
  troubles(): readonly Failure[];
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
  const troubles = new Map<string, Failure>();

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
    const turn = queue.then(async () => {
      if (signal.aborted || closing.aborted) return stopped("indexing");
      return options.use((open) => runOne({ open, report, signal }, target));
    });
    queue = turn.catch(() => undefined);
    return unlessAborted(turn, signal, "indexing");
  }

  async function runOne(run: Run, target: IndexTarget | ChangedPaths): Promise<Result<IndexProgress>> {
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
      noteTrouble(nameOf(aim.value.target), outcome.ok ? undefined : outcome.failure);
      if (!outcome.ok) return outcome;
      if (outcome.value.changed) options.changed();
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
  function noteTrouble(name: string, failure: Failure | undefined): void {
    if (failure === undefined) troubles.delete(name);
    else if (failure.code !== "cancelled") {
      troubles.set(name, { ...failure, message: `memory is not up to date with ${name}: ${failure.message}` });
    }
  }

  async function aimAt(target: IndexTarget | ChangedPaths): Promise<Result<Aim>> {
    switch (target.kind) {
      case "folder":
        return aimAtFolder(target.folder);
      case "dropFolder":
        return aimAtListedFolder(target.folder);
      case "dropSource":
        return aimAtListedSource(target.name);
      case "paths":
        return aimAtPaths(target);
      case "source":
        return aimAtSource(target.name);
      case "conversations": {
        const { conversations } = options;
        if (conversations !== undefined) return ok({ target: { kind: "feed", feed: conversations() }, list: same });
        return fail("denied", "conversations are not indexed", { hint: "set conversations = true under [memory]" });
      }
    }
  }

  /** What a watcher saw in a folder that was taken out meanwhile is nobody's business any more. */
  async function aimAtPaths(target: ChangedPaths): Promise<Result<Aim>> {
    const { folder, paths } = target;
    const { folders } = await readSourceList(dir);
    if (!folders.includes(folder)) {
      return fail("not_found", `${folder} is not an indexed folder`, { hint: "index it first" });
    }
    if (!paths.includes("")) return ok({ target, list: same });
    const found = await resolveFolder(folder);
    // In its place may be a file now, which is no folder either.
    if (!found.ok && found.failure.code !== "invalid") return found;
    return ok({ target: { kind: "folder", folder, root: folder, exists: found.ok && found.value.exists }, list: same });
  }

  async function aimAtFolder(path: string): Promise<Result<Aim>> {
    const folder = await resolveFolder(path);
    if (!folder.ok) return folder;
    const { path: real, exists } = folder.value;
    const list = await readSourceList(dir);
    const root = rootOf(list, real);
    if (!exists && root === undefined) return noFolder(path);
    return ok({
      target: { kind: "folder", folder: real, root: root ?? real, exists },
      list: (now) => (exists ? withFolder(now, real) : now),
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

  async function aimAtListedFolder(path: string): Promise<Result<Aim>> {
    const found = await resolveFolder(path);
    if (!found.ok) return found;
    const folder = found.value.path;
    const list = await readSourceList(dir);
    const root = rootOf(list, folder);
    if (root === folder)
      return ok({ target: { kind: "forget", source: `folder:${folder}` }, list: (now) => withoutFolder(now, folder) });
    return fail("not_found", `${path} is not an indexed folder`, {
      hint:
        root === undefined
          ? `indexed are ${namesOf(list.folders)}`
          : `it is part of ${root}: name it in ${root}/.clawdignore, then index that again`,
    });
  }

  async function aimAtListedSource(name: string): Promise<Result<Aim>> {
    const list = await readSourceList(dir);
    if (list.sources.includes(name))
      return ok({ target: { kind: "forget", source: name }, list: (now) => withoutSource(now, name) });
    return fail("not_found", `${JSON.stringify(name)} is not an indexed source`, {
      hint: `indexed are ${namesOf(list.sources)}`,
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
      const targets: (IndexTarget | ChangedPaths)[] = [
        ...folders.map((folder) => ({ kind: "paths" as const, folder, paths: [""] })),
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
    troubles: () => [...troubles.values()],
    async idle() {
      await queue;
    },
  };
}

/** A run over conversations reads only what is new, and tells what there is, as one over a folder does. */
async function withAllMessages(progress: IndexProgress, { store }: OpenStore): Promise<Result<IndexProgress>> {
  const counted = await store.counts();
  if (!counted.ok) return counted;
  const { messages, messagePieces } = counted.value;
  return ok({ ...progress, files: messages, filesTotal: messages, chunks: messagePieces });
}

/** Of a folder that is gone a run takes out what it had; one that never was is an error of whoever named it. */
function isNowhere(target: RunTarget): boolean {
  return target.kind === "folder" && !target.exists;
}

function noFolder(path: string): Failed {
  return fail("not_found", `there is no folder ${path}`, { hint: "give the path of an existing folder" });
}

function goneFolder(path: string): Failed {
  return fail("not_found", `${path} is gone, and nothing of it is in the index`, {
    hint: "it stays listed, and its files come back with it; `claw memory index --remove` takes it out for good",
  });
}

/** What a person calls it. */
function nameOf(target: RunTarget): string {
  switch (target.kind) {
    case "folder":
      return target.root;
    case "paths":
      return target.folder;
    case "feed":
      return target.feed.source;
    case "forget":
      return target.source.replace(/^folder:/, "");
  }
}

function namesOf(listed: readonly string[]): string {
  return listed.length === 0 ? "none" : listed.join(", ");
}

function same(list: SourceList): SourceList {
  return list;
}
