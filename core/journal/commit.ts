import type { Failure } from "../domain/failure.ts";
import type { DiskFile } from "./disk.ts";
import { closedForGood, diskFull, isDiskFull } from "./journal-fault.ts";

/**
 * - `durable`: all of it is on disk.
 * - `refused`: none of it is, and the file is what it was.
 * - `broken`: the file can no longer be trusted past its last durable byte.
 */
export type Commit =
  | { readonly status: "durable" }
  | { readonly status: "refused" | "broken"; readonly failure: Failure };

/** Writes bytes at the end of the durable part of a file and syncs them. Never rejects. */
export async function commit(file: DiskFile, path: string, endOffset: number, bytes: Buffer): Promise<Commit> {
  try {
    await file.write(bytes, endOffset);
  } catch (cause) {
    return isDiskFull(cause)
      ? takeBack(file, path, endOffset, cause)
      : breakOff(file, path, endOffset, "write to", cause);
  }
  try {
    await file.sync();
    return { status: "durable" };
  } catch (cause) {
    // Never tried again: after a failed sync the kernel forgets the pages, and a second sync would report success.
    return breakOff(file, path, endOffset, "sync", cause);
  }
}

/** A full disk may have taken a part of the bytes: they must be gone for good before anyone is told that they are. */
async function takeBack(file: DiskFile, path: string, endOffset: number, reason: unknown): Promise<Commit> {
  try {
    await file.truncate(endOffset);
    await file.sync();
    return { status: "refused", failure: diskFull(path, reason) };
  } catch (cause) {
    return { status: "broken", failure: closedForGood(path, "shorten", cause) };
  }
}

/**
 * The page cache may hold lines that the disk does not have, and the next start would take them for good. Cutting them
 * off is all that can be done, and on a broken disk it may fail too.
 */
async function breakOff(
  file: DiskFile,
  path: string,
  endOffset: number,
  doing: string,
  cause: unknown,
): Promise<Commit> {
  await file.truncate(endOffset).catch(() => {});
  return { status: "broken", failure: closedForGood(path, doing, cause) };
}
