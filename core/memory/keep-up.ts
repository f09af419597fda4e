import type { Failure } from "../domain/failure.ts";
import type { IndexDesk } from "./index-desk.ts";
import { watchTasks } from "./source/watch-tasks.ts";
import { createWatcher } from "./source/watcher.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";

/** Keeps what is listed in line with what is there, in the background. */
export type KeepUp = {
  /** Watches the listed folders from now on and looks at all of them once. Nothing is loaded when none is listed. */
  start(): void;
  /** The list may be another one. */
  listChanged(): void;
  /** Why changes are seen later than they might be. */
  problems(): readonly Failure[];
  close(): Promise<void>;
};

/** @param complain writes down a broken promise of our own code. */
export function openKeepUp(
  desk: IndexDesk,
  pool: MemoryPool,
  complain: (cause: unknown) => void,
  signal: AbortSignal,
): KeepUp {
  const problems = new Map<string, Failure>();
  /** What changed since the last run, by folder. */
  const dirty = new Map<string, Set<string>>();
  let started = false;
  let working: Promise<void> | undefined;
  let watching: Promise<void> = Promise.resolve();

  const watcher = createWatcher({
    ...watchTasks(pool.run),
    onDirty(folder, paths) {
      const known = dirty.get(folder) ?? new Set();
      for (const path of paths) known.add(path);
      dirty.set(folder, known);
      work();
    },
    onProblem: (folder, failure) => void problems.set(folder, failure),
  });

  function work(): void {
    working ??= drain()
      .catch(complain)
      .finally(() => {
        working = undefined;
      });
  }

  async function drain(): Promise<void> {
    for (let next = takeOne(); next !== undefined && !signal.aborted; next = takeOne()) {
      // What fails now is told by whoever indexes by hand; the next change tries again.
      await desk.bring({ kind: "paths", ...next }, signal);
    }
  }

  function takeOne(): { readonly folder: string; readonly paths: readonly string[] } | undefined {
    for (const [folder, paths] of dirty) {
      dirty.delete(folder);
      return { folder, paths: [...paths] };
    }
    return undefined;
  }

  /** One change of the list after the other. */
  function watchListed(): void {
    watching = watching
      .then(async () => {
        const { folders } = await desk.listed();
        if (signal.aborted) return;
        for (const folder of problems.keys()) if (!folders.includes(folder)) problems.delete(folder);
        await watcher.watch(folders);
      })
      .catch(complain);
  }

  /** What changed while nobody watched. */
  async function lookAgain(): Promise<void> {
    const { folders, sources } = await desk.listed();
    for (const folder of folders) await desk.bring({ kind: "paths", folder, paths: [""] }, signal);
    for (const name of sources) await desk.bring({ kind: "source", name }, signal);
  }

  return {
    start() {
      if (started) return;
      started = true;
      watchListed();
      watching = watching.then(lookAgain).catch(complain);
    },
    listChanged() {
      if (started) watchListed();
    },
    problems: () => [...problems.values()],
    async close() {
      await watcher.close();
      await watching;
      await working;
    },
  };
}
