import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The paths and, where they lead elsewhere, their real places: what is open is known by its real path only. */
export async function withRealPaths(paths: readonly string[]): Promise<readonly string[]> {
  return [...new Set([...paths, ...(await Promise.all(paths.map(realPlace)))])];
}

/** One that is not there yet will be where its folder really is. */
async function realPlace(path: string): Promise<string> {
  return realpath(path).catch(async () =>
    join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path)),
  );
}
