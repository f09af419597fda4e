import { lstatSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { type FileStamp, fileStamp, isUnchanged } from "../program/file-stamp.ts";
import {
  brokenFolder,
  isCommandFile,
  isFolderGuard,
  isScriptFile,
  readCommandHooks,
  readScriptHook,
} from "./hook-file.ts";
import type { KnownHook } from "./known-hook.ts";

export type HookFolder = {
  /** The hooks in the order of running; at once, when nothing has changed since the last time. */
  hooks(): readonly KnownHook[] | Promise<readonly KnownHook[]>;
  /** All that lie there, also those beyond the limit, which are not run; as of the last look. */
  found(): readonly KnownHook[];
};

/** Files with hooks that are run, those of packages included: each is looked at whenever something happens. */
export const HOOKS_MAX = 256;
/** Files that are open at one moment of reading the folder. */
const READS_AT_ONCE = 32;

function isPackage(folder: string, name: string): boolean {
  if (name.startsWith(".") || name === "node_modules") return false;
  try {
    return statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // A link to itself: a script of that name is shown as one that cannot be read.
    return false;
  }
}

/** Commands of one file stay in the order in which they stand there. */
function orderName(hook: KnownHook): string {
  return hook.kind === "command" ? hook.group : hook.name;
}

function inOrder(left: KnownHook, right: KnownHook): number {
  const [one, other] = [orderName(left), orderName(right)];
  const byName = one < other ? -1 : one > other ? 1 : 0;
  const byFile = left.file < right.file ? -1 : left.file > right.file ? 1 : 0;
  return left.header.priority - right.header.priority || byName || byFile;
}

/** Two hooks of one name cannot be told apart by people: the later one is broken until one of them is renamed. */
function markDoubles(hooks: readonly KnownHook[]): KnownHook[] {
  const owners = new Map<string, KnownHook>();
  return hooks.map((hook) => {
    const owner = owners.get(hook.name);
    owners.set(hook.name, owner ?? hook);
    if (!owner) return hook;
    const double = fail("conflict", `${basename(hook.file)}: ${basename(owner.file)} has the same name`, {
      hint: "rename one of them",
    });
    const failure = () => double.failure;
    return hook.kind === "script" ? { ...hook, failure, program: async () => double } : { ...hook, failure };
  });
}

type Found = { readonly stamp: FileStamp; readonly hooks: readonly KnownHook[] };

/** Of a link that leads nowhere, which is no file that has gone: what it led to may be a guard. Never current. */
function strayStamp(path: string): FileStamp | undefined {
  return lstatSync(path, { throwIfNoEntry: false }) && { path, mark: "leads nowhere" };
}

function tooMany(count: number): Failure {
  return fail("exhausted", `the hooks folder holds ${count} hooks, ${HOOKS_MAX} are the limit; remove some`, {
    hint: "until then no tool is called: claw hook remove NAME, or move files out of the folder",
  }).failure;
}

/** None when it has just been removed. */
async function namesIn(hooksDir: string): Promise<Result<readonly string[]>> {
  try {
    return ok(await readdir(hooksDir));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return ok([]);
    return fail("unavailable", "the hooks folder cannot be read", {
      hint: `look at ${hooksDir} and its rights`,
      cause,
    });
  }
}

/** Watches a folder of hooks by looking at it whenever somebody asks, which is never too late. */
export function hookFolder(hooksDir: string): HookFolder {
  /** The folder itself, and each package. */
  let folders: readonly FileStamp[] | undefined;
  let known = new Map<string, Found>();
  /** What a change is looked for in. */
  let watched: readonly FileStamp[] = [];
  let ordered: readonly KnownHook[] = [];
  let scanning: Promise<readonly KnownHook[]> | undefined;

  async function readOne(file: string): Promise<readonly [string, Found] | undefined> {
    const stamp = fileStamp(file) ?? strayStamp(file);
    if (!stamp) return undefined;
    const before = known.get(file);
    if (before?.stamp.mark === stamp.mark) return [file, before];
    if (isCommandFile(basename(file))) return [file, { stamp, hooks: await readCommandHooks(file) }];
    const hook = await readScriptHook(file, hooksDir);
    return [file, { stamp, hooks: hook ? [hook] : [] }];
  }

  /** Files of a package; what was known of it when it cannot be looked at, since guards must not vanish by that. */
  async function packageFiles(folder: string): Promise<readonly string[]> {
    const names = await readdir(folder).catch(() => undefined);
    if (names) return names.filter(isScriptFile).map((name) => join(folder, name));
    const before = [...known.keys()].filter((file) => dirname(file) === folder);
    // The folder itself stands for what nobody can look at: a broken hook of its name.
    return before.length > 0 ? before : [folder];
  }

  async function readAll(files: readonly string[]): Promise<Map<string, Found>> {
    const found = new Map<string, Found>();
    for (let at = 0; at < files.length; at += READS_AT_ONCE) {
      const read = await Promise.all(files.slice(at, at + READS_AT_ONCE).map(readOne));
      for (const entry of read) if (entry) found.set(...entry);
    }
    return found;
  }

  /** Beyond the limit the later ones are not run; a guard may be one of them, so the folder itself denies. */
  function takeFound(): void {
    const hookFiles = [...known.values()].filter(({ hooks }) => hooks.length > 0);
    const taken = hookFiles.slice(0, HOOKS_MAX).flatMap(({ hooks }) => hooks);
    const guards = hookFiles.length > HOOKS_MAX ? [brokenFolder(hooksDir, tooMany(hookFiles.length))] : [];
    ordered = [...guards, ...markDoubles(taken.sort(inOrder))];
    const others = [...known.values()].filter(({ hooks }) => hooks.length === 0);
    // One more than the limit is enough: while they are unchanged there are too many, whatever becomes of the rest.
    watched = [...others, ...hookFiles.slice(0, HOOKS_MAX + 1)].map(({ stamp }) => stamp);
  }

  async function scan(): Promise<readonly KnownHook[]> {
    const top = fileStamp(hooksDir);
    const listed = top ? await namesIn(hooksDir) : ok([]);
    // Nothing is current then: the next one looks again.
    if (!listed.ok) return [brokenFolder(hooksDir, listed.failure), ...ordered.filter((hook) => !isFolderGuard(hook))];
    const names = listed.value;
    const packages = names.filter((name) => isPackage(hooksDir, name)).map((name) => join(hooksDir, name));
    const stamps = [top ?? [], ...packages.map((folder) => fileStamp(folder) ?? [])].flat();
    const own = names.filter((name) => isScriptFile(name) || isCommandFile(name)).map((name) => join(hooksDir, name));
    const files = [...own, ...(await Promise.all(packages.map(packageFiles))).flat()].sort();
    known = await readAll(files);
    takeFound();
    folders = stamps;
    return ordered;
  }

  function isCurrent(): boolean {
    if (!folders?.every(isUnchanged)) return false;
    if (folders.length === 0 && fileStamp(hooksDir)) return false;
    return watched.every(isUnchanged);
  }

  return {
    hooks() {
      if (scanning) return scanning;
      if (isCurrent()) return ordered;
      scanning = scan().finally(() => {
        scanning = undefined;
      });
      return scanning;
    },
    found: () => [...known.values()].flatMap(({ hooks }) => hooks).sort(inOrder),
  };
}
