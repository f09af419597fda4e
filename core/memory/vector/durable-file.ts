import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** One write; larger ones are cut by the system anyway. */
const WRITE_LIMIT_BYTES = 1 << 26;

/**
 * Writes a file aside, syncs it and puts it in its place: whoever looks finds all of it or what was there before. Throws
 * what the disk says, and leaves nothing aside. Waits for the disk: call it in a worker.
 */
export function writeDurably(path: string, bytes: Uint8Array): void {
  const aside = asideOf(path);
  try {
    const file = openSync(aside, "w", 0o600);
    try {
      for (let at = 0; at < bytes.length; )
        at += writeSync(file, bytes, at, Math.min(bytes.length - at, WRITE_LIMIT_BYTES));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(aside, path);
  } catch (cause) {
    rmSync(aside, { force: true });
    throw cause;
  }
  syncFolder(dirname(path));
}

/** The same for a short text, without holding the thread. Calls for one path must not overlap. */
export async function writeTextDurably(path: string, text: string): Promise<void> {
  const aside = asideOf(path);
  try {
    {
      await using file = await open(aside, "w", 0o600);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(aside, path);
  } catch (cause) {
    await rm(aside, { force: true });
    throw cause;
  }
  await using folder = await open(dirname(path), "r");
  await folder.sync();
}

function asideOf(path: string): string {
  return `${path}.part`;
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
