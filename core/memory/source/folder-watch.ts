import { type FSWatcher, watch } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Failure, fail, type Result } from "../../domain/failure.ts";
import { collectDirty } from "./dirty-paths.ts";
import { IGNORE_FILES, isSkippedName } from "./folder-walk.ts";

/** Folders below one root; each takes one of the system's watches, of which a user has some thousands. */
const WATCH_LIMIT = 8_192;
const WATCH_BATCH = 128;
/** How often a folder is walked that cannot be watched. */
const WALK_MS = 30_000;
/** How often it is looked whether a root that is gone is back. */
const RETURN_MS = 1_000;
/** Names that came or went are looked at together, so often at most: each look may walk the root. */
const LOOK_MS = 200;
/** What changes more often than this in a second is not listened to for a while: every event takes a moment of the main thread. */
const STORM_EVENTS = 20_000;
const STORM_WINDOW_MS = 1_000;
const STORM_REST_MS = 10_000;

export type WatchEars = {
  /** Folders below a root that are not left out, relative, the root as "". */
  folders(root: string, signal: AbortSignal): Promise<Result<readonly string[]>>;
  /** Another text when a file below a root changed; see `stampFolder`. */
  stamp(root: string, signal: AbortSignal): Promise<Result<string>>;
  /** What may have come, gone or changed: relative paths of files and folders, [""] for everything. */
  onDirty(root: string, paths: readonly string[]): void;
  /** Why changes are seen later than they might be. */
  onProblem(root: string, failure: Failure): void;
  /** Called at every event of the system. */
  onEvent?(): void;
};

export type WatchLimits = { readonly watches?: number; readonly walkMs?: number };

/** `ready`: from then on no change is missed. */
export type FolderWatch = {
  readonly ready: Promise<void>;
  /** Events may have been lost: everything is looked at. */
  lookAtAll(): void;
  close(): Promise<void>;
};

/**
 * Watches the folders below a root, without those that are left out. Where the system has no watches left, it walks the root
 * every 30 s instead, and says so once. A root that goes away is told as a change of everything, and so is its return.
 */
