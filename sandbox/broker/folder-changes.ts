import { mkdir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isInFolder } from "../permission/grant.ts";
import { type AdmittedPath, admitPath, type FileDesk, judgeReal } from "./file-place.ts";
import { MODE_BITS, openEntry, type WritableEntry } from "./file-writing.ts";
import { emptyFolder, pathsBelow, TREE_DEPTH_MAX, TREE_ENTRIES_MAX } from "./folder-tree.ts";
import { realPlace } from "./ground-grant.ts";
import { type OpenedPlace, openPlace } from "./opened-place.ts";
import { done, type Outcome, onSystem, type Refused, refuse, systemCode, systemError } from "./outcome.ts";

const NEW_FOLDER_MODE = 0o777;
/** Folders that one recursive `mkdir` makes. */
const NEW_FOLDERS_MAX = 64;

export async function makeFolder(
  desk: FileDesk,
  named: string,
  recursive: boolean,
  mode: number | null,
): Promise<Outcome<null>> {
  const act = `mkdir '${named}'`;
  const bits = mode === null ? NEW_FOLDER_MODE : mode & MODE_BITS;
  const admitted = await admitPath(desk, "write", named, act);
  if (!admitted.ok) return admitted;
  if (recursive) return makeFolders(desk, admitted.value, bits, act);
  const entry = await openEntry(desk, "write", admitted.value, act, false);
  if (!entry.ok) return entry;
  await using place = entry.value;
  const written = await admitted.value.admission.allow(place.real);
  if (!written.ok) return written;
  if (place.facts !== undefined) return systemError("EEXIST", act);
  desk.effect();
  return await onSystem(act, async () => {
    await mkdir(place.folder.entry(place.name), bits);
    return null;
  });
}

/** Makes what is missing of a path one by one, each in the opened folder before it. */
async function makeFolders(
  desk: FileDesk,
  { admission, path }: AdmittedPath,
  bits: number,
  act: string,
): Promise<Outcome<null>> {
  const target = await realPlace(path);
  const refused = await judgeReal(desk, "write", admission, target);
  if (refused) return refused;
  const missing: string[] = [];
  let at = target;
  let opened = await onSystem(act, () => openPlace(at, true));
  while (!opened.ok && opened.error.name === "NotFound" && at !== "/" && missing.length < NEW_FOLDERS_MAX) {
    missing.unshift(basename(at));
    at = dirname(at);
    opened = await onSystem(act, () => openPlace(at, true));
  }
  if (!opened.ok) {
    const written = await admission.allow(target);
    if (!written.ok) return written;
    return missing.length < NEW_FOLDERS_MAX
      ? opened
      : refuse("Error", `${act}: ${NEW_FOLDERS_MAX} folders or more are missing, and one call makes fewer`);
  }
  let folder = opened.value;
  try {
    const stillRefused = await judgeReal(desk, "write", admission, join(folder.real, ...missing));
    if (stillRefused) return stillRefused;
    const written = await admission.allow(join(folder.real, ...missing));
    if (!written.ok) return written;
    if (!folder.facts.isDirectory()) return systemError(missing.length === 0 ? "EEXIST" : "ENOTDIR", act);
    desk.effect();
    for (const name of missing) {
      const below = await onSystem(act, () => makeBelow(folder, name, bits));
      if (!below.ok) return below;
      await folder[Symbol.asyncDispose]();
      folder = below.value;
    }
    return done(null);
  } finally {
    await folder[Symbol.asyncDispose]();
  }
}

async function makeBelow(folder: OpenedPlace, name: string, bits: number): Promise<OpenedPlace> {
  try {
    await mkdir(folder.entry(name), bits);
  } catch (cause) {
    // Somebody was faster: what lies there now is looked at like everything else.
    if (systemCode(cause) !== "EEXIST") throw cause;
  }
  const below = await openPlace(folder.entry(name), false);
  if (below.facts.isDirectory()) return below;
  await below[Symbol.asyncDispose]();
  throw Object.assign(new Error("what was made as a folder is none"), { code: "ENOTDIR" });
}

/** Removes a file, a link itself, or a folder, with `recursive` also one that is not empty. */
export async function removeEntry(desk: FileDesk, named: string, recursive: boolean): Promise<Outcome<null>> {
  const act = `remove '${named}'`;
  const admitted = await admitPath(desk, "write", named, act);
  if (!admitted.ok) return admitted;
  const { admission } = admitted.value;
  const entry = await openEntry(desk, "write", admitted.value, act, false);
  if (!entry.ok) return entry;
  await using place = entry.value;
  const { facts } = place;
  if (facts?.isDirectory()) {
    const judged = await judgeTree(desk, named, act, place, (paths) => judgeRemoval(desk, place, paths, recursive));
    if (judged !== undefined) return typeof judged === "string" ? admission.deny(place.real, judged) : judged;
  }
  const written = await admission.allow(place.real);
  if (!written.ok) return written;
  if (facts === undefined) return systemError("ENOENT", act);
  desk.effect();
  return await onSystem(act, async () => {
    if (facts.isDirectory()) await removeFolder(place, recursive);
    else await unlink(place.folder.entry(place.name));
    return null;
  });
}

