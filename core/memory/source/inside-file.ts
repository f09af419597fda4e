import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";

/** The last moment that has a date. */
const LATEST_MS = 8.64e15;

export type InsideFile =
  | { readonly status: "read"; readonly bytes: Buffer; readonly changedAtMs: number }
  /** Nothing that we would read: a link, a pipe, outside the folder, gone. */
  | { readonly status: "no-file" }
  | { readonly status: "too-large" }
  | { readonly status: "failed"; readonly reason: string };

/** The bytes of a regular file that really lies in the folder. */
export function readInside(root: string, path: string, limitBytes: number): InsideFile {
  let descriptor: number | undefined;
  try {
    const full = join(root, path);
    // Without O_NONBLOCK, opening a pipe that took the file's place would wait for ever.
    descriptor = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || !liesIn(root, descriptor, full)) return { status: "no-file" };
    if (stat.size > limitBytes) return { status: "too-large" };
    return { status: "read", bytes: readAll(descriptor, stat.size), changedAtMs: momentOf(stat.mtimeMs) };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ELOOP" || code === "ENOTDIR" || code === "ENXIO"
      ? { status: "no-file" }
      : { status: "failed", reason: String(cause) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Some file systems keep times that no date stands for; 0 for those. */
function momentOf(changedAtMs: number): number {
  return Math.abs(changedAtMs) <= LATEST_MS ? Math.trunc(changedAtMs) : 0;
}

/** One call may read less than there is. */
function readAll(descriptor: number, size: number): Buffer {
  const buffer = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const read = readSync(descriptor, buffer, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

/** Judges the open handle, not the name: a folder on the way may have been swapped for a link meanwhile. */
function liesIn(root: string, descriptor: number, path: string): boolean {
  const real = process.platform === "linux" ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(path);
  return real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}
