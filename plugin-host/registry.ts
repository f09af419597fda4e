import { type Failure, fail, ok, type Result } from "../core/domain/failure.ts";
import type { Memory } from "../core/domain/memory.ts";
import type { Tool } from "../core/domain/tool.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import type { Grant } from "../sandbox/permission/permission.ts";
import { discoverPlugins, type FoundPlugin, findPlugin } from "./install/discover.ts";
import { digestFolder } from "./install/folder-digest.ts";
import type { GrantStore, StoredGrant } from "./install/grant-store.ts";
import { isOwnWritePath } from "./install/install.ts";
import { createCallQueue } from "./life/call-queue.ts";
import { type Incarnation, startIncarnation } from "./life/incarnation.ts";
import { createSupervisor, type Supervisor } from "./life/supervisor.ts";
import { createLogRing, type LogRing } from "./link/log-ring.ts";
import { failedForGood, type Started } from "./link/start-outcome.ts";
import type { PluginManifest } from "./manifest/manifest.ts";
import { judgeWants, ownWritePaths, prepareWritePaths, type Reserved } from "./manifest/wants.ts";
import { makePluginTool } from "./offer/call-tool.ts";
import type { OfferParts } from "./offer/offer-parts.ts";
import { serveHost } from "./service/host-service.ts";
import { type LiveCalls, liveCalls } from "./service/live-calls.ts";

/** Calls that may wait for a place at one plugin. */
const MAX_WAITING_CALLS = 64;

export type RegistryParts = {
  readonly pluginsDir: string;
  readonly runtimeDir: string;
  readonly grants: GrantStore;
  readonly reserved: Reserved;
  readonly launcher: Launcher;
  readonly nodeBinary: string;
  readonly hostVersion: string;
  readonly recall: Memory["search"];
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
};

/** A plugin whose manifest holds and whose grant fits it. */
export type LivePlugin = {
  readonly manifest: PluginManifest;
  readonly grant: StoredGrant;
  readonly granted: Grant;
  readonly supervisor: Supervisor;
  readonly calls: LiveCalls;
  readonly tools: readonly Tool[];
};

export type Entry = {
  readonly name: string;
  readonly folder: string;
  readonly log: LogRing;
  /** A failure is why it may not run at all. */
  readonly live: Result<LivePlugin>;
};

/** The installed plugins. Their folder is read when somebody first asks, so that the daemon's start does not wait for it. */
export type Registry = {
  all(): readonly Entry[];
  find(name: string): Entry | undefined;
  /** Stops a plugin and reads its files again; it is gone from the registry when its folder is. */
  refresh(name: string, reason: string): Promise<Entry | undefined>;
  tools(): readonly Tool[];
  close(): Promise<void>;
};

export function createRegistry(parts: RegistryParts): Registry {
  let entries: Map<string, Entry> | undefined;
  let offered: readonly Tool[] | undefined;
  let closed = false;
  const load = (): Map<string, Entry> => {
    entries ??= new Map(
      discoverPlugins(parts.pluginsDir).map((found) => [found.name, makeEntry(parts, found, createLogRing())]),
    );
    return entries;
  };
  return {
    all: () => [...load().values()].sort((left, right) => (left.name < right.name ? -1 : 1)),
    find: (name) => load().get(name),
    refresh: async (name, reason) => {
      const before = load().get(name);
      if (before?.live.ok) await before.live.value.supervisor.close(reason);
      offered = undefined;
      const found = findPlugin(parts.pluginsDir, name);
      if (closed || (!found.read.ok && found.read.failure.code === "not_found")) {
        load().delete(name);
        return undefined;
      }
      const entry = makeEntry(parts, found, before?.log ?? createLogRing());
      load().set(name, entry);
      return entry;
    },
    tools: () => {
      offered ??= [...load().values()].flatMap(({ live }) =>
        live.ok && live.value.grant.enabled ? live.value.tools : [],
      );
      return offered;
    },
    close: async () => {
      closed = true;
      const live = [...(entries?.values() ?? [])].flatMap((entry) =>
        entry.live.ok ? [entry.live.value.supervisor] : [],
      );
      await Promise.all(live.map((supervisor) => supervisor.close("the daemon ends")));
    },
  };
}

