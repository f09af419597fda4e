import { createHash } from "node:crypto";
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type IgnoreRule, isIgnored, type MatchBudget, parseIgnoreRules } from "./ignore-rules.ts";
import { readInside } from "./inside-file.ts";

// Runs in a worker thread: plain synchronous calls are the fastest and block nobody there.

const IGNORE_FILE_LIMIT_BYTES = 262_144;
export const FOLDER_LIMIT_FILES = 200_000;
const FOLDER_LIMIT_DEPTH = 64;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(["node_modules", "target", "__pycache__", "dist"]);
/** In the order in which they are heard: the last word is ours. */
export const IGNORE_FILES = [".gitignore", ".clawdignore"] as const;
const PATH_SEPARATOR = "\0";
/** Some twenty seconds' worth: ten times what a large folder with long .gitignore files takes. */
const MATCH_LIMIT_STEPS = 4_000_000_000;

/** Paths are relative to the root; folders have no slash at the end, and the root itself is among them as "". */
export type WalkOutcome =
  | { readonly status: "walked"; readonly paths: string; readonly folders: string }
  | { readonly status: "too-many" }
  /** Patterns of its ignore files are made to take for ever. */
  | { readonly status: "too-slow" }
  | { readonly status: "failed"; readonly reason: string };

export type WalkRequest = {
  /** Real path of the folder. */
  readonly root: string;
  /** Relative paths of files and folders; given, nothing but them and what is below them. */
  readonly only?: readonly string[];
};

type Walk = {
  readonly root: string;
  /** Undefined for everything. */
  readonly only: ReadonlySet<string> | undefined;
  /** The folders above those. */
  readonly above: ReadonlySet<string>;
  readonly files: string[];
  readonly folders: string[];
  readonly budget: MatchBudget;
};

/**
 * Regular files and folders below a folder, each list as one string (a single string crosses threads much faster than many).
 * Leaves out names that begin with a dot, node_modules, target, __pycache__, dist, and what .gitignore and .clawdignore files name,
 * the folder's own and those below it. Symbolic links are not followed.
 */
export function walkFolder({ root, only }: WalkRequest): WalkOutcome {
  const wanted = only?.includes("") ? undefined : only;
  const walk: Walk = {
    root,
    only: wanted && new Set(wanted),
    above: foldersAbove(wanted ?? []),
    files: [],
    folders: [],
    budget: { left: MATCH_LIMIT_STEPS },
  };
  try {
    const whole = walkInto(walk, "", [], 0, wanted === undefined);
    if (walk.budget.left < 0) return { status: "too-slow" };
    if (!whole) return { status: "too-many" };
    return {
      status: "walked",
      paths: walk.files.join(PATH_SEPARATOR),
      folders: walk.folders.map((folder) => folder.slice(0, -1)).join(PATH_SEPARATOR),
    };
  } catch (cause) {
    return { status: "failed", reason: String(cause) };
  }
}

/** Another text when a file came, went or changed, as far as its size and times tell. */
export function stampFolder(root: string): string {
  const walked = walkFolder({ root });
  if (walked.status !== "walked") return walked.status;
  const digest = createHash("sha256");
  for (const path of splitPaths(walked.paths)) {
    const stat = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
    digest.update(`${path}\0${stat?.size}\0${stat?.mtimeNs}\0${stat?.ino}\0`);
  }
  return digest.digest("hex");
}

export function splitPaths(paths: string): string[] {
  return paths === "" ? [] : paths.split(PATH_SEPARATOR);
}

/** The root is a list of one empty name, which is not the same as an empty list. */
export function splitFolders(folders: string): string[] {
  return folders.split(PATH_SEPARATOR);
}

/** Whether a name alone says that nothing in or below it is read. */
export function isSkippedName(name: string): boolean {
  return name.startsWith(".") || SKIPPED_FOLDERS.has(name);
}

function foldersAbove(paths: readonly string[]): ReadonlySet<string> {
  const above = new Set<string>();
  for (const path of paths) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) above.add(path.slice(0, at));
  }
  return above;
}

/** False when there are too many files, or the budget is spent. */
function walkInto(walk: Walk, below: string, inherited: readonly IgnoreRule[], depth: number, all: boolean): boolean {
  if (depth > FOLDER_LIMIT_DEPTH) return true;
  const entries = listFolder(join(walk.root, below), depth === 0);
  walk.folders.push(below);
  const own = IGNORE_FILES.filter((name) => entries.some((entry) => entry.name === name && entry.isFile())).flatMap(
    (name) => readRules(walk.root, below, name),
  );
  const rules = own.length === 0 ? inherited : [...inherited, ...own];
  for (const entry of entries) {
    const path = `${below}${entry.name}`;
    const whole = all || walk.only?.has(path) === true;
    if (isLeftOut(entry, path, rules, walk.budget) || !(whole || walk.above.has(path))) continue;
    if (walk.budget.left < 0) return false;
    if (entry.isFile() && whole) walk.files.push(path);
    else if (entry.isDirectory() && !walkInto(walk, `${path}/`, rules, depth + 1, whole)) return false;
    if (walk.files.length > FOLDER_LIMIT_FILES || walk.folders.length > FOLDER_LIMIT_FILES) return false;
  }
  return true;
}

function isLeftOut(entry: Dirent, path: string, rules: readonly IgnoreRule[], budget: MatchBudget): boolean {
  const isFolder = entry.isDirectory();
  return (
    entry.name.startsWith(".") ||
    (isFolder && SKIPPED_FOLDERS.has(entry.name)) ||
    isIgnored(rules, path, isFolder, budget)
  );
}

/** Only the root must be readable; a folder below that is not has no files for us. */
function listFolder(folder: string, isRoot: boolean): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    if (isRoot) throw cause;
    return [];
  }
}

function readRules(root: string, below: string, name: string): IgnoreRule[] {
  const file = readInside(root, `${below}${name}`, IGNORE_FILE_LIMIT_BYTES);
  return file.status === "read" ? parseIgnoreRules(file.bytes.toString("utf8"), below) : [];
}
