import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, normalize } from "node:path";
import { pipeline } from "node:stream/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isInFolder } from "../../sandbox/permission/grant.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import { MANIFEST_FILE, type PluginManifest } from "../manifest/manifest.ts";
import { type ReadManifest, readManifest } from "../manifest/read-manifest.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import { judgeWants, ownWritePaths, type Reserved } from "../manifest/wants.ts";
import { bundleEntry } from "./bundle.ts";
import { digestFolder, type FolderFile, isByteCode, listFolder } from "./folder-digest.ts";

/** Names with a dot are not plugins: a half-made copy, what an upgrade put aside, and an upgrade that waits for a grant. */
const FRESH_PREFIX = ".new-";
const OLD_PREFIX = ".old-";
const HELD_PREFIX = ".held-";

/** A finished copy of a plugin beside its final place. */
export type StagedPlugin = {
  readonly manifest: PluginManifest;
  /** SHA-256 of the manifest as its author wrote it, hex; the copy's own differs when something was bundled. */
  readonly authoredSha256: string;
  readonly granted: Grant;
  readonly manifestSha256: string;
  readonly filesSha256: string;
  /** Where it will be. */
  readonly folder: string;
  readonly staging: string;
};

export type InstallPlace = { readonly pluginsDir: string; readonly sdkFile: string; readonly reserved: Reserved };

/**
 * Copies a plugin's folder beside its final place, bundles its TypeScript entries, and takes its digest. Everything is
 * judged on the copy, which nobody else can change. Runs nothing of the plugin. Leaves no copy when it fails.
 */
export async function stagePlugin(place: InstallPlace, name: string, source: string): Promise<Result<StagedPlugin>> {
  const staging = join(place.pluginsDir, FRESH_PREFIX + name);
  try {
    await removeTree(staging);
    await mkdir(staging, { recursive: true, mode: 0o700 });
    const staged = await fillStaging(place, await realpath(source), staging, join(place.pluginsDir, name));
    if (!staged.ok) await removeTree(staging);
    return staged;
  } catch (cause) {
    await removeTree(staging).catch(() => {});
    const full = cause instanceof Error && "code" in cause && cause.code === "ENOSPC";
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail(full ? "exhausted" : "unavailable", `plugin "${name}" cannot be copied from ${source}: ${why}`, {
      hint: "look at the rights of that folder and at the free space",
      cause,
    });
  }
}

async function fillStaging(
  place: InstallPlace,
  source: string,
  staging: string,
  folder: string,
): Promise<Result<StagedPlugin>> {
  const files = await listFolder(source, isByteCode);
  if (!files.ok) return files;
  for (const file of files.value) await copyFile(source, staging, file);
  const authored = readManifest(staging);
  if (!authored.ok) return authored;
  const bundled = await bundleEntries(staging, place.sdkFile, authored.value);
  if (!bundled.ok) return bundled;
  const staged = await readStaged(place, staging, folder, join(source, basename(authored.value.file)));
  return staged.ok ? ok({ ...staged.value, authoredSha256: authored.value.sha256 }) : staged;
}

/** Judges a finished copy; `file` is what a person would call its manifest. */
async function readStaged(
  place: InstallPlace,
  staging: string,
  folder: string,
  file: string,
): Promise<Result<StagedPlugin>> {
  const read = readManifest(staging);
  if (!read.ok) return read;
  const { manifest, sha256 } = read.value;
  if (join(place.pluginsDir, manifest.name) !== folder) {
    return fail("conflict", `the plugin of ${file} changed its name while it was copied`, { hint: "install it again" });
  }
  const granted = judgeWants(manifest, folder, place.reserved, file);
  if (!granted.ok) return granted;
  const writable = ownWritePaths(granted.value, folder);
  const loose = manifest.command.find((part) => writable.some((path) => isInFolder(path, normalize(part))));
  if (loose !== undefined) {
    return fail("invalid", `${file}: launch.command runs ${loose}, which the plugin asks to write`, {
      hint: "keep programs and data in different folders",
    });
  }
  const digest = await digestFolder(staging, isOwnWritePath(writable));
  if (!digest.ok) return digest;
  const digests = { authoredSha256: sha256, manifestSha256: sha256, filesSha256: digest.value };
  return ok({ manifest, granted: granted.value, ...digests, folder, staging });
}

