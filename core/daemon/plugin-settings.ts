import { join } from "node:path";
import { type ReadSettings, settingsFor } from "../../plugin-host/manifest/settings.ts";
import type { Failure } from "../domain/failure.ts";
import { CONFIG_FILE, loadConfig } from "./config-file.ts";

/**
 * Reads [plugins.NAME] of a data folder's config.toml afresh each time, so that a reload brings what a person has
 * written since. A broken file means the last good one, as at the daemon's start; `tell` hears what is wrong with it.
 */
export function pluginSettings(home: string, tell: (problems: readonly Failure[]) => void): ReadSettings {
  return async (plugin) => {
    const { config, problems } = await loadConfig(home);
    tell(problems);
    return settingsFor(plugin, config.plugins.get(plugin.name), join(home, CONFIG_FILE));
  };
}
