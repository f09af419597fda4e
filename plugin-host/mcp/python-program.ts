import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isInFolder } from "../../sandbox/permission/grant.ts";
import { isOfSystem } from "./system-folders.ts";

export type Python = {
  /** The interpreter itself, absolute, behind all links. */
  readonly binary: string;
  /** What it needs beside the system's folders: its own. */
  readonly read: readonly string[];
};

/**
 * The Python that servers run on: the system's, which every sandbox shows, or else the first of the search path whose folder may be
 * shown. Scripts that choose one, as pyenv has them, are passed over: they need all of what they choose from.
 */
export function findPython(searchPath: string, homeDir: string): Python | undefined {
  const folders = searchPath.split(":").filter((one) => isAbsolute(one));
  const found = folders.flatMap((folder) => pythonAt(join(folder, "python3"), homeDir));
  return found.find(({ read }) => read.length === 0) ?? found[0];
}

function pythonAt(path: string, homeDir: string): readonly Python[] {
  try {
    const binary = realpathSync(path);
    if (!statSync(binary).isFile() || isScript(binary)) return [];
    if (isOfSystem(binary)) return [{ binary, read: [] }];
    const folder = dirname(dirname(binary));
    return folder === "/" || isInFolder(folder, homeDir) ? [] : [{ binary, read: [folder] }];
  } catch {
    // Not there, or not for us.
    return [];
  }
}

function isScript(file: string): boolean {
  const opened = openSync(file, "r");
  try {
    const start = Buffer.alloc(2);
    readSync(opened, start);
    return start.toString("latin1") === "#!";
  } finally {
    closeSync(opened);
  }
}