/** Keeps a staged upgrade aside until a person grants it; one that waited before is dropped. Survives restarts. */
export async function holdStaged({ staging, folder, manifest }: StagedPlugin): Promise<Result<void>> {
  const held = heldFolder(dirname(folder), manifest.name);
  try {
    await removeTree(held);
    await rename(staging, held);
    return ok(undefined);
  } catch (cause) {
    await removeTree(staging).catch(() => {});
    return fail("unavailable", `the upgrade of plugin "${manifest.name}" cannot be kept in ${held}: ${String(cause)}`, {
      hint: "look at the free space and at the rights of that folder, then install it again",
      cause,
    });
  }
}

/** The upgrade that waits, judged anew; `filesSha256` is what was shown, and other files are `conflict`. */
export async function readHeld(place: InstallPlace, name: string, filesSha256: string): Promise<Result<StagedPlugin>> {
  const held = heldFolder(place.pluginsDir, name);
  const staged = await readStaged(place, held, join(place.pluginsDir, name), held);
  if (!staged.ok || staged.value.filesSha256 === filesSha256) return staged;
  return fail("conflict", `the files of the upgrade that waits for plugin "${name}" are not the ones that were shown`, {
    hint: "install it again",
  });
}

export async function dropHeld(pluginsDir: string, name: string): Promise<void> {
  await removeTree(heldFolder(pluginsDir, name));
}

/** Where the upgrade of a plugin waits. */
export function heldFolder(pluginsDir: string, name: string): string {
  return join(pluginsDir, HELD_PREFIX + name);
}

/** Says whether a relative path holds data of the plugin, which belongs to no digest. */
export function isOwnWritePath(writable: readonly string[]): (path: string) => boolean {
  return (path) => writable.some((one) => isInFolder(one, path));
}

/**
 * Puts a staged copy into its place. Two renames: a crash between them is mended by `recoverInstalls`, one after them
 * leaves files without a fitting grant, which are refused. The old files stay beside it, for a process that still runs on
 * them, until `dropReplaced`; the plugin's own data moves to the new ones at once, where that process goes on writing it.
 * When it fails, the old plugin is back in its place and the copy is gone.
 */
export async function placeStaged({ staging, folder, manifest }: StagedPlugin): Promise<Result<void>> {
  const pluginsDir = dirname(folder);
  const old = join(pluginsDir, OLD_PREFIX + manifest.name);
  try {
    // Of an earlier upgrade, whose process may not even have ended yet.
    await dropReplaced(pluginsDir, manifest.name);
    if ((await lstat(folder).catch(() => undefined)) !== undefined) await rename(folder, old);
    await rename(staging, folder);
    await moveData(old, folder);
    return ok(undefined);
  } catch (cause) {
    // What resists here too is mended at the next start.
    await removeTree(staging).catch(() => {});
    await recoverInstall(pluginsDir, basename(old)).catch(() => {});
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `plugin "${manifest.name}" cannot be put into ${folder}: ${why}`, {
      hint: "look at the free space and at the rights of that folder, then install it again",
      cause,
    });
  }
}

/** Puts the old files and their data back where they were, and removes the new ones. Nothing may run on the new ones. */
export async function undoPlace({ folder, manifest }: StagedPlugin): Promise<Result<void>> {
  const old = join(dirname(folder), OLD_PREFIX + manifest.name);
  const failed = join(dirname(folder), FRESH_PREFIX + manifest.name);
  try {
    await moveData(folder, old, folder);
    await removeTree(failed);
    await rename(folder, failed);
    await rename(old, folder);
    await removeTree(failed);
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `the old files of plugin "${manifest.name}" cannot be put back: ${String(cause)}`, {
      hint: "install the old version again",
      cause,
    });
  }
}

/** Removes what an upgrade put aside. Nothing of it may run any more. */
export async function dropReplaced(pluginsDir: string, name: string): Promise<void> {
  await recoverInstall(pluginsDir, OLD_PREFIX + name);
}

