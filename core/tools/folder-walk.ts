import { opendir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { type OpenedFolder, openSubfolder } from "./confined-open.ts";
import { onFile } from "./file-failure.ts";

/** Folders that hold what programs made, or git's own. */
const NOT_WALKED: ReadonlySet<string> = new Set([".git", ".hg", ".svn", "node_modules"]);

/** Each level keeps a folder open. */
const DEPTH_LIMIT = 32;
/** Entries read of one folder; what is beyond is reported, not seen. */
const FOLDER_LIMIT_ENTRIES = 20_000;

export type WalkedKind = "file" | "folder" | "link" | "other";

export type Walked = {
  readonly folder: OpenedFolder;
  readonly name: string;
  readonly kind: WalkedKind;
};

export type WalkOptions = {
  readonly recursive: boolean;
  readonly signal: AbortSignal;
  /** Hears of what was not looked into, and why. */
  readonly skipped: (what: string) => void;
};

/**
 * Every entry below a folder, sorted by name, a folder before what is in it. Follows no link and never leaves the folder,
 * because each one is opened through its parent. A yielded `folder` is open until the next step.
 */
export async function* walkFolder(folder: OpenedFolder, options: WalkOptions, depth = 1): AsyncGenerator<Walked> {
  for (const { name, kind } of await readEntries(folder, options)) {
    if (options.signal.aborted) return;
    if (folder.workspace.hidden.includes(join(folder.real, name))) continue;
    yield { folder, name, kind };
    if (kind !== "folder" || !options.recursive || NOT_WALKED.has(name)) continue;
    const below = depth < DEPTH_LIMIT ? await openSubfolder(folder, name) : undefined;
    if (below?.ok) {
      await using _ = below.value.handle;
      yield* walkFolder(below.value, options, depth + 1);
    } else if (below === undefined) options.skipped(`${folder.shown}/${name} is too deep`);
    else if (below.failure.code !== "not_found") options.skipped(below.failure.message);
  }
}

/** Where a link in an open folder leads, as it is written there. */
export async function readLinkEntry({ folder, name }: Walked): Promise<string> {
  return readlink(folder.entry(name)).catch(() => "?"); // gone since the folder was read
}

async function readEntries(
  folder: OpenedFolder,
  { skipped }: WalkOptions,
): Promise<readonly { readonly name: string; readonly kind: WalkedKind }[]> {
  const entries: { name: string; kind: WalkedKind }[] = [];
  const read = await onFile(folder.shown, async () => {
    for await (const entry of await opendir(folder.entry("."))) {
      if (entries.length === FOLDER_LIMIT_ENTRIES) {
        skipped(`${folder.shown} has more than ${FOLDER_LIMIT_ENTRIES.toLocaleString("en-US")} entries`);
        break;
      }
      const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "other";
      entries.push({ name: entry.name, kind });
    }
  });
  if (!read.ok) skipped(read.failure.message);
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}
