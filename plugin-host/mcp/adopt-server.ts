import { createHash } from "node:crypto";
import { join } from "node:path";
import type { AdoptedPlugin } from "../manifest/adopted-plugin.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { BRIDGE_VERSION, writeSettings } from "../mcp-bridge/bridge-settings.ts";
import type { McpServer } from "./server-entry.ts";
import { type UsualGrantPlace, usualLaunch } from "./usual-grant.ts";

/** Packages may have to be fetched first. */
const START_TIMEOUT_MS = 30_000;
/** Longer than for other plugins: servers keep what they were told in their memory. */
const IDLE_STOP_MS = 60 * 60_000;
/** The longest call, however many signs of life there are. */
const CALL_LIMIT_MS = 10 * 60_000;
const LIMITS = { memoryMib: 512, processes: 256, cpuPercent: 0, diskMib: 1024 };

export type AdoptPlace = UsualGrantPlace & {
  /** The bundled bridge. */
  readonly bridgeFile: string;
  /** Folder of the servers' own folders. */
  readonly serversDir: string;
  /** The file that names the server. */
  readonly file: string;
  /** The folder whose conversations alone have it. */
  readonly workspace: string | undefined;
  /** The name of its plugin, and what the names of its tools begin with: "mcp_NAME" unless another server has that. */
  readonly plugin: string;
  /** Names of the plugins of all other servers. */
  readonly others: readonly string[];
};

/** Makes a plugin of a server: its process is the bridge, its grant is what the entry says. */
export function adoptServer(server: McpServer, place: AdoptPlace): AdoptedPlugin {
  const { plugin, file, serversDir, bridgeFile } = place;
  const folder = join(serversDir, plugin);
  const launch = usualLaunch(server, place);
  const allow = [...new Set([...launch.allow, ...server.allow])];
  const { reach } = server;
  const dialled =
    reach.kind === "stdio" ? { url: "", headers: {}, env: reach.env, login: undefined } : { ...reach, env: {} };
  const settings = writeSettings({
    ...{ server: server.name, transport: reach.kind, command: launch.command },
    ...{ url: dialled.url, headers: dialled.headers, env: dialled.env },
    ...{
      silenceMs: server.timeoutMs,
      callMs: CALL_LIMIT_MS,
      atOnce: server.concurrentCalls,
      samples: server.sampling !== undefined,
    },
    ...{ roots: foldersOf(server.allow), login: dialled.login },
  });
  const manifest = manifestOf(server, place, allow, folder);
  const { trusted, enabled, sampling } = server;
  const whole = JSON.stringify([manifest, settings, trusted, enabled, sampling]);
  return {
    ...{ manifest, folder, settings, programs: [bridgeFile], source: file, trusted, enabled, generation: sampling },
    secrets: [
      ...[...Object.values(dialled.env), ...Object.values(dialled.headers)],
      ...(dialled.login === undefined ? [] : [dialled.login.clientSecret].filter((secret) => secret !== "")),
    ],
    sha256: createHash("sha256").update(whole).digest("hex"),
  };
}

/** What its owner lets it read or write, as it is told of it. */
function foldersOf(allow: readonly string[]): readonly string[] {
  const paths = allow.flatMap((one) => /^(?:read|write)=(.*)$/s.exec(one)?.[1] ?? []);
  return [...new Set(paths)];
}

function manifestOf(
  { name, concurrentCalls, reach }: McpServer,
  { plugin, others, workspace, bridgeFile }: AdoptPlace,
  allow: readonly string[],
  folder: string,
): PluginManifest {
  const prefix = `${plugin}_`;
  return {
    ...{ name: plugin, version: BRIDGE_VERSION, description: `the MCP server ${name}`, author: "" },
    ...{
      dependencies: [],
      tools: [],
      hooks: [],
      modelProviders: [],
      embedders: [],
      memorySources: [],
      slashCommands: [],
    },
    ...{ configSchema: undefined, config: {}, warnings: [], protocolMajors: [2] },
    dynamic: true,
    toolStyle: {
      category: "mcp",
      prefix,
      longerPrefixes: others.map((other) => `${other}_`).filter((other) => other.startsWith(prefix)),
      note: `(Words of the MCP server "${name}":) `,
      workspace,
    },
    wants: allow.map((permission) => ({ permission, reason: "" })),
    limits: { ...LIMITS, concurrentCalls },
    command: ["node", bridgeFile],
    env: reach.kind === "stdio" ? { HOME: join(folder, "data") } : {},
    startTimeoutMs: START_TIMEOUT_MS,
    protocol: "clawd",
    idleStopMs: IDLE_STOP_MS,
    // Two of them may quarrel about the same files.
    singleton: reach.kind === "stdio",
  };
}
