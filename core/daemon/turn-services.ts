import { randomBytes } from "node:crypto";
import { mergeHooks } from "../domain/hook-chain.ts";
import type { Tool } from "../domain/tool.ts";
import { turnRecall } from "../memory/note/turn-recall.ts";
import { standardGates } from "../session/turn/gates.ts";
import type { TurnServices } from "../session/turn/turn-context.ts";
import { protectedPath } from "../tools/protected-path.ts";
import { createTools } from "../tools/tools.ts";
import type { Config } from "./config.ts";
import type { Rooms } from "./rooms.ts";
import type { Surroundings } from "./surroundings.ts";

/** Of what proves who somebody is, bytes. */
const SECRET_BYTES = 32;

/** What conversations get of the rooms, as far as config.toml lets them. */
export function turnServices(rooms: Rooms, config: Config, { env, now, complain }: Surroundings): TurnServices {
  const { launcher, memoryRoom, memoryTools, plugins, sandbox, protectedPaths, toolLikeness } = rooms;
  const { enabled: remembers, recall: recalls } = config.memory;
  const own: readonly Tool[] = [
    ...createTools({ launcher, protectedPaths, shell: { searchPath: env.PATH ?? "", ...config.shell } }),
    ...(remembers ? memoryTools.tools : []),
  ];
  return {
    providers: rooms.providers,
    tools: () => [...own, ...plugins.tools()],
    toolsLearned: rooms.mcp.learned,
    commands: () => [...(remembers ? memoryTools.commands : []), ...plugins.commands()],
    offerNews: plugins.offerNews,
    readArtifact: plugins.readArtifact,
    gates: standardGates(config.policy, (path, workspace) => protectedPath(path, workspace, protectedPaths)),
    hooks: mergeHooks([sandbox.hooks.source, plugins.hooks]),
    record: sandbox.hooks.records.decided,
    recall:
      remembers && recalls
        ? turnRecall(memoryRoom.memory, config.memory, () => memoryRoom.embedder().kind === "asked")
        : undefined,
    profile: rooms.profile.turns,
    toolFilter: config.toolFilter.enabled ? { rules: config.toolFilter, likeness: toolLikeness.likeness } : undefined,
    limits: config.limits,
    newId: (kind) => (kind === "secret" ? randomBytes(SECRET_BYTES).toString("hex") : rooms.newId()),
    complain,
    now,
  };
}
