import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import { type OpenedFolder, openParent } from "./confined-open.ts";
import { onFile } from "./file-failure.ts";
import { inTurn } from "./path-turns.ts";
import { protectedPath } from "./protected-path.ts";
import { placeInside, shownPath, type Workspace } from "./workspace.ts";

const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Without the set-id bits: they vouched for the old content. */
const PERMISSION_BITS = 0o777n;

/** Temp names tried before giving up; each is one that a crash left behind, or another writer's. */
const TEMP_NAMES_LIMIT = 100;

export type Written = { readonly shown: string; readonly created: boolean };

/**
 * Writes a whole file of the workspace: a reader sees the old content or the new, and on return the new is on disk.
 * Mode and, where possible, owner stay. Creates missing folders. Links, folders and protected paths are refused.
 * @param expected what the file was when its content was read; another one now is a `conflict`
 */
export async function writeAtomically(
  workspace: Workspace,
  path: string,
  content: Uint8Array,
  expected?: BigIntStats,
): Promise<Result<Written>> {
  const place = placeInside(workspace, path);
  if (!place.ok) return place;
  const shown = shownPath(workspace, place.value);
  if (shown === ".") return fail("invalid", "the path is the workspace itself, which is a folder");
  const parent = await openParent(workspace, place.value, (real) => checkWritable(workspace, real, shown));
  if (!parent.ok) return parent;
  await using _ = parent.value.handle;
  return await replaceEntry(parent.value, basename(place.value), shown, content, expected);
}

function checkWritable(workspace: Workspace, real: string, shown: string): Result<void> {
  const because = protectedPath(real, workspace.real, workspace.hidden);
  if (because === undefined) return ok(undefined);
  return fail("denied", `${shown} may not be written: ${because}`, { hint: "ask the person to change it" });
}

async function replaceEntry(
  folder: OpenedFolder,
  name: string,
  shown: string,
  content: Uint8Array,
  expected: BigIntStats | undefined,
): Promise<Result<Written>> {
  const old = await lookAt(folder, name, shown);
  if (!old.ok) return old;
  const temp = await createTemp(folder, shown);
  if (!temp.ok) return temp;
  const tempPath = folder.entry(temp.value.name);
  const written = await fill(temp.value.handle, shown, content, old.value);
  const finished = written.ok
    ? await inTurn(join(folder.real, name), () => putInPlace(folder, tempPath, name, shown, expected))
    : written;
  if (!finished.ok) await unlink(tempPath).catch(() => {}); // what failed before matters more
  return finished.ok ? ok({ shown, created: old.value === undefined }) : finished;
}

async function fill(
  handle: FileHandle,
  shown: string,
  content: Uint8Array,
  old: BigIntStats | undefined,
): Promise<Result<void>> {
  await using file = handle;
  return await onFile(shown, async () => {
    await file.writeFile(content);
    if (old !== undefined) await keepOwnerAndMode(file, old);
    await file.sync();
  });
}

async function putInPlace(
  folder: OpenedFolder,
  tempPath: string,
  name: string,
  shown: string,
  expected: BigIntStats | undefined,
): Promise<Result<void>> {
  if (expected !== undefined) {
    const now = await lookAt(folder, name, shown);
    if (!now.ok) return now;
    if (now.value === undefined || !isSame(now.value, expected)) return changedMeanwhile(shown);
  }
  return onFile(shown, async () => {
    await rename(tempPath, folder.entry(name));
    await folder.handle.sync();
  });
}

/** What is there now: undefined for nothing, a failure for what must not be replaced. */
async function lookAt(folder: OpenedFolder, name: string, shown: string): Promise<Result<BigIntStats | undefined>> {
  const found = await onFile(shown, () => lstat(folder.entry(name), { bigint: true }));
  if (!found.ok) return found.failure.code === "not_found" ? ok(undefined) : found;
  if (found.value.isSymbolicLink()) {
    return fail("denied", `${shown} is a symbolic link`, { hint: "write the file that it leads to" });
  }
  return found.value.isFile() ? found : fail("invalid", `${shown} is there and is not a regular file`);
}

async function createTemp(
  folder: OpenedFolder,
  shown: string,
): Promise<Result<{ readonly name: string; readonly handle: FileHandle }>> {
  for (let attempt = 0; attempt < TEMP_NAMES_LIMIT; attempt += 1) {
    const name = `.clawd-write-${attempt}.tmp`;
    try {
      return ok({ name, handle: await open(folder.entry(name), CREATE_FLAGS, 0o666) });
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") continue;
      return onFile(shown, () => Promise.reject(cause));
    }
  }
  return fail("exhausted", `${shown} cannot be written: ${TEMP_NAMES_LIMIT} unfinished writes lie in its folder`, {
    hint: "remove the files .clawd-write-*.tmp there",
  });
}

async function keepOwnerAndMode(handle: FileHandle, old: BigIntStats): Promise<void> {
  const now = await handle.stat({ bigint: true });
  if (now.uid !== old.uid || now.gid !== old.gid) {
    // Only root may give files away; for everybody else the file becomes the writer's, as with any editor.
    await handle.chown(Number(old.uid), Number(old.gid)).catch(() => {});
  }
  await handle.chmod(Number(old.mode & PERMISSION_BITS));
}

function isSame(left: BigIntStats, right: BigIntStats): boolean {
  return left.ino === right.ino && left.dev === right.dev && left.mtimeNs === right.mtimeNs && left.size === right.size;
}

function changedMeanwhile(shown: string): Failed {
  return fail("conflict", `${shown} was changed by somebody else in the meantime`, {
    hint: "read it again, then repeat",
  });
}
