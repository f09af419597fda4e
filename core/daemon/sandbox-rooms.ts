import { join } from "node:path";
import { type Egress, openEgress } from "../../sandbox/egress/egress.ts";
import { openScriptHooks, type ScriptHooks } from "../../sandbox/hook/script-hooks.ts";
import type { Engine } from "../../sandbox/isolate/engine.ts";
import { ISOLATE_LIMITS } from "../../sandbox/isolate/limits.ts";
import { openEngine } from "../../sandbox/isolate/open-engine.ts";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import { probeLauncher } from "../../sandbox/os/probe.ts";
import { openScripts, type Scripts } from "../../sandbox/script/open-scripts.ts";
import type { Journal } from "../domain/journal.ts";
import type { Memory } from "../domain/memory.ts";
import { protectedPath } from "../tools/protected-path.ts";
import type { Config } from "./config.ts";
import type { Home } from "./home.ts";
import { machineFacts, ownAddresses } from "./machine-facts.ts";
import { strangersRecall, strangersRemember } from "./memory-ports.ts";
import type { Surroundings } from "./surroundings.ts";

/** The way out to the network, and the door to child processes that may use it. */
export type Walls = { readonly egress: Egress; readonly launcher: Launcher };

/** What strangers' scripts run in. */
export type SandboxRooms = {
  readonly hooks: ScriptHooks;
  readonly scripts: Scripts;
  /** Kills everything of theirs that runs. */
  close(): Promise<void>;
};

/** Finds the strongest sandbox that there is. */
export async function openWalls(home: Home, around: Surroundings, config: Config): Promise<Walls> {
  const egress = openEgress({ ownAddresses });
  const launcher = await probeLauncher({
    searchPath: around.env.PATH ?? "",
    wanted: config.sandbox,
    nodeBinary: around.nodeBinary,
    door: {
      egress,
      forwarderFile: join(around.programs, "egress-forwarder.js"),
      socketsDir: join(home.runtime, "egress"),
    },
  });
  const { level, landlock } = launcher;
  if (level === "bubblewrap" && "missing" in landlock)
    around.log(`bubblewrap holds alone, no Landlock: ${landlock.missing}`);
  return { egress, launcher };
}

/** The parts of the web surface that guests load when they first touch them. */
const GUEST_LIBRARIES = [
  "url",
  "idna",
  "urlpattern",
  "streams",
  "encodings",
  "crypto",
  "messages",
  "websocket",
  "deno",
  "node",
];

function openIsolates(
  { programs, nodeBinary, addonFile, ticks }: Surroundings,
  { processes, memoryMib }: Config["hooks"],
  launcher: Launcher,
): Engine {
  const file = (name: string) => join(programs, name);
  return openEngine({
    launcher,
    files: {
      ...{ nodeBinary, addonFile },
      hostFile: file("hook-host.js"),
      preludeFile: file("guest-prelude.js"),
      libraryFiles: Object.fromEntries(GUEST_LIBRARIES.map((name) => [name, file(`guest-library-${name}.js`)])),
    },
    limits: { ...ISOLATE_LIMITS, hostsMax: processes, memoryMib },
    now: ticks,
  });
}

/**
 * Opens the rooms that hooks and scripts run in; no process is started before it is needed.
 * @param protectedPaths absolute real paths of the daemon's own data
 */
export function openSandbox(
  { egress, launcher }: Walls,
  { home, around, config }: { readonly home: Home; readonly around: Surroundings; readonly config: Config },
  { journal, memory }: { readonly journal: Journal; readonly memory: Memory },
  protectedPaths: readonly string[],
  newId: () => string,
): SandboxRooms {
  const { env, now, programs, ticks } = around;
  const engine = openIsolates(around, config.hooks, launcher);
  const broker = {
    ...{ launcher, egress, env, searchPath: env.PATH ?? "", hidden: protectedPaths },
    now: ticks,
    sysFacts: machineFacts,
    protectedWrite: (path: string) => protectedPath(path, "/", protectedPaths),
  };
  const hooks = openScriptHooks({
    ...{ engine, journal },
    broker: {
      ...broker,
      memory: { search: strangersRecall(memory), remember: strangersRemember(memory) },
    },
    hooksDir: home.hooks,
    typesFile: join(programs, "hooks.d.ts"),
    breaker: config.hooks,
    commandsWithoutSandbox: config.hooks.commandsWithoutSandbox,
    log: (hook, line) => around.log(`hook ${hook}: ${line}`),
  });
  const scripts = openScripts({
    ...{ engine, broker, runtime: config.scripts.runtime },
    deno: { program: config.scripts.deno, socketsDir: join(home.runtime, "deno") },
    record: hooks.records.decided,
    wallClock: now,
    newId,
  });
  return {
    hooks,
    scripts,
    async close() {
      await Promise.all([hooks.close(), scripts.close()]);
      await engine.close();
      egress.close();
    },
  };
}
