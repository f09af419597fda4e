import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";

const OWNER_ONLY = 0o700;

/** Memory's side: what it gives to be looked at. */
export type MemoryExport = {
  /** Another text means another content; undefined while there is no store. */
  revision(): Promise<Result<string | undefined>>;
  /** Writes memory_documents.parquet, memory_chunks.parquet and memory_vectors.parquet into a folder that exists. */
  exportViews(folder: string): Promise<Result<readonly string[]>>;
};

/** A folder with the files; empty when there is no store. `release` when nobody reads it any more. */
export type LentCopy = { readonly folder: string; release(): Promise<void> };

/** Copies of the store for queries: one is written for each state of it that somebody asks about, and shared. */
export type MemoryCopy = { lend(): Promise<Result<LentCopy>> };

type Copy = { readonly revision: string; readonly folder: string; readers: number };

/** @param dir where copies lie; nothing else does, and what an earlier daemon left there is removed. */
export function memoryCopy(memory: MemoryExport, dir: string): MemoryCopy {
  let newest: Copy | undefined;
  let count = 0;
  let queue: Promise<unknown> = Promise.resolve();

  async function current(): Promise<Result<Copy | undefined>> {
    const revision = await memory.revision();
    if (!revision.ok) return revision;
    if (revision.value === undefined) return ok(undefined);
    // Memory's folder may be deleted at any time.
    if (newest?.revision === revision.value && existsSync(newest.folder)) return ok(newest);
    if (count === 0) await rm(dir, { recursive: true, force: true });
    count += 1;
    const folder = join(dir, String(count));
    await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
    const written = await memory.exportViews(folder);
    if (!written.ok) {
      await rm(folder, { recursive: true, force: true });
      return written;
    }
    const old = newest;
    newest = { revision: revision.value, folder, readers: 0 };
    if (old !== undefined) await removeUnread(old);
    return ok(newest);
  }

  async function removeUnread(copy: Copy): Promise<void> {
    if (copy.readers === 0 && copy !== newest) await rm(copy.folder, { recursive: true, force: true });
  }

  async function lendNow(): Promise<Result<LentCopy>> {
    try {
      const copy = await current();
      if (!copy.ok) return copy;
      if (copy.value === undefined) return ok({ folder: "", release: async () => {} });
      const lent = copy.value;
      lent.readers += 1;
      return ok({
        folder: lent.folder,
        async release() {
          lent.readers -= 1;
          await removeUnread(lent);
        },
      });
    } catch (cause) {
      return fail("unavailable", `a copy of memory cannot be written to ${dir}: ${String(cause)}`, {
        hint: "check its owner and the space on its disk",
        cause,
      });
    }
  }

  return {
    lend() {
      const turn = queue.then(lendNow);
      queue = turn.catch(() => undefined);
      return turn;
    },
  };
}
