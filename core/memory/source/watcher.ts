import { type EventQueue, readQueueLimit, watchEventQueue } from "./event-queue.ts";
import { type FolderWatch, type WatchEars, type WatchLimits, watchFolder } from "./folder-watch.ts";

/** Watches a set of folders for changes. */
export type Watcher = {
  /**
   * From now on these, given by their real paths. Those that are watched already go on. Resolves when no change in them is
   * missed any more: whoever reads a folder after that knows all of it.
   */
  watch(folders: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

export function createWatcher(ears: WatchEars, limits: WatchLimits = {}): Watcher {
  const watches = new Map<string, FolderWatch>();
  let queue: EventQueue | undefined;
  let closed = false;

  const counting: WatchEars = { ...ears, onEvent: () => queue?.count() };

  async function watchQueue(): Promise<void> {
    const limitEvents = await readQueueLimit();
    if (closed) return;
    queue ??= watchEventQueue(limitEvents, () => {
      for (const watch of watches.values()) watch.lookAtAll();
    });
  }

  return {
    async watch(folders) {
      if (closed) return;
      if (queue === undefined && folders.length > 0) await watchQueue();
      if (closed) return;
      const wanted = new Set(folders);
      const dropped = [...watches].filter(([folder]) => !wanted.has(folder));
      for (const [folder] of dropped) watches.delete(folder);
      for (const folder of wanted) if (!watches.has(folder)) watches.set(folder, watchFolder(folder, counting, limits));
      await Promise.all([
        ...[...watches.values()].map(({ ready }) => ready),
        ...dropped.map(([, watch]) => watch.close()),
      ]);
    },
    async close() {
      closed = true;
      queue?.close();
      const open = [...watches.values()];
      watches.clear();
      await Promise.all(open.map((watch) => watch.close()));
    },
  };
}
