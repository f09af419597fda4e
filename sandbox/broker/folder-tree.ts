import { opendir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type OpenedPlace, openPlace } from "./opened-place.ts";
import { systemCode } from "./outcome.ts";

/** Most entries of a folder that is moved or removed with all that is in it, and how deep they may lie. */
export const TREE_ENTRIES_MAX = 10_000;
export const TREE_DEPTH_MAX = 64;

type Entry = { readonly name: string; readonly isFolder: boolean };

/**
 * Every path below an opened folder, relative to it, parents before what lies in them. Links are named and not followed.
 * Undefined for too large a tree. Rejects with the system's error.
 */
export async function pathsBelow(folder: OpenedPlace): Promise<readonly string[] | undefined> {
  const paths: string[] = [];
  async function visit(place: OpenedPlace, at: string, depth: number): Promise<boolean> {
    if (depth > TREE_DEPTH_MAX) return false;
    for (const { name, isFolder } of await entriesOf(place)) {
      paths.push(join(at, name));
      if (paths.length > TREE_ENTRIES_MAX) return false;
      if (!isFolder) continue;
      await using below = await openPlace(place.entry(name), false);
      // It may be a link by now: that one is not entered.
      if (below.facts.isDirectory() && !(await visit(below, join(at, name), depth + 1))) return false;
    }
    return true;
  }
  return (await visit(folder, "", 0)) ? paths : undefined;
}

/**
 * Removes all that is in an opened folder, each entry through the handle of its own folder, so that nothing outside is
 * reached when a link takes a folder's place. Rejects with the system's error.
 */
export async function emptyFolder(folder: OpenedPlace, depth = 0): Promise<void> {
  for (const { name, isFolder } of await entriesOf(folder)) {
    if (isFolder && depth < TREE_DEPTH_MAX) await removeFolder(folder, name, depth);
    else await unlink(folder.entry(name));
  }
}

async function removeFolder(parent: OpenedPlace, name: string, depth: number): Promise<void> {
  {
    await using below = await openPlace(parent.entry(name), false);
    if (below.facts.isDirectory()) await emptyFolder(below, depth + 1);
  }
  try {
    await rmdir(parent.entry(name));
  } catch (cause) {
    if (systemCode(cause) !== "ENOTDIR") throw cause;
    await unlink(parent.entry(name));
  }
}

async function entriesOf(folder: OpenedPlace): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of await opendir(folder.self)) {
    entries.push({ name: entry.name, isFolder: entry.isDirectory() });
    if (entries.length > TREE_ENTRIES_MAX) break;
  }
  return entries;
}
