import { statSync } from "node:fs";

/** Which state of a file this is: any write, and any other file under its name, gives another mark. */
export type FileStamp = { readonly path: string; readonly mark: string };

/**
 * Undefined when there is no such file. One that cannot be looked at (a link to itself, say) is marked by the reason.
 * A stat of a local file takes microseconds: cheaper than a watcher, and never late.
 */
export function fileStamp(path: string): FileStamp | undefined {
  try {
    const info = statSync(path, { throwIfNoEntry: false });
    return info && { path, mark: `${info.ino}:${info.size}:${info.mtimeMs}:${info.ctimeMs}` };
  } catch (cause) {
    return { path, mark: String((cause as NodeJS.ErrnoException).code) };
  }
}

export function isUnchanged(stamp: FileStamp): boolean {
  return fileStamp(stamp.path)?.mark === stamp.mark;
}
