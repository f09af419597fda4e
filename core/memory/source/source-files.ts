import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { chunkText, formOf } from "./chunker.ts";
import { type IgnoreRule, isIgnored, parseIgnoreRules } from "./ignore-rules.ts";

// Runs in a worker thread: plain synchronous calls are the fastest and block nobody there.

const FILE_LIMIT_BYTES = 1_048_576;
const IGNORE_FILE_LIMIT_BYTES = 262_144;
export const FOLDER_LIMIT_FILES = 200_000;
const FOLDER_LIMIT_DEPTH = 64;
/** A batch ends after this much text, so that no message to the main thread is large. */
const BATCH_LIMIT_CHARS = 1_048_576;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", ".hg", ".svn", "node_modules", "dist"]);
const PATH_SEPARATOR = "\0";

export type WalkOutcome =
  | { readonly status: "walked"; readonly paths: string }
  | { readonly status: "too-many" }
  | { readonly status: "failed"; readonly reason: string };

export type SourceChunk = {
  /** 53 bits of a hash over place and text: the same in every rebuild. */
  readonly id: number;
  readonly line: number;
  /** Path below the indexed folder and headings: indexed with the text. */
  readonly title: string;
  readonly text: string;
};

/** `unchanged` names which of the hashes that were asked about it still has. */
export type FileOutcome =
  | { readonly status: "unchanged"; readonly hash: string }
  | { readonly status: "changed"; readonly hash: string; readonly chunks: readonly SourceChunk[] }
  | { readonly status: "skipped" };

export type ReadRequest = {
  /** Real path of the folder. */
  readonly root: string;
  readonly files: readonly { readonly path: string; readonly hashes: readonly string[] }[];
};

/**
 * Regular files below a folder, relative, as one string (a single string crosses threads much faster than many). Leaves out
 * version control, node_modules, dist and what .gitignore files name, the folder's own and those below it. Symbolic links are not followed.
 */
export function walkFolder(root: string): WalkOutcome {
  const paths: string[] = [];
  try {
    const whole = walkInto(root, "", [], 0, paths);
    return whole ? { status: "walked", paths: paths.join(PATH_SEPARATOR) } : { status: "too-many" };
  } catch (cause) {
    return { status: "failed", reason: String(cause) };
  }
}

export function splitPaths(paths: string): string[] {
  return paths === "" ? [] : paths.split(PATH_SEPARATOR);
}

/** Reads files until about a mebibyte of text came together: may answer fewer than were asked, in their order. */
export function readSources(request: ReadRequest): FileOutcome[] {
  const outcomes: FileOutcome[] = [];
  let chars = 0;
  for (const file of request.files) {
    if (chars >= BATCH_LIMIT_CHARS) break;
    const outcome = readSource(request.root, file.path, file.hashes);
    if (outcome.status === "changed") for (const chunk of outcome.chunks) chars += chunk.text.length;
    outcomes.push(outcome);
  }
  return outcomes;
}

function walkInto(
  root: string,
  below: string,
  inherited: readonly IgnoreRule[],
  depth: number,
  paths: string[],
): boolean {
  if (depth > FOLDER_LIMIT_DEPTH) return true;
  const entries = listFolder(join(root, below), depth === 0);
  const own = entries.some((entry) => entry.name === ".gitignore" && entry.isFile()) ? readRules(root, below) : [];
  const rules = own.length === 0 ? inherited : [...inherited, ...own];
  for (const entry of entries) {
    const path = `${below}${entry.name}`;
    if (isIgnored(rules, path, entry.isDirectory())) continue;
    if (entry.isFile()) paths.push(path);
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) {
      if (!walkInto(root, `${path}/`, rules, depth + 1, paths)) return false;
    }
    if (paths.length > FOLDER_LIMIT_FILES) return false;
  }
  return true;
}

/** Only the root must be readable; a folder below that is not has no files for us. */
function listFolder(folder: string, isRoot: boolean) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    if (isRoot) throw cause;
    return [];
  }
}

function readRules(root: string, below: string): IgnoreRule[] {
  const bytes = readInside(root, `${below}.gitignore`, IGNORE_FILE_LIMIT_BYTES);
  return bytes === undefined ? [] : parseIgnoreRules(bytes.toString("utf8"), below);
}

function readSource(root: string, path: string, hashes: readonly string[]): FileOutcome {
  const bytes = readInside(root, path, FILE_LIMIT_BYTES);
  if (bytes === undefined || bytes.includes(0)) return { status: "skipped" };
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (hashes.includes(hash)) return { status: "unchanged", hash };
  const chunks = chunkText(bytes.toString("utf8"), formOf(path)).map((chunk): SourceChunk => {
    const title = [path, ...chunk.headings].join(" › ");
    return {
      id: chunkId(root, title, chunk.line, chunk.column, chunk.text),
      line: chunk.line,
      title,
      text: chunk.text,
    };
  });
  return { status: "changed", hash, chunks };
}

/** The bytes of a regular file that really lies in the folder; undefined for anything else and for what is too large. */
function readInside(root: string, path: string, limitBytes: number): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    const full = join(root, path);
    // Without O_NONBLOCK, opening a pipe that took the file's place would wait for ever.
    descriptor = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > limitBytes || !liesIn(root, descriptor, full)) return undefined;
    const buffer = Buffer.alloc(stat.size);
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    return buffer.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Judges the open handle, not the name: a folder on the way may have been swapped for a link meanwhile. */
function liesIn(root: string, descriptor: number, path: string): boolean {
  const real = process.platform === "linux" ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(path);
  return real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

function chunkId(root: string, title: string, line: number, column: number, text: string): number {
  const digest = createHash("sha256").update([root, title, line, column, text].join(PATH_SEPARATOR)).digest();
  return Number(digest.readBigUInt64BE() >> 11n);
}
