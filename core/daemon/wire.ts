import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ok, type Result } from "../domain/failure.ts";
import type { Admin } from "../gateway/admin-services.ts";
import { openGateway } from "../gateway/gateway.ts";
import { journalQuery } from "../memory/sql/journal-query.ts";
import { sessionRegistry } from "../session/session-registry.ts";
import { withPluginHooks } from "./all-hooks.ts";
import type { Config } from "./config.ts";
import { loadConfig } from "./config-file.ts";
import { type DaemonParts, daemonAdmin } from "./daemon-admin.ts";
import type { Home } from "./home.ts";
import { journalAudit } from "./journal-audit.ts";
import { openRooms, type Rooms } from "./rooms.ts";
import type { Surroundings } from "./surroundings.ts";
import { gatewayToken } from "./token.ts";
import { turnServices } from "./turn-services.ts";

export type House = { readonly socket: string; readonly startedInMs: number; close(): Promise<void> };

/** Builds every room and hands each what it needs; opens the doors last. */
export async function buildHouse(home: Home, around: Surroundings): Promise<Result<House>> {
  const { now, complain } = around;
  const startedAtMs = now();
  const loaded = await loadConfig(home.dir);
  const { config } = loaded;
  const tcp = await tcpDoor(home, config);
  const opened = await openRooms(home, around, loaded);
  if (!opened.ok) return opened;
  const rooms = opened.value;
  const sessions = sessionRegistry(rooms.journal, turnServices(rooms, config, around));
  // What is being learned has as long as the turns have, and not longer.
  const endTurns = () => Promise.all([sessions.close(), rooms.profile.close()]);
  let tcpAddress = "";
  const admin = adminOf(rooms, {
    ...{ home, around, startedAtMs, launcher: rooms.launcher, problems: rooms.problems },
    provider: rooms.providers.defaultName,
    tcpAddress: () => tcpAddress,
    pluginProblems: rooms.plugins.problems,
    hooks: rooms.sandbox.hooks.admin.list,
  });
  const gateway = await openGateway({ socket: home.socket, tcp }, sessions, admin);
  if (!gateway.ok) {
    await endTurns();
    await rooms.close();
    return gateway;
  }
  tcpAddress = gateway.value.tcpAddress;
  // The doors are open, and nobody waits for these: open turns are rare, and what a server of MCP offers is kept. One that was
  // never heard is waited for by the turns themselves.
  rooms.mcp.begin().catch(complain);
  if (config.memory.enabled && config.memory.autoReindex) rooms.memoryRoom.memory.keepUp();
  sessions.resumeOpenTurns().catch(complain);

  return ok({
    socket: home.socket,
    startedInMs: now() - startedAtMs,
    async close() {
      // Turns end first and their clients hear of it; then the doors close; the journal is last, when nobody writes.
      await endTurns();
      await gateway.value.close();
      await rooms.close();
    },
  });
}

/** What people may ask of the house beside their conversations. */
function adminOf(rooms: Rooms, daemon: DaemonParts): Admin {
  const { home, around } = daemon;
  const { plugins, sandbox, memoryTools } = rooms;
  return {
    daemon: daemonAdmin(daemon),
    plugins: plugins.admin,
    mcp: rooms.mcp,
    hooks: withPluginHooks(sandbox.hooks.admin, plugins),
    scripts: sandbox.scripts,
    memory: rooms.memoryRoom.memory,
    profile: rooms.profile.admin,
    query: journalQuery({
      ...{ journalDir: home.sessions, nodeBinary: around.nodeBinary },
      ...{ queryFile: join(around.programs, "query-process.js"), memory: memoryTools.copy },
    }),
    audit: journalAudit(rooms.journal, memoryTools.vectorJournal),
  };
}

/** The door beside the socket; undefined where config.toml asks for none. */
async function tcpDoor({ tokenFile }: Home, { gateway }: Config) {
  if (gateway === undefined) return undefined;
  return { port: gateway.port, token: await gatewayToken(tokenFile, gateway.token, randomBytes) };
}
