import { realpath } from "node:fs/promises";

/** The paths and, where they lead elsewhere, their real places: what is open is known by its real path only. */
export async function withRealPaths(paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path))); // not there yet: only its name counts
  return [...new Set([...paths, ...real])];
}
