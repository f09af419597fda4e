import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fail, type Result } from "../../core/domain/failure.ts";
import { type ReadManifest, readManifest } from "../manifest/read-manifest.ts";

/** Manifests that are read. Every name is listed all the same: whoever guards something must not vanish by being the next. */
const MAX_PLUGINS = 1_000;

export type FoundPlugin = { readonly name: string; readonly folder: string; readonly read: Result<ReadManifest> };

/**
 * Finds the plugins of a folder, by name; executes nothing. A missing folder holds none. Names with a dot are ours. A file
 * counts when its owner may execute it: it may be a plugin of one file, which runs only after it was installed.
 */
export function discoverPlugins(pluginsDir: string): readonly FoundPlugin[] {
  let names: string[];
  try {
    names = readdirSync(pluginsDir, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith(".") && (!entry.isFile() || isExecutable(join(pluginsDir, entry.name))))
      .map((entry) => entry.name);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return [];
    // Not the same as none: whoever asks next tries again, and until then no guard is taken for one that was removed.
    throw cause;
  }
  return names
    .sort()
    .map((name, index) => (index < MAX_PLUGINS ? findPlugin(pluginsDir, name) : oneTooMany(pluginsDir, name)));
}

/** One plugin by its folder's name, which must be its own. */
export function findPlugin(pluginsDir: string, name: string): FoundPlugin {
  const folder = join(pluginsDir, name);
  const info = lstatSync(folder, { throwIfNoEntry: false });
  if (info?.isSymbolicLink() === true) {
    const hint = `install a copy of it: claw plugin install ${folder}`;
    return { name, folder, read: fail("invalid", `${folder} is a symbolic link`, { hint }) };
  }
  if (info?.isFile() === true) {
    const hint = `if it speaks JSON-RPC, install it: claw plugin install ${folder}`;
    return { name, folder, read: fail("denied", `${folder} is an executable that nobody installed`, { hint }) };
  }
  const read = readManifest(folder);
  if (read.ok && read.value.manifest.name !== name) {
    const message = `the plugin in ${folder} calls itself "${read.value.manifest.name}"`;
    return { name, folder, read: fail("invalid", message, { hint: "name the folder after the plugin" }) };
  }
  return { name, folder, read };
}

function oneTooMany(pluginsDir: string, name: string): FoundPlugin {
  const message = `plugin "${name}" comes after the first ${MAX_PLUGINS} by name, and no more are read`;
  const hint = "remove some that nobody needs: claw plugin remove NAME, and restart the daemon";
  return { name, folder: join(pluginsDir, name), read: fail("exhausted", message, { hint }) };
}

function isExecutable(file: string): boolean {
  return ((lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o100) !== 0;
}
