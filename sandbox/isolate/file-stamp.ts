import { statSync } from "node:fs";

/** Which state of a file this is: any write, and any other file under its name, gives another mark. */
export type FileStamp = { readonly path: string; readonly mark: string };

/** Undefined when there is no such file. A stat of a local file takes microseconds: cheaper than a watcher, and never late. */
export function fileStamp(path: string): FileStamp | undefined {
  const info = statSync(path, { throwIfNoEntry: false });
  return info && { path, mark: `${info.ino}:${info.size}:${info.mtimeMs}:${info.ctimeMs}` };
}

export function isUnchanged(stamp: FileStamp): boolean {
  return fileStamp(stamp.path)?.mark === stamp.mark;
}
