import { type FSWatcher, watch } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { WatchedChange } from "../guest/guest-protocol.ts";
import { check } from "../permission/grant.ts";
import { admitPath, type FileDesk, openAdmitted } from "./file-place.ts";
import type { Held } from "./handle-table.ts";
import { type OpenedPlace, openPlace } from "./opened-place.ts";
import { done, type Outcome, onSystem, refuse } from "./outcome.ts";

/** Watchers of one guest, and folders that one of them watches. */
export const WATCHERS_MAX = 16;
const FOLDERS_MAX = 512;
/** Changes that wait for a guest that does not ask; beyond, the oldest are dropped. */
const CHANGES_WAITING_MAX = 256;

/** Hears what changes in files and folders. */
export type Watcher = Held & {
  /** The next change; null once it is closed. One asks at a time. */
  next(signal: AbortSignal): Promise<WatchedChange | null>;
};

type Change = WatchedChange["kind"];

/** Where the guest named a path, and where it really is: it hears the name that it gave. */
type Watched = { readonly named: string; readonly real: string };

/** Watches what a guest may read; of what lies deeper it hears only what it may read, too. */
export async function watchPaths(
  desk: FileDesk,
  paths: readonly string[],
  recursive: boolean,
): Promise<Outcome<Watcher>> {
  const places: { readonly named: string; readonly place: OpenedPlace }[] = [];
  try {
    for (const named of paths) {
      const act = `watch '${named}'`;
      const admitted = await admitPath(desk, "read", named, act);
      if (!admitted.ok) return admitted;
      const opened = await openAdmitted(desk, "read", admitted.value, act, true);
      if (!opened.ok) return opened;
      places.push({ named: admitted.value.path, place: opened.value });
      const written = await admitted.value.admission.allow(opened.value.real);
      if (!written.ok) return written;
    }
    const watcher = openWatcher(desk, recursive);
    for (const { named, place } of places) {
      const added = await onSystem(`watch '${named}'`, () => watcher.add({ named, real: place.real }, place));
      if (added.ok && added.value) continue;
      await watcher.close();
      return added.ok ? refuse("Error", `"${named}" has more than ${FOLDERS_MAX} folders, which is the limit`) : added;
    }
    return done(watcher);
  } finally {
    for (const { place } of places) await place[Symbol.asyncDispose]();
  }
}

function openWatcher(desk: FileDesk, recursive: boolean) {
  const watchers = new Map<string, FSWatcher>();
  let waiting: WatchedChange[] = [];
  let arrived: PromiseWithResolvers<void> = Promise.withResolvers();
  let closed = false;

  function tell(kind: Change, path: string): void {
    const last = waiting.at(-1);
    // One write comes as several changes.
    if (last?.kind === kind && last.paths[0] === path) return;
    waiting = [...waiting, { kind, paths: [path] }].slice(-CHANGES_WAITING_MAX);
    arrived.resolve();
  }

  function isReadable(path: string): boolean {
    const grant = desk.grant();
    return desk.rules.refusal("read", path, grant) === undefined && check(grant, { kind: "read", path }).ok;
  }

  /** Something of this name came or went; what has come may be a folder to be watched. */
  async function look(at: Watched, isNew: boolean): Promise<void> {
    const place = await openPlace(at.real, false).catch(() => undefined);
    if (place === undefined) {
      watchers.get(at.real)?.close();
      watchers.delete(at.real);
      return tell("remove", at.named);
    }
    await using there = place;
    if (there.real !== at.real || closed) return;
    tell(isNew ? "create" : "modify", at.named);
    if (isNew && recursive && there.facts.isDirectory()) await addFolder(at, there);
  }

  function hear(at: Watched, isFolder: boolean, event: string, name: string | null): void {
    if (closed) return;
    const child = isFolder && name !== null ? { named: join(at.named, name), real: join(at.real, name) } : at;
    if (!isReadable(child.real)) return;
    // A folder that is gone by now, or closed to us, is no change of the guest's to hear of.
    void look(child, event === "rename").catch(() => {});
  }

  function listen(at: Watched, place: OpenedPlace, isFolder: boolean): boolean {
    if (watchers.has(at.real)) return true;
    if (watchers.size >= FOLDERS_MAX) return false;
    const watcher = watch(place.self, { persistent: false }, (event, name) => hear(at, isFolder, event, name));
    watcher.on("error", () => watcher.close());
    watchers.set(at.real, watcher);
    return true;
  }

  async function addFolder(at: Watched, place: OpenedPlace): Promise<boolean> {
    if (closed || !listen(at, place, true)) return false;
    if (!recursive) return true;
    for await (const entry of await opendir(place.self)) {
      const child = { named: join(at.named, entry.name), real: join(at.real, entry.name) };
      if (!entry.isDirectory() || !isReadable(child.real)) continue;
      await using below = await openPlace(place.entry(entry.name), false);
      if (below.facts.isDirectory() && below.real === child.real && !(await addFolder(child, below))) return false;
    }
    return true;
  }

  return {
    /** False for more folders than are watched. Rejects with the system's error. */
    async add(at: Watched, place: OpenedPlace): Promise<boolean> {
      if (place.facts.isDirectory()) return addFolder(at, place);
      // A file that is replaced is heard of in its folder alone.
      if (watchers.has(at.real)) return true;
      await using folder = await openPlace(dirname(at.real), true);
      const name = basename(at.real);
      const watcher = watch(folder.self, { persistent: false }, (event, changed) => {
        if (changed === name) hear(at, false, event, null);
      });
      watcher.on("error", () => watcher.close());
      watchers.set(at.real, watcher);
      return true;
    },
    async next(signal: AbortSignal): Promise<WatchedChange | null> {
      const given = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        if (signal.aborted) resolve();
      });
      for (;;) {
        const change = waiting.shift();
        if (change !== undefined) return change;
        if (closed || signal.aborted) return null;
        arrived = Promise.withResolvers();
        await Promise.race([arrived.promise, given]);
      }
    },
    async close(): Promise<void> {
      closed = true;
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
      arrived.resolve();
    },
  };
}
