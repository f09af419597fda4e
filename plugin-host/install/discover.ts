import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fail, type Result } from "../../core/domain/failure.ts";
import { type ReadManifest, readManifest } from "../manifest/read-manifest.ts";

const MAX_PLUGINS = 1000;

export type FoundPlugin = { readonly name: string; readonly folder: string; readonly read: Result<ReadManifest> };

/** Finds the plugins of a folder, by name; executes nothing. A missing folder holds none. Names with a dot are ours. */
export function discoverPlugins(pluginsDir: string): readonly FoundPlugin[] {
  let names: string[];
  try {
    names = readdirSync(pluginsDir, { withFileTypes: true })
      .filter((entry) => !entry.isFile())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
  return names
    .filter((name) => !name.startsWith("."))
    .sort()
    .slice(0, MAX_PLUGINS)
    .map((name) => findPlugin(pluginsDir, name));
}

/** One plugin by its folder's name, which must be its own. */
export function findPlugin(pluginsDir: string, name: string): FoundPlugin {
  const folder = join(pluginsDir, name);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) {
    const hint = `install a copy of it: claw plugin install ${folder}`;
    return { name, folder, read: fail("invalid", `${folder} is a symbolic link`, { hint }) };
  }
  const read = readManifest(folder);
  if (read.ok && read.value.manifest.name !== name) {
    const message = `the plugin in ${folder} calls itself "${read.value.manifest.name}"`;
    return { name, folder, read: fail("invalid", message, { hint: "name the folder after the plugin" }) };
  }
  return { name, folder, read };
}
