import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { openMcpDesk } from "../../plugin-host/mcp/mcp-desk.ts";
import { openPluginHost } from "../../plugin-host/plugin-host.ts";
import { openPluginRecords } from "../../plugin-host/service/plugin-records.ts";
import { tryToEscape } from "../../sandbox/os/escape-trial.ts";
import { findLandlock } from "../../sandbox/os/landlock.ts";
import type { DaemonAdmin } from "../domain/admin.ts";
import { ok, type Result } from "../domain/failure.ts";
import { mergeHooks } from "../domain/hook-chain.ts";
import type { Tool } from "../domain/tool.ts";
import { openGateway } from "../gateway/gateway.ts";
import { openJournal } from "../journal/jsonl-journal.ts";
import { openToolLikeness } from "../memory/likeness/tool-likeness.ts";
import { turnRecall } from "../memory/note/turn-recall.ts";
import { journalQuery } from "../memory/sql/journal-query.ts";
import { providerCatalog } from "../provider/catalog.ts";
import { standardGates } from "../session/gates.ts";
import { sessionRegistry } from "../session/session-registry.ts";
import { protectedPath } from "../tools/protected-path.ts";
import { createTools } from "../tools/tools.ts";
import { withPluginHooks } from "./all-hooks.ts";
import { CONFIG_FILE, type Config, loadConfig } from "./config.ts";
import type { Home } from "./home.ts";
import { idMaker } from "./ids.ts";
import { journalAudit } from "./journal-audit.ts";
import { strangersRecall } from "./memory-ports.ts";
import { openMemoryRoom } from "./memory-room.ts";
import { openMemoryToolRoom } from "./memory-tool-room.ts";
import { pluginSettings } from "./plugin-settings.ts";
import { openProfileRoom } from "./profile-room.ts";
import { openSandbox, openWalls } from "./sandbox-rooms.ts";
import { diagnose, staleVariables } from "./status.ts";
import { textEmbedder } from "./text-embedder.ts";
import { gatewayToken } from "./token.ts";

/** The outside world, as the entry file found it. */
export type Surroundings = {
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** Milliseconds that never go back, for how long things take. */
  readonly ticks: () => number;
  readonly pid: number;
  readonly version: string;
  /** Folder of the bundled programs: hook host, guest prelude, ranking worker. */
  readonly programs: string;
  readonly nodeBinary: string;
  readonly nodeVersion: string;
  /** The isolated-vm addon that fits that Node. */
  readonly addonFile: string;
  /** Writes a line into the daemon's log. */
  readonly log: (line: string) => void;
  /** Writes down a broken promise of our own code. */
  readonly complain: (cause: unknown) => void;
  /** Begins the daemon's end. */
  readonly shutdown: () => void;
};

export type House = { readonly socket: string; readonly startedInMs: number; close(): Promise<void> };

