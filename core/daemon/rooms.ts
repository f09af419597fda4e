import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import type { McpDesk } from "../../plugin-host/mcp/mcp-desk.ts";
import type { PluginHost } from "../../plugin-host/plugin-host.ts";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import { type Failure, ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import type { ProviderCatalog } from "../domain/provider.ts";
import { openJournal } from "../journal/jsonl-journal.ts";
import { type OpenToolLikeness, openToolLikeness } from "../memory/likeness/tool-likeness.ts";
import { providerCatalog } from "../provider/catalog.ts";
import type { LoadedConfig } from "./config.ts";
import { type Home, removeRuntime } from "./home.ts";
import { idMaker } from "./ids.ts";
import { type MemoryRoom, openMemoryRoom } from "./memory-room.ts";
import { type MemoryToolRoom, openMemoryToolRoom } from "./memory-tool-room.ts";
import { openPluginRoom } from "./plugin-room.ts";
import { openProfileRoom, type ProfileRoom } from "./profile-room.ts";
import { providerConfig } from "./provider-settings.ts";
import { openSandbox, openWalls, type SandboxRooms } from "./sandbox-rooms.ts";
import type { Surroundings } from "./surroundings.ts";
import { textEmbedder } from "./text-embedder.ts";

/** What conversations are held with. Nothing of it runs before somebody needs it, and nobody can come in yet. */
export type Rooms = {
  readonly journal: Journal;
  readonly launcher: Launcher;
  readonly newId: () => string;
  /** Paths of the daemon's own data, absolute; no tool and no script writes there. */
  readonly protectedPaths: readonly string[];
  readonly memoryRoom: MemoryRoom;
  readonly memoryTools: MemoryToolRoom;
  readonly sandbox: SandboxRooms;
  readonly plugins: PluginHost;
  readonly mcp: McpDesk;
  readonly providers: ProviderCatalog & { readonly defaultName: string };
  readonly profile: ProfileRoom;
  readonly toolLikeness: OpenToolLikeness;
  /** What is wrong with what people wrote down, as it was read last, but for plugins. */
  problems(): readonly Failure[];
  /** Ends what strangers run, then the journal. Those who write must have ended. */
  close(): Promise<void>;
};

export async function openRooms(home: Home, around: Surroundings, loaded: LoadedConfig): Promise<Result<Rooms>> {
  const { now } = around;
  const { config } = loaded;
  let { problems } = loaded;
  const [opened, walls] = await Promise.all([
    openJournal({ dir: home.sessions, now }),
    openWalls(home, around, config),
  ]);
  if (!opened.ok) {
    walls.egress.close();
    return opened;
  }
  const journal = opened.value;
  const { launcher } = walls;
  const newId = idMaker(now, randomBytes);
  const memoryRoom = openMemoryRoom({ home, around, config: config.memory }, { journal, launcher }, newId);
  const { memory } = memoryRoom;
  // A command that reached a socket could give itself every permission; with a long name they lie outside the folder.
  const protectedPaths = [realpathSync(home.dir), home.dir, home.socket, home.runtime];
  const sandbox = openSandbox(walls, { home, around, config }, { journal, memory }, protectedPaths, newId);
  const tellProblems = (found: readonly Failure[]) => {
    problems = found;
  };
  const { plugins, mcp } = await openPluginRoom({ home, around, config, tellProblems }, { journal, launcher, memory });
  const memoryTools = openMemoryToolRoom({
    ...{ room: memoryRoom, home, protectedPaths, now },
    journal: config.memory.conversations ? journal : undefined,
    complain: around.complain,
  });
  memoryRoom.furnish({
    embedders: plugins.embedders,
    sources: () => [memoryTools.source, ...plugins.sources()],
  });
  const providers = providerCatalog(providerConfig(config, around.env), now, plugins.models);
  const profile = openProfileRoom(config.profile, { journal, providers }, around);
  const toolLikeness = openToolLikeness({
    embedder: textEmbedder(memoryRoom.embedder, memoryRoom.pool),
    complain: around.complain,
  });
  return ok({
    ...{ journal, launcher, newId, protectedPaths, memoryRoom, memoryTools },
    ...{ sandbox, plugins, mcp, providers, profile, toolLikeness },
    problems: () => [...problems, ...memoryRoom.problems(), ...mcp.problems()],
    async close() {
      toolLikeness.close();
      await Promise.all([plugins.close(), sandbox.close(), memoryTools.close(), memoryRoom.close()]);
      await removeRuntime(home);
      await journal.close();
    },
  });
}
