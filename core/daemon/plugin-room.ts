import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { machineClock } from "../../plugin-host/life/clock.ts";
import { type McpDesk, openMcpDesk } from "../../plugin-host/mcp/mcp-desk.ts";
import { openPackageFetcher } from "../../plugin-host/mcp/package-fetcher.ts";
import { openPluginHost, type PluginHost } from "../../plugin-host/plugin-host.ts";
import { openPluginRecords } from "../../plugin-host/service/plugin-records.ts";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import type { Failure } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import type { Memory } from "../domain/memory.ts";
import type { Config } from "./config.ts";
import { CONFIG_FILE, loadConfig } from "./config-file.ts";
import type { Home } from "./home.ts";
import { strangersRecall } from "./memory-ports.ts";
import { pluginSettings } from "./plugin-settings.ts";
import type { Surroundings } from "./surroundings.ts";

/** Plugins, and the servers of the Model Context Protocol, which run as plugins that nobody installed. */
export type PluginRoom = { readonly plugins: PluginHost; readonly mcp: McpDesk };

export type PluginRoomParts = {
  readonly home: Home;
  readonly around: Surroundings;
  readonly config: Config;
  /** Hears what is wrong with config.toml when a plugin's settings were read. */
  readonly tellProblems: (problems: readonly Failure[]) => void;
};

/** No process is started before it is needed. */
export async function openPluginRoom(
  { home, around, config, tellProblems }: PluginRoomParts,
  { journal, launcher, memory }: { readonly journal: Journal; readonly launcher: Launcher; readonly memory: Memory },
): Promise<PluginRoom> {
  const { env, now, programs, nodeBinary } = around;
  const plugins = await openPluginHost({
    pluginsDir: home.plugins,
    grantsDir: home.grants,
    runtimeDir: home.runtime,
    launcher,
    env,
    nodeBinary,
    hostVersion: around.version,
    sdkFile: join(programs, "..", "plugin-host", "sdk", "plugin.ts"),
    breaker: config.breaker,
    settings: pluginSettings(home.dir, tellProblems),
    now,
    random: randomBytes,
    recall: strangersRecall(memory),
    records: openPluginRecords(journal),
    artifactsDir: home.artifacts,
    remote: { ...config.remote, dir: home.remote, log: around.log },
    offersDir: home.offers,
  });
  const mcp = openMcpDesk(
    {
      homeFile: join(home.dir, "mcp.json"),
      approvedFile: join(home.dir, "mcp-approved.json"),
      serversDir: home.mcp,
      bridgeFile: join(programs, "mcp-bridge.js"),
      homeDir: env.HOME ?? "",
      env,
      configured: async () => {
        const { config: now } = await loadConfig(home.dir);
        return { file: join(home.dir, CONFIG_FILE), servers: now.mcpServers };
      },
    },
    plugins.adopted,
    openPackageFetcher({ launcher, nodeBinary, env, homeDir: env.HOME ?? "", clock: machineClock(now) }),
  );
  return { plugins, mcp };
}
