import { constants, fstatSync, readlinkSync } from "node:fs";
import { type FileHandle, mkdir, open, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import { fileFailure, onFile } from "./file-failure.ts";
import { checkReal, placeInside, shownPath, type Workspace } from "./workspace.ts";

// Whoever checks a path and opens it afterwards opens what a rename put there in between. So everything is opened
// first, the open handle is asked where it really is, and from then on only the handle is used.

const HAS_PROC = process.platform === "linux";

// A FIFO without a writer would hold the call for ever, and a terminal could become the daemon's own.
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;

export type OpenedFile = { readonly handle: FileHandle; readonly shown: string; readonly real: string };

export type OpenedFolder = {
  readonly workspace: Workspace;
  readonly handle: FileHandle;
  readonly shown: string;
  readonly real: string;
  /** A path that leads to an entry of this very folder, wherever it has been moved meanwhile. */
  readonly entry: (name: string) => string;
};

/** Opens a regular file of the workspace for reading. The caller closes the handle. */
export async function openFile(workspace: Workspace, path: string): Promise<Result<OpenedFile>> {
  const place = placeInside(workspace, path);
  if (!place.ok) return place;
  const opened = await openVerified(workspace, place.value, READ_FLAGS);
  if (!opened.ok) return opened;
  return isRegular(opened.value.handle) ? opened : closeAnd(opened.value.handle, notRegular(opened.value.shown));
}

/** Opens a folder of the workspace. The caller closes the handle. */
export async function openFolder(workspace: Workspace, path: string): Promise<Result<OpenedFolder>> {
  const place = placeInside(workspace, path);
  if (!place.ok) return place;
  const opened = await openVerified(workspace, place.value, FOLDER_FLAGS);
  return opened.ok ? ok(asFolder(workspace, opened.value)) : opened;
}

/** Opens a regular file in an opened folder; a link there is refused. */
export async function openEntry(folder: OpenedFolder, name: string): Promise<Result<OpenedFile>> {
  const shown = join(folder.shown, name);
  const opened = await onFile(shown, () => open(folder.entry(name), READ_FLAGS | constants.O_NOFOLLOW));
  if (!opened.ok) return opened;
  const real = checkReal(folder.workspace, join(folder.real, name), shown);
  if (!real.ok) return closeAnd(opened.value, real);
  const file = { handle: opened.value, shown, real: real.value };
  return isRegular(file.handle) ? ok(file) : closeAnd(file.handle, notRegular(shown));
}

/** Opens a folder in an opened folder; a link there is refused. */
export async function openSubfolder(folder: OpenedFolder, name: string): Promise<Result<OpenedFolder>> {
  const shown = join(folder.shown, name);
  const opened = await onFile(shown, () => open(folder.entry(name), FOLDER_FLAGS | constants.O_NOFOLLOW));
  if (!opened.ok) return opened;
  const real = checkReal(folder.workspace, join(folder.real, name), shown);
  if (!real.ok) return closeAnd(opened.value, real);
  return ok(asFolder(folder.workspace, { handle: opened.value, shown, real: real.value }));
}

/**
 * Opens the folder that a file is going to be written into, creating what is missing of it one by one.
 * @param judge asked for the real path of the file before anything is created
 */
export async function openParent(
  workspace: Workspace,
  path: string,
  judge: (real: string) => Result<void>,
): Promise<Result<OpenedFolder>> {
  const missing: string[] = [];
  let at = dirname(path);
  let opened = await openFolder(workspace, at);
  while (!opened.ok && opened.failure.code === "not_found" && at !== dirname(at)) {
    missing.unshift(basename(at));
    at = dirname(at);
    opened = await openFolder(workspace, at);
  }
  if (!opened.ok) return opened;
  const allowed = judge(join(opened.value.real, ...missing, basename(path)));
  if (!allowed.ok) return closeAnd(opened.value.handle, allowed);
  let folder = opened.value;
  for (const name of missing) {
    const below = await createSubfolder(folder, name);
    await folder.handle.close();
    if (!below.ok) return below;
    folder = below.value;
  }
  return ok(folder);
}

async function createSubfolder(folder: OpenedFolder, name: string): Promise<Result<OpenedFolder>> {
  try {
    await mkdir(folder.entry(name));
  } catch (cause) {
    const wasFaster = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    if (!wasFaster) return fileFailure(cause, join(folder.shown, name));
  }
  return openSubfolder(folder, name);
}

async function openVerified(workspace: Workspace, place: string, flags: number): Promise<Result<OpenedFile>> {
  const shown = shownPath(workspace, place);
  const opened = await onFile(shown, () => open(place, flags));
  if (!opened.ok) return opened;
  const handle = opened.value;
  const real = await onFile(shown, () => realPathOf(handle, place));
  if (!real.ok) return closeAnd(handle, real);
  const checked = checkReal(workspace, real.value, shown);
  return checked.ok ? ok({ handle, shown, real: checked.value }) : closeAnd(handle, checked);
}

async function realPathOf(handle: FileHandle, place: string): Promise<string> {
  // The kernel answers this, and the stat of an open file, from memory: a trip through the thread pool costs far more.
  if (HAS_PROC) return readlinkSync(`/proc/self/fd/${handle.fd}`);
  const real = await realpath(place);
  const [opened, named] = await Promise.all([handle.stat({ bigint: true }), stat(real, { bigint: true })]);
  if (opened.ino === named.ino && opened.dev === named.dev) return real;
  throw Object.assign(new Error(`${place} was replaced while it was opened`), { code: "ESTALE" });
}

function asFolder(workspace: Workspace, opened: OpenedFile): OpenedFolder {
  const root = HAS_PROC ? `/proc/self/fd/${opened.handle.fd}` : opened.real;
  return { ...opened, workspace, entry: (name) => `${root}/${name}` };
}

function isRegular(handle: FileHandle): boolean {
  return fstatSync(handle.fd).isFile();
}

function notRegular(shown: string): Failed {
  return fail("invalid", `${shown} is not a regular file`, { hint: "list shows folders" });
}

async function closeAnd<T>(handle: FileHandle, outcome: T): Promise<T> {
  await handle.close();
  return outcome;
}