/**
 * Ends installs that a crash cut in two: the old plugin comes back when no new one took its place. For the start: nothing
 * may be staged, and no plugin may run.
 */
export async function recoverInstalls(pluginsDir: string): Promise<void> {
  const names: string[] = await readdir(pluginsDir).catch(() => []);
  for (const name of names) {
    try {
      await recoverInstall(pluginsDir, name);
    } catch {
      // What resists is no plugin by its name, does no harm, and is tried again at the next start.
    }
  }
}

async function recoverInstall(pluginsDir: string, name: string): Promise<void> {
  const folder = join(pluginsDir, name);
  const isThere = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined;
  if (name.startsWith(FRESH_PREFIX)) await removeTree(folder);
  if (name.startsWith(HELD_PREFIX)) {
    // An upgrade of a plugin that is gone is nobody's.
    if (!(await isThere(join(pluginsDir, name.slice(HELD_PREFIX.length))))) await removeTree(folder);
  }
  if (!name.startsWith(OLD_PREFIX) || !(await isThere(folder))) return;
  const place = join(pluginsDir, name.slice(OLD_PREFIX.length));
  if (!(await isThere(place))) return await rename(folder, place);
  await moveData(folder, place);
  await removeTree(folder);
}

/**
 * Moves a plugin's own data from one copy of its files to another, by the manifest in `described`. Doing it again, after a
 * crash, loses nothing.
 */
async function moveData(source: string, folder: string, described = folder): Promise<void> {
  const read = readManifest(described);
  if (!read.ok) return;
  // Judged when it was installed; here only the paths are wanted.
  const wanted = judgeWants(read.value.manifest, folder, []);
  if (!wanted.ok) return;
  const own = ownWritePaths(wanted.value, folder);
  for (const path of own) {
    // It goes along with the folder around it, which would otherwise be put in its place.
    if (own.some((other) => other !== path && isInFolder(other, path))) continue;
    const [from, to] = [join(source, path), join(folder, path)];
    if ((await lstat(from).catch(() => undefined)) === undefined) continue;
    await removeTree(to);
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
  }
}

async function copyFile(source: string, staging: string, { path, executable }: FolderFile): Promise<void> {
  const target = join(staging, path);
  await mkdir(dirname(target), { recursive: true });
  const from = await open(join(source, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const to = await open(target, "wx", executable ? 0o755 : 0o644).catch(async (cause: unknown) => {
    await from.close();
    throw cause;
  });
  // Both streams close their handles, also when one of them fails.
  await pipeline(from.createReadStream(), to.createWriteStream());
}

/**
 * Replaces each TypeScript file of the launch command by one bundled .mjs, in the folder and in its manifest, which is a
 * plugin.json afterwards, whatever it was before.
 */
async function bundleEntries(
  staging: string,
  sdkFile: string,
  { manifest: { command }, json, file }: ReadManifest,
): Promise<Result<void>> {
  const entries = command.filter((part) => part.endsWith(".ts"));
  if (entries.length === 0 && basename(file) === MANIFEST_FILE) return ok(undefined);
  for (const entry of entries) {
    if (normalize(entry).startsWith(".."))
      return fail("invalid", `launch.command names ${entry}, which is outside the plugin's folder`, {
        hint: "put the program into the folder",
      });
    const bundled = await bundleEntry(staging, entry, join(staging, bundledName(entry)), sdkFile);
    if (!bundled.ok) return bundled;
  }
  const { platforms: _others, ...launch } = (json.launch ?? {}) as JsonObject;
  const bundledCommand = command.map((part) => (entries.includes(part) ? bundledName(part) : part));
  // The copy is for this machine alone, and plugin.json says everything that plugin.toml can.
  await rm(file);
  const copy = { ...json, launch: { ...launch, command: bundledCommand } };
  await writeFile(join(staging, MANIFEST_FILE), `${JSON.stringify(copy, null, 2)}\n`);
  // Everything that was needed of them is in the bundle now.
  if (entries.length > 0) await rm(join(staging, "node_modules"), { recursive: true, force: true });
  return ok(undefined);
}

function bundledName(entry: string): string {
  return entry.replace(/\.ts$/, ".mjs");
}
