import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isWithin, protectedPath } from "./protected-path.ts";

/** What decides, inside a `.git`, which programs git runs. The rest of it git must be able to write. */
const GIT_GUARDED = ["hooks", "config", "config.worktree", "commondir"];

/** A look around before each command, not a proof: what is deeper stays writable for the shell. */
const DEPTH_LIMIT = 4;
const FOLDERS_LIMIT = 400;
const GUARDS_LIMIT = 200;

export type Guarded = {
  /** What must stay read-only. */
  readonly readOnly: readonly string[];
  /**
   * Writable folders that must stay where they are: a `.git` that is renamed takes its read-only parts along, and leaves its
   * name free for another.
   */
  readonly held: readonly string[];
};

/**
 * Existing paths in a writable folder that a command must not change, as `protectedPath` has it for the file tools. What is not
 * there yet cannot be held: the sandbox can only cover what exists. Nor are the folders above a repository or a read-only
 * file: nothing could be moved out of them any more.
 * @param root real path
 */
export async function findGuarded(root: string, workspace: string): Promise<Guarded> {
  const guarded: string[] = [];
  const held: string[] = [];
  let folders = [root];
  let looked = 0;
  for (let depth = 0; depth < DEPTH_LIMIT && folders.length > 0; depth += 1) {
    const below: string[] = [];
    for (const folder of folders) {
      looked += 1;
      if (looked > FOLDERS_LIMIT || guarded.length >= GUARDS_LIMIT) return { readOnly: guarded, held };
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        const isFolder = entry.isDirectory();
        if (isFolder && entry.name === ".git") {
          const parts = await guardedOfGit(path);
          guarded.push(...parts);
          held.push(path, join(path, "modules"), ...parts.map((part) => dirname(part)));
        }
        // A link is not followed: covering it would show the command where it leads.
        else if (entry.isSymbolicLink()) continue;
        else if (protectedPath(path, workspace, []) !== undefined) guarded.push(path);
        else if (isFolder && entry.name !== "node_modules") below.push(path);
      }
    }
    folders = below;
  }
  return { readOnly: guarded, held };
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
