import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Failure } from "../../core/domain/failure.ts";
import type { AdoptedPlugin } from "../manifest/adopted-plugin.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { BRIDGE_VERSION, writeSettings } from "../mcp-bridge/bridge-settings.ts";
import type { FetchedPackage } from "./fetched-package.ts";
import type { McpServer } from "./server-entry.ts";
import { type UsualGrantPlace, usualLaunch } from "./usual-grant.ts";

/** A large program on a slow disk. */
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
  /** What was fetched for it; undefined where nothing was, or needs to be. */
  readonly fetched: FetchedPackage | undefined;
};

/** Makes a plugin of a server: its process is the bridge, its grant is what the entry says. */
export function adoptServer(server: McpServer, place: AdoptPlace): AdoptedPlugin {
  const { plugin, file, serversDir, bridgeFile } = place;
  const folder = join(serversDir, plugin);
  const launch = usualLaunch(server, place, place.fetched);
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
  const missing = missingPackage(server, place.fetched);
  const whole = JSON.stringify([manifest, settings, trusted, enabled, missing, sampling]);
  return {
    ...{
      manifest,
      folder,
      settings,
      programs: [bridgeFile],
      source: file,
      trusted,
      enabled,
      missing,
      generation: sampling,
    },
    secrets: [
      ...[...Object.values(dialled.env), ...Object.values(dialled.headers)],
      ...(dialled.login === undefined
        ? []
        : [dialled.login.clientSecret, dialled.login.ownKey?.privateKey ?? ""].filter((secret) => secret !== "")),
    ],
    sha256: createHash("sha256").update(whole).digest("hex"),
  };
}

/** A sandbox has no network to fetch it with, so `npx` or `uvx` itself is never started. */
function missingPackage({ name, reach }: McpServer, fetched: FetchedPackage | undefined): Failure | undefined {
  if (reach.kind !== "stdio" || reach.fetches === undefined || fetched !== undefined) return undefined;
  if (!reach.fetches.ok) {
    const message = `the MCP server "${name}" ${reach.fetches.problem}, so that its package cannot be fetched for it`;
    return {
      code: "invalid",
      message,
      hint: `write ${reach.fetches.form}, or install it and name its program (docs/mcp.md)`,
    };
  }
  const message = `the package ${reach.fetches.value.packages.join(", ")} of the MCP server "${name}" is not fetched yet`;
  return { code: "unavailable", message, hint: `fetch it: claw mcp update ${name}` };
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