async function removeFolder(place: WritableEntry, recursive: boolean): Promise<void> {
  const path = place.folder.entry(place.name);
  if (recursive) {
    await using folder = await openPlace(path, false);
    if (folder.facts.isDirectory()) await emptyFolder(folder);
  }
  await rmdir(path);
}

/** Looks through the tree of a folder that is going to be moved or removed. A text says what in it forbids that. */
async function judgeTree(
  desk: FileDesk,
  named: string,
  act: string,
  place: WritableEntry,
  judge: (paths: readonly string[]) => string | undefined,
): Promise<string | Refused | undefined> {
  const denied = deniedBelow(desk, place.real);
  if (denied !== undefined) return denied;
  const listed = await onSystem(act, async () => {
    await using folder = await openPlace(place.folder.entry(place.name), false);
    return folder.facts.isDirectory() ? await pathsBelow(folder) : [];
  });
  if (!listed.ok) return listed;
  if (listed.value !== undefined) return judge(listed.value);
  return refuse(
    "Error",
    `"${named}" has more than ${TREE_ENTRIES_MAX} entries, or some ${TREE_DEPTH_MAX} folders deep, which is the limit of one call`,
  );
}

/** Something in a folder is denied: then the folder is not moved or removed as a whole. */
function deniedBelow(desk: FileDesk, real: string): string | undefined {
  const rule = desk
    .grant()
    .deny.find((each) => (each.kind === "read" || each.kind === "write") && each.path && isInFolder(real, each.path));
  return rule === undefined ? undefined : "something in it is denied";
}

function judgeRemoval(
  desk: FileDesk,
  place: WritableEntry,
  paths: readonly string[],
  recursive: boolean,
): string | undefined {
  if (!recursive) return undefined;
  return paths
    .map((path) => desk.rules.refusal("write", join(place.real, path), desk.grant()))
    .find((refusal) => refusal !== undefined);
}

/** Moves a file, a link itself or a folder. It is taken away there (read and write) and made here (write). */
export async function renameEntry(desk: FileDesk, from: string, to: string): Promise<Outcome<null>> {
  const act = `rename '${from}' -> '${to}'`;
  const reading = await admitPath(desk, "read", from, act);
  if (!reading.ok) return reading;
  const taking = await admitPath(desk, "write", from, act);
  if (!taking.ok) return taking;
  const making = await admitPath(desk, "write", to, act);
  if (!making.ok) return making;

  const source = await openEntry(desk, "write", taking.value, act, false);
  if (!source.ok) return source;
  await using taken = source.value;
  const unreadable = await judgeReal(desk, "read", reading.value.admission, taken.real);
  if (unreadable) return unreadable;
  const target = await openEntry(desk, "write", making.value, act, false);
  if (!target.ok) return target;
  await using made = target.value;

  if (taken.facts?.isDirectory()) {
    const denied = deniedBelow(desk, made.real);
    const judged =
      denied ?? (await judgeTree(desk, from, act, taken, (paths) => judgeMove(desk, taken.real, made.real, paths)));
    if (typeof judged === "string") return making.value.admission.deny(made.real, judged);
    if (judged !== undefined) return judged;
  }
  for (const [{ admission }, real] of [
    [reading.value, taken.real],
    [taking.value, taken.real],
    [making.value, made.real],
  ] as const) {
    const written = await admission.allow(real);
    if (!written.ok) return written;
  }
  if (taken.facts === undefined) return systemError("ENOENT", act);
  desk.effect();
  return await onSystem(act, async () => {
    await rename(taken.folder.entry(taken.name), made.folder.entry(made.name));
    return null;
  });
}

/** What may not be written must not get there by its folder, nor lose its protection by being carried away. */
function judgeMove(desk: FileDesk, from: string, to: string, paths: readonly string[]): string | undefined {
  const grant = desk.grant();
  return paths
    .flatMap((path) => {
      const [there, here] = [from, to].map((root) => desk.rules.refusal("write", join(root, path), grant));
      return (there === undefined) === (here === undefined) ? [] : [there ?? here];
    })
    .find((refusal) => refusal !== undefined);
}
