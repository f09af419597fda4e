import type { Failure, Result } from "../../core/domain/failure.ts";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import type { StoredGrant } from "../install/grant-store.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { isFar } from "../remote/far-command.ts";
import type { LivePlugin } from "./live-plugin.ts";

/** Why the plugin may not start on this machine; undefined when it may. */
export function missingSandbox(
  launcher: Launcher,
  name: string,
  grant: StoredGrant,
  source?: string,
): Failure | undefined {
  if (launcher.level !== "none" || grant.trusted) return undefined;
  const trust = source === undefined ? `claw plugin grant ${name} --trust` : `"trust": true in its entry of ${source}`;
  return {
    code: "denied",
    message: `plugin "${name}" may not run without an operating-system sandbox, and there is none here (${launcher.detail})`,
    hint: `install bubblewrap (apt-get install bubblewrap) and restart the daemon, or trust it: ${trust}`,
  };
}

/** Why the plugin may not start while others are not there; undefined when it may. */
export function missingDependency(
  { name, dependencies }: PluginManifest,
  find: (name: string) => { readonly live: Result<LivePlugin> } | undefined,
): Failure | undefined {
  for (const needed of dependencies) {
    const live = find(needed)?.live;
    if (live?.ok && live.value.grant.enabled) continue;
    const [is, hint] =
      live === undefined
        ? ["is not installed", "install it: claw plugin install FOLDER"]
        : live.ok
          ? ["is turned off", `turn it on: claw plugin enable ${needed}`]
          : ["may not run", live.failure.hint ?? "look at it: claw plugin list"];
    return { code: "unavailable", message: `plugin "${name}" needs plugin "${needed}", which ${is}`, hint };
  }
  return undefined;
}

/** Why a plugin that may run does not. */
export function failureOf(plugin: LivePlugin, launcher: Launcher): Failure | undefined {
  if (!plugin.grant.enabled) return undefined;
  const state = plugin.supervisor.state();
  if (state.is === "refused" || state.is === "pausing" || state.is === "broken") return state.failure;
  return hindrance(plugin, launcher);
}

/** What stands in the way of its next process; undefined when nothing does. */
export function hindrance(
  { generation, grant, manifest, adopted }: LivePlugin,
  launcher: Launcher,
): Failure | undefined {
  const blocked = generation.blocked();
  if (blocked !== undefined || isFar(manifest)) return blocked;
  return missingSandbox(launcher, manifest.name, grant, adopted?.source);
}