/** Builds every room and hands each what it needs; opens the doors last. */
export async function buildHouse(home: Home, around: Surroundings): Promise<Result<House>> {
  const { env, now, programs, nodeBinary } = around;
  const startedAtMs = now();
  const loaded = await loadConfig(home.dir);
  const { config } = loaded;
  let { problems } = loaded;
  const [journal, walls] = await Promise.all([
    openJournal({ dir: home.sessions, now }),
    openWalls(home, around, config),
  ]);
  if (!journal.ok) return journal;
  const { launcher } = walls;
  const newId = idMaker(now, randomBytes);
  const memoryRoom = openMemoryRoom(
    { home, around, config: config.memory },
    { journal: journal.value, launcher },
    newId,
  );
  const { memory } = memoryRoom;
  // A command that reached a socket could give itself every permission; with a long name they lie outside the folder.
  const protectedPaths = [realpathSync(home.dir), home.dir, home.socket, home.runtime];
  const sandbox = openSandbox(
    walls,
    { home, around, config },
    { journal: journal.value, memory },
    protectedPaths,
    newId,
  );
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
    settings: pluginSettings(home.dir, (found) => {
      problems = found;
    }),
    now,
    random: randomBytes,
    recall: strangersRecall(memory),
    records: openPluginRecords(journal.value),
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
  );
  const memoryTools = openMemoryToolRoom({
    ...{ room: memoryRoom, home, protectedPaths, now },
    journal: config.memory.conversations ? journal.value : undefined,
    complain: around.complain,
  });
  memoryRoom.furnish({
    embedders: plugins.embedders,
    sources: () => [memoryTools.source, ...plugins.sources()],
  });
  const providers = providerCatalog(providerConfig(config, env), now, plugins.models);
  const profile = openProfileRoom(config.profile, { journal: journal.value, providers }, around);
  const toolLikeness = openToolLikeness({
    embedder: textEmbedder(memoryRoom.embedder, memoryRoom.pool),
    complain: around.complain,
  });
  const own: readonly Tool[] = [
    ...createTools({ launcher, protectedPaths, shell: { searchPath: env.PATH ?? "", ...config.shell } }),
    ...(config.memory.enabled ? memoryTools.tools : []),
  ];
  const sessions = sessionRegistry(journal.value, {
    providers,
    tools: () => [...own, ...plugins.tools()],
    toolsLearned: mcp.learned,
    commands: () => [...(config.memory.enabled ? memoryTools.commands : []), ...plugins.commands()],
    readArtifact: plugins.readArtifact,
    gates: standardGates(config.policy, (path, workspace) => protectedPath(path, workspace, protectedPaths)),
    hooks: mergeHooks([sandbox.hooks.source, plugins.hooks]),
    record: sandbox.hooks.records.decided,
    recall:
      config.memory.enabled && config.memory.recall
        ? turnRecall(memory, config.memory, () => memoryRoom.embedder().kind === "asked")
        : undefined,
    profile: profile.turns,
    toolFilter: config.toolFilter.enabled ? { rules: config.toolFilter, likeness: toolLikeness.likeness } : undefined,
    limits: config.limits,
    complain: around.complain,
    now,
    newId,
  });
  let tcpAddress = "";
  const daemon: DaemonAdmin = {
    async status() {
      return {
        pid: around.pid,
        version: around.version,
        nodeVersion: around.nodeVersion,
        home: home.dir,
        socket: home.socket,
        tcpAddress,
        provider: providers.defaultName,
        sandbox: { level: launcher.level, detail: launcher.detail },
        startedAtMs,
        problems: [...problems, ...memoryRoom.problems(), ...mcp.problems(), ...plugins.problems()],
      };
    },
    async doctor() {
      const status = {
        ...(await daemon.status()),
        problems: [...problems, ...memoryRoom.problems(), ...mcp.problems()],
      };
      const [hooks, trials, landlock] = await Promise.all([
        sandbox.hooks.admin.list(),
        tryToEscape(launcher, nodeBinary, around.pid),
        findLandlock(),
      ]);
      return diagnose({ status, hooks, pluginProblems: plugins.problems(), trials, landlock });
    },
    shutdown: around.shutdown,
    staleVariables: (digests) => staleVariables(env, digests),
  };
  const admin = {
    daemon,
    plugins: plugins.admin,
    mcp,
    hooks: withPluginHooks(sandbox.hooks.admin, plugins),
    scripts: sandbox.scripts,
    memory,
    profile: profile.admin,
    query: journalQuery({
      ...{ journalDir: home.sessions, nodeBinary, queryFile: join(programs, "query-process.js") },
      memory: memoryTools.copy,
    }),
    audit: journalAudit(journal.value, memoryTools.vectorJournal),
  };
  const tcp =
    config.gateway === undefined
      ? undefined
      : { port: config.gateway.port, token: await gatewayToken(home.tokenFile, config.gateway.token, randomBytes) };
  const gateway = await openGateway({ socket: home.socket, tcp }, sessions, admin);
  if (!gateway.ok) return gateway;
  tcpAddress = gateway.value.tcpAddress;
  // So is this: what a server offers is kept, and one that was never heard is waited for by the turns themselves.
  mcp.begin().catch(around.complain);
  if (config.memory.enabled && config.memory.autoReindex) memory.keepUp();
  // Nobody waits for this: the doors are open, and open turns are rare.
  sessions.resumeOpenTurns().catch(around.complain);

  return ok({
    socket: home.socket,
    startedInMs: now() - startedAtMs,
    async close() {
      // Turns end first and their clients hear of it; then the doors close; the journal is last, when nobody writes.
      // What is being learned has as long as the turns have, and not longer.
      await Promise.all([sessions.close(), profile.close()]);
      toolLikeness.close();
      await gateway.value.close();
      await Promise.all([plugins.close(), sandbox.close(), memoryTools.close(), memoryRoom.close()]);
      await journal.value.close();
    },
  });
}

function providerConfig(config: Config, env: NodeJS.ProcessEnv) {
  const apiKey = env.ANTHROPIC_API_KEY || config.anthropic.apiKey;
  const baseUrl = env.ANTHROPIC_BASE_URL || config.anthropic.baseUrl;
  const { model } = config.anthropic;
  return {
    ...(config.model === "" ? {} : { default: config.model }),
    ...(apiKey === ""
      ? {}
      : { anthropic: { apiKey, ...(baseUrl === "" ? {} : { baseUrl }), ...(model === "" ? {} : { model }) } }),
    ...(config.tape === "" ? {} : { recordTo: config.tape }),
  };
}