export function watchFolder(root: string, ears: WatchEars, limits: WatchLimits = {}): FolderWatch {
  const ending = new AbortController();
  const { signal } = ending;
  const watchers = new Map<string, FSWatcher>();
  const dirty = collectDirty((paths) => ears.onDirty(root, paths));
  /** Where one watch sees everything below it. */
  const isDeep = process.platform === "darwin" || process.platform === "win32";
  let timer: NodeJS.Timeout | undefined;
  let identity = "";
  let isReady = false;
  let work: Promise<void> = Promise.resolve();
  /** Names that came or went since the last look. */
  const renamed = new Set<string>();
  let haveRulesChanged = false;
  let looking: NodeJS.Timeout | undefined;
  let heard = 0;
  let hearing: NodeJS.Timeout | undefined;
  let isResting = false;

  /** One thing at a time; nothing more once it is closed. */
  function later(task: () => Promise<void>): Promise<void> {
    work = work.then(() => (signal.aborted ? undefined : task()));
    return work;
  }

  function after(delayMs: number, task: () => Promise<void>): void {
    clearTimeout(timer);
    timer = setTimeout(() => void later(task), delayMs).unref();
  }

  async function start(): Promise<void> {
    identity = await identityOf(root);
    if (identity === "") return after(RETURN_MS, comeBack);
    if (isDeep) return void open("");
    await sync(true);
  }

  async function comeBack(): Promise<void> {
    isResting = false;
    await start();
    if (identity !== "") dirty.add("");
  }

  /** Brings the watches in line with the folders there are. What was in a new one before its watch is told as changed. */
  async function sync(isFirst: boolean): Promise<void> {
    const listed = await ears.folders(root, signal);
    if (signal.aborted || isResting) return;
    if (!listed.ok) return giveUp(listed.failure.message);
    const wanted = new Set(listed.value);
    for (const folder of [...watchers.keys()]) if (!wanted.has(folder)) drop(folder);
    let opened = 0;
    for (const folder of wanted) {
      if (watchers.has(folder)) continue;
      if (watchers.size >= (limits.watches ?? WATCH_LIMIT)) return giveUp(`it has more than ${watchers.size} folders`);
      if (!open(folder)) return;
      if (!isFirst) dirty.add(folder);
      opened += 1;
      // Each takes a moment of the main thread, and there may be thousands.
      if (opened % WATCH_BATCH === 0) await setImmediate();
      if (signal.aborted) return;
    }
  }

  /** False when the system has no more watches. */
  function open(folder: string): boolean {
    try {
      const watcher = watch(join(root, folder), { persistent: false, recursive: isDeep });
      watcher.on("change", (kind, name) => hear(folder, kind, typeof name === "string" ? name : ""));
      watcher.on("error", () => {
        drop(folder);
        void later(isDeep ? start : () => sync(false));
      });
      watchers.set(folder, watcher);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === "ENOSPC" || code === "EMFILE" || code === "ENFILE") {
        giveUp("the system has no watches left");
        return false;
      }
      // It is gone already, or not ours to read: the watch above it hears of it.
    }
    return true;
  }

  function hear(folder: string, kind: string, name: string): void {
    if (signal.aborted || isResting) return;
    ears.onEvent?.();
    if (isStorm()) {
      rest();
      return;
    }
    if (folder === "" && (name === "" || name === basename(root))) void later(lookAtRoot);
    const path = [folder, name].filter((part) => part !== "").join("/");
    const names = name.split(/[\\/]/);
    if (IGNORE_FILES.some((file) => file === names.at(-1))) {
      dirty.add(path.split("/").slice(0, -1).join("/"));
      haveRulesChanged = true;
      if (!isDeep) lookSoon();
      return;
    }
    if (names.some(isSkippedName)) return;
    dirty.add(path);
    if (kind !== "rename" || isDeep) return;
    renamed.add(path);
    lookSoon();
  }

  function lookSoon(): void {
    looking ??= setTimeout(() => {
      looking = undefined;
      void later(lookAtRenamed);
    }, LOOK_MS).unref();
  }

  /** A folder that came needs a watch, one that went or was replaced has a watch on something else. */
  async function lookAtRenamed(): Promise<void> {
    const paths = [...renamed];
    renamed.clear();
    let changed = haveRulesChanged;
    haveRulesChanged = false;
    for (const path of paths) {
      if (!watchers.has(path) && !(await isFolderAt(join(root, path)))) continue;
      for (const folder of [...watchers.keys()]) if (folder === path || folder.startsWith(`${path}/`)) drop(folder);
      changed = true;
    }
    if (changed) await sync(false);
  }

  function isStorm(): boolean {
    heard += 1;
    hearing ??= setTimeout(() => {
      hearing = undefined;
      heard = 0;
    }, STORM_WINDOW_MS).unref();
    return heard > STORM_EVENTS;
  }

  /** Nobody listens for a while; then everything is looked at. */
  function rest(): void {
    isResting = true;
    dropAll();
    renamed.clear();
    dirty.add("");
    after(STORM_REST_MS, comeBack);
  }

  async function lookAtRoot(): Promise<void> {
    if ((await identityOf(root)) === identity) return;
    dropAll();
    dirty.add("");
    await start();
  }

  function giveUp(reason: string): void {
    dropAll();
    const failure = fail("exhausted", `${root} cannot be watched: ${reason}`, {
      hint: `it is looked through every ${WALK_MS / 1_000} s instead; name folders that do not matter in its .clawdignore`,
    });
    ears.onProblem(root, failure.failure);
    if (isReady) dirty.add("");
    void later(() => walk(undefined));
  }

  async function walk(before: string | undefined): Promise<void> {
    const stamped = await ears.stamp(root, signal);
    if (signal.aborted) return;
    const now = stamped.ok ? stamped.value : undefined;
    if (before !== undefined && now !== before) dirty.add("");
    after(limits.walkMs ?? WALK_MS, () => walk(now ?? before));
  }

  function drop(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  function dropAll(): void {
    for (const folder of [...watchers.keys()]) drop(folder);
  }

  const ready = later(start)
    .then(() => work)
    .then(() => {
      isReady = true;
    });

  return {
    ready,
    lookAtAll() {
      // Who rests or walks looks at everything anyway.
      if (signal.aborted || isResting || watchers.size === 0) return;
      dirty.add("");
      if (!isDeep) void later(() => sync(false));
    },
    async close() {
      ending.abort();
      for (const waiting of [timer, looking, hearing]) clearTimeout(waiting);
      dirty.close();
      dropAll();
      await work;
      dropAll();
    },
  };
}

/** Tells a folder from another one of its name; empty when there is none. */
async function identityOf(folder: string): Promise<string> {
  try {
    const found = await stat(folder);
    return found.isDirectory() ? `${found.dev}:${found.ino}` : "";
  } catch {
    return "";
  }
}

async function isFolderAt(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch {
    return false;
  }
}
