import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { PluginAdmin } from "../core/domain/admin.ts";
import type { Failure } from "../core/domain/failure.ts";
import type { Memory } from "../core/domain/memory.ts";
import type { ToolSource } from "../core/domain/tool.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import { openGrantStore } from "./install/grant-store.ts";
import { recoverInstalls } from "./install/install.ts";
import { createPluginAdmin, failureOf } from "./plugin-admin.ts";
import { createRegistry } from "./registry.ts";

export type PluginHostOptions = {
  /**
   * Installed plugins, one folder each; absolute, like all paths here. The folder above it is clawd's data folder, which
   * no plugin may write, nor see because it was granted something above that.
   */
  readonly pluginsDir: string;
  /** What people granted; out of every plugin's reach. */
  readonly grantsDir: string;
  /** For sockets; made with mode 0700. Its path should be short: at most 84 bytes. */
  readonly runtimeDir: string;
  readonly launcher: Launcher;
  /** The Node that plugins with the command "node" run on. */
  readonly nodeBinary: string;
  readonly hostVersion: string;
  /** What "clawd/plugin" means in a plugin that is bundled at install. */
  readonly sdkFile: string;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Unpredictable bytes: tokens, names of folders, jitter. */
  readonly random: (bytes: number) => Uint8Array;
  readonly recall: Memory["search"];
};

export type PluginHost = {
  readonly tools: ToolSource;
  readonly admin: PluginAdmin;
  /** What is wrong with plugins that are turned on. */
  problems(): readonly Failure[];
  /** Stops every plugin, all at once; at most seven seconds. */
  close(): Promise<void>;
};

/** Opens the home of plugins. Starts none, and reads none before somebody asks. */
export async function openPluginHost(options: PluginHostOptions): Promise<PluginHost> {
  const { pluginsDir, grantsDir, runtimeDir, launcher, sdkFile, now } = options;
  for (const dir of [pluginsDir, grantsDir, runtimeDir]) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await chmod(dir, 0o700);
  }
  await recoverInstalls(pluginsDir);
  const reserved = [dirname(pluginsDir), grantsDir, runtimeDir];
  const grants = openGrantStore(grantsDir);
  const registry = createRegistry({ ...options, grants, reserved });
  return {
    tools: registry.tools,
    admin: createPluginAdmin({ registry, grants, place: { pluginsDir, sdkFile, reserved }, launcher, now }),
    problems: () =>
      registry.all().flatMap(({ live }) => {
        const failure = live.ok ? failureOf(live.value, launcher) : live.failure;
        return failure === undefined ? [] : [failure];
      }),
    close: registry.close,
  };
}