function makeEntry(parts: RegistryParts, found: FoundPlugin, log: LogRing): Entry {
  const { name, folder } = found;
  return { name, folder, log, live: bringToLife(parts, found, log) };
}

function bringToLife(parts: RegistryParts, { name, folder, read }: FoundPlugin, log: LogRing): Result<LivePlugin> {
  if (!read.ok) return read;
  const { manifest, sha256 } = read.value;
  const granted = judgeWants(manifest, folder, parts.reserved);
  if (!granted.ok) return granted;
  const stored = parts.grants.read(name);
  if (!stored.ok) return stored;
  const grant = stored.value;
  if (grant === undefined) {
    return fail("denied", `plugin "${name}" was never granted anything`, {
      hint: `look at it and grant it: claw plugin install ${folder}`,
    });
  }
  if (grant.manifestSha256 !== sha256) return { ok: false, failure: changedManifest(name, folder, manifest, grant) };
  const calls = liveCalls();
  const supervisor = createSupervisor({
    name,
    log,
    now: parts.now,
    jitter: () => Buffer.from(parts.random(4)).readUInt32LE() / 2 ** 32,
    start: (signal) => start(parts, { name, folder, log, manifest, grant, granted: granted.value, calls }, signal),
  });
  const queue = createCallQueue(name, manifest.limits.concurrentCalls, MAX_WAITING_CALLS);
  const offerParts: OfferParts = { manifest, supervisor, queue, calls, log, now: parts.now };
  const tools = manifest.tools.map((tool) => makePluginTool(offerParts, tool));
  return ok({ manifest, grant, granted: granted.value, supervisor, calls, tools });
}

type Startable = Pick<LivePlugin, "manifest" | "grant" | "granted" | "calls"> & Pick<Entry, "name" | "folder" | "log">;

/** Everything that must hold before a process may start. The digest is taken here, so that the daemon's start is not slowed. */
async function start(parts: RegistryParts, plugin: Startable, signal: AbortSignal): Promise<Started<Incarnation>> {
  const { name, folder, grant, granted } = plugin;
  const unwalled = missingSandbox(parts.launcher, name, grant);
  if (unwalled !== undefined) return { ok: false, again: false, failure: unwalled };
  const digest = await digestFolder(folder, isOwnWritePath(ownWritePaths(granted, folder)));
  if (!digest.ok) return { ok: false, again: false, failure: digest.failure };
  if (digest.value !== grant.filesSha256) {
    return failedForGood(
      "denied",
      `the files of plugin "${name}" are not the ones that were granted`,
      `if you changed them, grant them again: claw plugin install ${folder}`,
    );
  }
  const prepared = await prepareWritePaths(granted, folder, parts.reserved);
  if (!prepared.ok) return { ok: false, again: false, failure: prepared.failure };
  const { recall } = parts;
  const services = { plugin: name, granted, log: plugin.log, recall, calls: plugin.calls };
  const open = (socketPath: string, token: string) => serveHost(socketPath, { ...services, token });
  return startIncarnation({ ...parts, ...plugin, hidden: parts.reserved, serveHost: open }, signal);
}

/** Why the plugin may not start on this machine; undefined when it may. */
export function missingSandbox(launcher: Launcher, name: string, grant: StoredGrant): Failure | undefined {
  if (launcher.level !== "none" || grant.trusted) return undefined;
  return {
    code: "denied",
    message: `plugin "${name}" may not run without an operating-system sandbox, and there is none here (${launcher.detail})`,
    hint: `install bubblewrap (apt-get install bubblewrap) and restart the daemon, or trust it: claw plugin grant ${name} --trust`,
  };
}

function changedManifest(name: string, folder: string, manifest: PluginManifest, grant: StoredGrant): Failure {
  const more = manifest.wants
    .map(({ permission }) => permission)
    .filter((permission) => !grant.allow.includes(permission));
  const asks = more.length === 0 ? "asks for nothing new" : `asks for more: ${more.join(", ")}`;
  return {
    code: "denied",
    message: `plugin "${name}" ${manifest.version} is not what was granted (${grant.version}); it ${asks}`,
    hint: `look at it and grant it: claw plugin install ${folder}`,
  };
}
