import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";

// A store that is made anew beside the one that is searched, and how it takes its place. In memory's folder it is `rebuild`
// while it is filled, and `rebuilt` from the moment on at which it counts: that one renaming is all that decides. What
// follows is done again at the next opening when it was cut off.

export const STORE_NAME = "memory.duckdb";
export const SEGMENTS_NAME = "segments";
const FILLED_NAME = "rebuild";
const WHOLE_NAME = "rebuilt";

/** Folders of memory whose side folder somebody in this process fills. */
const filling = new Set<string>();

/** An empty folder for a store beside the one in `folder`: until `leaveSide`, openings let it lie. */
export async function enterSide(folder: string): Promise<Result<string>> {
  const side = join(folder, FILLED_NAME);
  if (filling.has(folder)) {
    return fail("conflict", `${side} is being filled already`, { hint: "wait for the rebuilding that is under way" });
  }
  filling.add(folder);
  try {
    await rm(side, { force: true, recursive: true });
    await mkdir(side, { recursive: true, mode: 0o700 });
    return ok(side);
  } catch (cause) {
    filling.delete(folder);
    return fail("unavailable", `memory cannot make ${side}: ${String(cause)}`, { hint: "check its owner", cause });
  }
}

/** Removes what is left of it. What cannot be removed now goes with the next opening. */
export async function leaveSide(folder: string): Promise<void> {
  await rm(join(folder, FILLED_NAME), { force: true, recursive: true }).catch(() => undefined);
  filling.delete(folder);
}

/**
 * The closed store in the side folder takes the place of the one in `folder`, which nobody may have open. Durable on return,
 * and whenever it is cut off there is the old one or the new one.
 */
export async function swapIn(folder: string): Promise<Result<void>> {
  const side = join(folder, FILLED_NAME);
  const log = join(side, `${STORE_NAME}.wal`);
  if (existsSync(log)) {
    return fail("unavailable", `${log} could not be written into its store`, {
      hint: "free some space, then rebuild again; the store that was there stays",
    });
  }
  try {
    // The files of segments are durable since they were built.
    for (const path of [join(side, STORE_NAME), join(side, SEGMENTS_NAME), side]) await syncToDisk(path);
    await rename(side, join(folder, WHOLE_NAME));
    await syncToDisk(folder);
  } catch (cause) {
    return fail("unavailable", `${side} cannot be put in its place: ${String(cause)}`, {
      hint: "check its owner and the free space; the store that was there stays",
      cause,
    });
  }
  return finishSwap(folder);
}

/** Goes on with a swap that was begun; nothing where there is none. Call it before the store is opened. */
export async function finishSwap(folder: string): Promise<Result<void>> {
  const whole = join(folder, WHOLE_NAME);
  if (!existsSync(whole)) return ok(undefined);
  try {
    const [store, segments] = [join(folder, STORE_NAME), join(folder, SEGMENTS_NAME)];
    if (existsSync(join(whole, SEGMENTS_NAME))) {
      await rm(segments, { force: true, recursive: true });
      await rename(join(whole, SEGMENTS_NAME), segments);
    }
    if (existsSync(join(whole, STORE_NAME))) {
      // Of the old one: it would be played into the new one.
      for (const name of [`${store}.wal`, `${store}.aside`]) await rm(name, { force: true });
      await syncToDisk(folder);
      await rename(join(whole, STORE_NAME), store);
    }
    await syncToDisk(folder);
    await rm(whole, { force: true, recursive: true });
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `${whole} cannot be put in its place: ${String(cause)}`, {
      hint: "check its owner; it is tried again at the next use",
      cause,
    });
  }
}

/** What a process that ended in the middle of a filling left behind. Call it while the store is open, so that its lock holds. */
export async function removeLeftover(folder: string): Promise<void> {
  if (!filling.has(folder)) await rm(join(folder, FILLED_NAME), { force: true, recursive: true });
}

/** Names of the files that a store in this folder takes room with, `vectors.duckdb` left out. */
export async function filesOfStore(folder: string): Promise<string[]> {
  const segments = join(folder, SEGMENTS_NAME);
  const names = await readdir(segments).catch(() => []);
  const store = join(folder, STORE_NAME);
  return [store, `${store}.wal`, ...names.map((name) => join(segments, name))];
}

async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}
