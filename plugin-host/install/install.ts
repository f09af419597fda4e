import { constants } from "node:fs";
import { cp, lstat, mkdir, open, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { pipeline } from "node:stream/promises";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isInFolder } from "../../sandbox/permission/grant.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import { MANIFEST_FILE, type PluginManifest } from "../manifest/manifest.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import { judgeWants, ownWritePaths, type Reserved } from "../manifest/wants.ts";
import { bundleEntry } from "./bundle.ts";
import { digestFolder, type FolderFile, listFolder } from "./folder-digest.ts";

/** Names with a dot are not plugins: a half-made copy, and what an upgrade put aside. */
const FRESH_PREFIX = ".new-";
const OLD_PREFIX = ".old-";

/** A finished copy of a plugin beside its final place. */
export type StagedPlugin = {
  readonly manifest: PluginManifest;
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
    await recoverInstalls(place.pluginsDir);
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
  const files = await listFolder(source, () => false);
  if (!files.ok) return files;
  for (const file of files.value) await copyFile(source, staging, file);
  const bundled = await bundleEntries(staging, place.sdkFile);
  if (!bundled.ok) return bundled;
  const read = readManifest(staging);
  if (!read.ok) return read;
  const { manifest, sha256 } = read.value;
  if (join(place.pluginsDir, manifest.name) !== folder) {
    return fail("conflict", `the plugin in ${source} changed its name while it was copied`, {
      hint: "install it again",
    });
  }
  const granted = judgeWants(manifest, folder, place.reserved);
  if (!granted.ok) return granted;
  const writable = ownWritePaths(granted.value, folder);
  const loose = manifest.command.find((part) => writable.some((path) => isInFolder(path, normalize(part))));
  if (loose !== undefined) {
    return fail(
      "invalid",
      `${join(source, MANIFEST_FILE)}: launch.command runs ${loose}, which the plugin asks to write`,
      {
        hint: "keep programs and data in different folders",
      },
    );
  }
  const digest = await digestFolder(staging, isOwnWritePath(writable));
  if (!digest.ok) return digest;
  return ok({ manifest, granted: granted.value, manifestSha256: sha256, filesSha256: digest.value, folder, staging });
}

/** Says whether a relative path holds data of the plugin, which belongs to no digest. */
export function isOwnWritePath(writable: readonly string[]): (path: string) => boolean {
  return (path) => writable.some((one) => isInFolder(one, path));
}

/**
 * Puts a staged copy into its place, the plugin's own data carried over. Nothing of the plugin may run. Two renames: a
 * crash between them is mended by `recoverInstalls`, one after them leaves files without a fitting grant, which are refused.
 * When it fails, the old plugin is back in its place and the copy is gone.
 */
export async function placeStaged({ staging, folder, granted, manifest }: StagedPlugin): Promise<Result<void>> {
  const old = join(dirname(folder), OLD_PREFIX + manifest.name);
  try {
    const existed = (await lstat(folder).catch(() => undefined)) !== undefined;
    if (existed) {
      for (const path of ownWritePaths(granted, folder)) await carryOver(join(folder, path), join(staging, path));
      await removeTree(old);
      await rename(folder, old);
    }
    await rename(staging, folder);
    return ok(undefined);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `plugin "${manifest.name}" cannot be put into ${folder}: ${why}`, {
      hint: "look at the free space and at the rights of that folder, then install it again",
      cause,
    });
  } finally {
    await recoverInstalls(dirname(folder));
  }
}

/**
 * Ends installs, also those that a crash or a failure cut in two: the old plugin comes back when no new one took its
 * place. Nothing may be staged meanwhile.
 */
export async function recoverInstalls(pluginsDir: string): Promise<void> {
  const names: string[] = await readdir(pluginsDir).catch(() => []);
  for (const name of names) {
    try {
      await recoverInstall(pluginsDir, name, names);
    } catch {
      // What resists is no plugin by its name, does no harm, and is tried again at the next install and the next start.
    }
  }
}

async function recoverInstall(pluginsDir: string, name: string, others: readonly string[]): Promise<void> {
  if (name.startsWith(FRESH_PREFIX)) await removeTree(join(pluginsDir, name));
  if (!name.startsWith(OLD_PREFIX)) return;
  const place = name.slice(OLD_PREFIX.length);
  if (others.includes(place)) await removeTree(join(pluginsDir, name));
  else await rename(join(pluginsDir, name), join(pluginsDir, place));
}

async function carryOver(from: string, to: string): Promise<void> {
  if ((await lstat(from).catch(() => undefined)) === undefined) return;
  await removeTree(to);
  await mkdir(dirname(to), { recursive: true });
  // Links stay links: what they point at is not the plugin's.
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
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

/** Replaces each TypeScript file of the launch command by one bundled .mjs, in the folder and in its plugin.json. */
async function bundleEntries(staging: string, sdkFile: string): Promise<Result<void>> {
  const read = readManifest(staging);
  if (!read.ok) return read;
  const { command } = read.value.manifest;
  const entries = command.filter((part) => part.endsWith(".ts"));
  if (entries.length === 0) return ok(undefined);
  for (const entry of entries) {
    if (normalize(entry).startsWith(".."))
      return fail("invalid", `launch.command names ${entry}, which is outside the plugin's folder`);
    const bundled = await bundleEntry(staging, entry, join(staging, bundledName(entry)), sdkFile);
    if (!bundled.ok) return bundled;
  }
  const file = join(staging, MANIFEST_FILE);
  const json = JSON.parse(await readFile(file, "utf8")) as { launch: { command: string[] } };
  json.launch.command = command.map((part) => (entries.includes(part) ? bundledName(part) : part));
  await writeFile(file, `${JSON.stringify(json, null, 2)}\n`);
  // Everything that was needed of them is in the bundle now.
  await rm(join(staging, "node_modules"), { recursive: true, force: true });
  return ok(undefined);
}

function bundledName(entry: string): string {
  return entry.replace(/\.ts$/, ".mjs");
}
