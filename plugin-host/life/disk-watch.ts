import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "./clock.ts";

const EVERY_MS = 5_000;
/** Looking may take this part of the time, one in so many: where very much lies, or the disk is slow, it is seldom. */
const REST_SHARE = 20;
const MIB = 1024 * 1024;
/** A look must stay cheap; one that keeps more files than this in its own folders is beyond its measure, too. */
const FILES_LIMIT = 50_000;

/** Folders (or files) that belong to one plugin, absolute, and how much they may hold together. */
export type DiskShare = { readonly folders: readonly string[]; readonly limitMib: number };

/**
 * Looks at a plugin's own folders five seconds after it began and after each look, later when a look takes long; `onBeyond`
 * hears once that they hold too much. The value ends the watch.
 */
export function watchDisk(share: DiskShare, clock: Clock, onBeyond: (because: string) => void): () => void {
  let isOver = false;
  let cancel = () => {};
  const look = async () => {
    const beganMs = clock.now();
    const because = await findExcess(share);
    if (isOver) return;
    if (because === undefined) next(clock.now() - beganMs);
    else onBeyond(because);
  };
  const next = (tookMs: number) => {
    cancel = clock.after(Math.max(EVERY_MS, REST_SHARE * tookMs), () => void look());
  };
  if (share.folders.length > 0) next(0);
  return () => {
    isOver = true;
    cancel();
  };
}

/** Undefined when the folders hold no more than they may. What cannot be read counts nothing: the plugin is writing there. */
export async function findExcess({ folders, limitMib }: DiskShare): Promise<string | undefined> {
  let bytes = 0;
  let files = 0;
  const left = [...folders];
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const entry = await lstat(path).catch(() => undefined);
    if (entry === undefined) continue;
    files++;
    // What it takes, not what it says: a file with holes is smaller than its length.
    bytes += entry.blocks * 512;
    if (bytes > limitMib * MIB) {
      return `its folders hold more than the ${limitMib} MiB that it may write`;
    }
    if (files > FILES_LIMIT) return `its folders hold more than ${FILES_LIMIT} files`;
    if (!entry.isDirectory()) continue;
    const names = await opendir(path).catch(() => undefined);
    if (names === undefined) continue;
    try {
      for await (const { name } of names) {
        left.push(join(path, name));
        if (left.length > FILES_LIMIT) return `its folders hold more than ${FILES_LIMIT} files`;
      }
    } catch {
      // It took the folder away while it was read.
    }
  }
  return undefined;
}
