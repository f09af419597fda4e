import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isWithin, protectedPath } from "./protected-path.ts";

/** What decides, inside a `.git`, which programs git runs. The rest of it git must be able to write. */
const GIT_GUARDED = ["hooks", "config", "config.worktree", "commondir"];

/** A look around before each command, not a proof: what is deeper stays writable for the shell. */
const DEPTH_LIMIT = 4;
const FOLDERS_LIMIT = 400;
const GUARDS_LIMIT = 200;

/**
 * Existing paths in a writable folder that must stay read-only for a command, as `protectedPath` has it for the file
 * tools. What is not there yet cannot be held: the sandbox can only cover what exists.
 * @param root real path
 */
export async function findGuarded(root: string, workspace: string): Promise<readonly string[]> {
  const guarded: string[] = [];
  let folders = [root];
  let looked = 0;
  for (let depth = 0; depth < DEPTH_LIMIT && folders.length > 0; depth += 1) {
    const below: string[] = [];
    for (const folder of folders) {
      looked += 1;
      if (looked > FOLDERS_LIMIT || guarded.length >= GUARDS_LIMIT) return guarded;
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        const isFolder = entry.isDirectory();
        if (isFolder && entry.name === ".git") guarded.push(...(await guardedOfGit(path)));
        // A link is not followed: covering it would show the command where it leads.
        else if (entry.isSymbolicLink()) continue;
        else if (protectedPath(path, workspace, []) !== undefined) guarded.push(path);
        else if (isFolder && entry.name !== "node_modules") below.push(path);
      }
    }
    folders = below;
  }
  return guarded;
}

/** A repository's own, and those of its submodules. */
async function guardedOfGit(git: string): Promise<string[]> {
  const modules = join(git, "modules");
  const names = await readdir(modules).catch(() => []);
  const homes = [git, ...names.map((name) => join(modules, name))];
  const found = await Promise.all(
    homes.map(async (home) => {
      const entries = await readdir(home, { withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => GIT_GUARDED.includes(entry.name) && !entry.isSymbolicLink())
        .map((entry) => join(home, entry.name));
    }),
  );
  return found.flat();
}

/** Of some folders those that no other of them contains. */
export function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(other, path)));
}
