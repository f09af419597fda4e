import { createHash } from "node:crypto";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Failure } from "../../core/domain/failure.ts";
import type { AdoptedPlugin } from "../manifest/adopted-plugin.ts";
import { adoptServer } from "./adopt-server.ts";
import { entryDigest, readApprovals } from "./approvals.ts";
import { type FetchedPackage, readFetched } from "./fetched-package.ts";
import { type McpServer, readServerEntry } from "./server-entry.ts";
import { readServersFile } from "./servers-file.ts";
import { wholeGrant } from "./usual-grant.ts";

/** The file of a folder that everybody who works there shares. */
export const WORKSPACE_FILE = ".mcp.json";
const MAX_SERVERS = 128;
const MARK_DIGITS = 6;

export type ServerPlaces = {
  /** The owner's own file. */
  readonly homeFile: string;
  /** What people said yes to. */
  readonly approvedFile: string;
  readonly serversDir: string;
  readonly bridgeFile: string;
  readonly homeDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** [mcp_servers] of config.toml, and where that is. */
  readonly configured: () => Promise<{ readonly file: string; readonly servers: ReadonlyMap<string, JsonObject> }>;
};

/** A server that may be used, and the plugin that it is. */
export type KnownServer = {
  readonly server: McpServer;
  readonly file: string;
  readonly workspace: string | undefined;
  readonly adopted: AdoptedPlugin;
  /** What was fetched for it. */
  readonly fetched: FetchedPackage | undefined;
};

/** Where one entry was found. */
type FoundEntry = {
  readonly name: string;
  readonly entry: JsonValue;
  readonly file: string;
  readonly folder: string;
  readonly workspace: string | undefined;
};

/** Reads every file there is; what is wrong with one entry takes nothing from the others. */
export async function readKnownServers(
  places: ServerPlaces,
): Promise<{ readonly known: readonly KnownServer[]; readonly problems: readonly Failure[] }> {
  const problems: Failure[] = [];
  const entries = [...(await ownEntries(places, problems)), ...(await approvedEntries(places, problems))];
  const servers: (FoundEntry & { readonly server: McpServer; readonly plugin: string })[] = [];
  for (const found of entries) {
    const { name, entry, file, folder, workspace } = found;
    const read = readServerEntry(name, entry, { file, folder, homeDir: places.homeDir, env: places.env });
    if (!read.ok) problems.push(read.failure);
    else if (servers.length >= MAX_SERVERS) problems.push(tooMany(file, name));
    else {
      const plugin = pluginName(name, workspace, new Set(servers.map((one) => one.plugin)));
      if (plugin === undefined) problems.push(namedTwice(file, name));
      else servers.push({ ...found, server: read.value, plugin });
    }
  }
  const known = servers.map(async ({ server, plugin, file, folder, workspace }) => {
    const { reach } = server;
    const wanted = reach.kind === "stdio" && reach.fetches?.ok ? reach.fetches.value : undefined;
    const fetched = wanted === undefined ? undefined : await readFetched(join(places.serversDir, plugin), wanted);
    const others = servers.map((one) => one.plugin).filter((other) => other !== plugin);
    const { serversDir, bridgeFile, homeDir, env } = places;
    const place = {
      serversDir,
      bridgeFile,
      homeDir,
      searchPath: env.PATH ?? "",
      file,
      folder,
      workspace,
      plugin,
      others,
      fetched,
    };
    return { server, file, workspace, fetched, adopted: adoptServer(server, place) };
  });
  return { known: await Promise.all(known), problems };
}

/** What the owner wrote down needs no further yes. */
async function ownEntries(places: ServerPlaces, problems: Failure[]): Promise<readonly FoundEntry[]> {
  const { homeFile, homeDir } = places;
  const { file, servers } = await places.configured();
  const own = { folder: homeDir, workspace: undefined };
  const configured = [...servers].map(([name, entry]) => ({ name, entry, file, ...own }));
  const read = await readServersFile(homeFile);
  if (!read.ok) {
    problems.push(read.failure);
    return configured;
  }
  return [
    ...configured,
    ...Object.entries(read.value.servers).map(([name, entry]) => ({ name, entry, file: homeFile, ...own })),
  ];
}

/** Of a folder's file only what somebody said yes to, and only as it was then. */
async function approvedEntries(places: ServerPlaces, problems: Failure[]): Promise<readonly FoundEntry[]> {
  const { approvedFile, homeDir, env } = places;
  const found: FoundEntry[] = [];
  for (const { workspace, name, sha256 } of await readApprovals(approvedFile)) {
    const file = join(workspace, WORKSPACE_FILE);
    const read = await readServersFile(file);
    const entry = read.ok && Object.hasOwn(read.value.servers, name) ? read.value.servers[name] : undefined;
    // A folder that is gone, or no longer has it: there is nothing to use, and nothing wrong.
    if (entry === undefined) continue;
    const server = readServerEntry(name, entry, { file, folder: workspace, homeDir, env });
    const place = { folder: workspace, homeDir, searchPath: env.PATH ?? "" };
    const granted = server.ok ? wholeGrant(server.value, place) : [];
    if (entryDigest(workspace, name, entry, granted) === sha256) {
      found.push({ name, entry, file, folder: workspace, workspace });
      continue;
    }
    problems.push({
      code: "denied",
      message: `${file}: MCP server ${JSON.stringify(name)} is not the one that was approved`,
      hint: `look at it and approve it in that folder: claw mcp approve ${name}`,
    });
  }
  return found;
}

/** A folder's server must not take a name away: where there is one already, its own has a mark. */
function pluginName(name: string, workspace: string | undefined, taken: ReadonlySet<string>): string | undefined {
  const plain = `mcp_${name}`;
  if (!taken.has(plain)) return plain;
  if (workspace === undefined) return undefined;
  const mark = createHash("sha256").update(workspace).digest("hex").slice(0, MARK_DIGITS);
  return taken.has(`${plain}_${mark}`) ? undefined : `${plain}_${mark}`;
}

function namedTwice(file: string, name: string): Failure {
  const message = `${file}: there is another MCP server ${JSON.stringify(name)}, which counts`;
  return { code: "conflict", message, hint: "give this one another name" };
}

function tooMany(file: string, name: string): Failure {
  const message = `${file}: MCP server ${JSON.stringify(name)} is one more than ${MAX_SERVERS}`;
  return { code: "exhausted", message, hint: "remove some: claw mcp remove NAME" };
}
