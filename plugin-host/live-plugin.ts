import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail, ok, type Result } from "../core/domain/failure.ts";
import type { Recall } from "../core/domain/memory.ts";
import type { TokenBucket } from "../core/domain/token-bucket.ts";
import type { Tool } from "../core/domain/tool.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import type { Grant } from "../sandbox/permission/permission.ts";
import { withGranted } from "./install/consent.ts";
import type { FoundPlugin } from "./install/discover.ts";
import { digestFolder } from "./install/folder-digest.ts";
import type { GrantStore, StoredGrant } from "./install/grant-store.ts";
import { isOwnWritePath } from "./install/install.ts";
import { createCallQueue } from "./life/call-queue.ts";
import type { Clock } from "./life/clock.ts";
import { type FarLauncher, type Incarnation, startIncarnation } from "./life/incarnation.ts";
import type { RestartBudget } from "./life/restart-budget.ts";
import type { BreakerLimits } from "./life/restart-policy.ts";
import { createSupervisor, type Supervisor } from "./life/supervisor.ts";
import type { Generation } from "./life/tenure.ts";
import type { LogRing } from "./link/log-ring.ts";
import type { Started } from "./link/start-outcome.ts";
import type { AdoptedPlugin } from "./manifest/adopted-plugin.ts";
import type { PluginManifest } from "./manifest/manifest.ts";
import type { ReadSettings } from "./manifest/settings.ts";
import type { PluginTool } from "./manifest/tools.ts";
import { judgeWants, ownWritePaths, prepareWritePaths, type Reserved } from "./manifest/wants.ts";
import { makePluginTool } from "./offer/call-tool.ts";
import type { OfferParts } from "./offer/offer-parts.ts";
import { makePluginListeners, type PluginListener } from "./offer/plugin-hooks.ts";
import { makeOffers, type Offers } from "./offer/plugin-offers.ts";
import type { TakenOffer, ToolOffers } from "./offer/tool-offers.ts";
import type { SettingsInForce } from "./reconfigure.ts";
import { farDigest, isFar } from "./remote/far-command.ts";
import type { RemoteDoor } from "./remote/remote-door.ts";
import type { Artifacts } from "./service/artifacts.ts";
import { HOST_FEATURES } from "./service/host-features.ts";
import { type LiveCalls, liveCalls } from "./service/live-calls.ts";
import type { TakeOffer } from "./service/offer-method.ts";
import type { PluginRecords } from "./service/plugin-records.ts";
import { processServices } from "./service/process-services.ts";
import type { Secrets } from "./service/secrets.ts";
import { storeBudget } from "./service/value-methods.ts";

/** Calls that may wait for a place at one plugin. */
const MAX_WAITING_CALLS = 64;
/** What has no limit of its own in the manifest, a model's answer say, may last this long when its process is replaced. */
const LEAST_DRAIN_MS = 30_000;

export type RegistryParts = {
  readonly pluginsDir: string;
  readonly runtimeDir: string;
  readonly grants: GrantStore;
  readonly reserved: Reserved;
  readonly launcher: Launcher;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nodeBinary: string;
  readonly hostVersion: string;
  readonly hostMajors: readonly number[];
  readonly settings: ReadSettings;
  readonly recall: Recall;
  readonly records: PluginRecords;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly breaker: BreakerLimits;
  readonly offers: ToolOffers;
  /** The plugins of other machines. */
  readonly remote: RemoteDoor;
};

/** What all plugins of a host share. */
export type LifeParts = RegistryParts & {
  readonly clock: Clock;
  readonly budget: RestartBudget;
  readonly inForce: SettingsInForce;
  readonly find: (name: string) => { readonly live: Result<LivePlugin> } | undefined;
  /** Hears that a plugin offers other tools now. */
  readonly onOffer: (name: string) => void;
};

/** What there is of a plugin before anybody judged it: files in its folder, or what the owner wrote down. */
export type Candidate =
  | FoundPlugin
  | { readonly name: string; readonly folder: string; readonly adopted: AdoptedPlugin };

/** A plugin whose manifest holds and whose grant fits it. */
export type LivePlugin = {
  readonly manifest: PluginManifest;
  readonly grant: StoredGrant;
  readonly granted: Grant;
  readonly generation: Generation;
  readonly supervisor: Supervisor;
  readonly calls: LiveCalls;
  /** At this moment; the same list until something changes. */
  readonly tools: () => readonly Tool[];
  /** The same as they were declared or offered. */
  readonly declared: () => readonly PluginTool[];
  /** What the owner wrote down in place of an installation; undefined for a plugin that was installed. */
  readonly adopted: AdoptedPlugin | undefined;
  readonly hooks: readonly PluginListener[];
  readonly offers: Offers;
};

/** What stays of a plugin when another version or another grant takes its place: a call may be on its way to it. */
export type Seat = Pick<LivePlugin, "supervisor" | "calls">;

/**
 * Judges what was found and makes it usable; starts nothing. `seat` is that of the version or grant before, whose processes
 * then stay until its supervisor is told of the new generation.
 */
export function bringToLife(
  parts: LifeParts,
  candidate: Candidate,
  log: LogRing,
  seat: Seat | undefined,
): Result<LivePlugin> {
  const judged = "adopted" in candidate ? judgeAdopted(parts, candidate.adopted) : judgeInstalled(parts, candidate);
  if (!judged.ok) return judged;
  const { name, folder } = candidate;
  const { manifest, grant, granted, adopted } = judged.value;
  const calls = seat?.calls ?? liveCalls();
  const startable = { ...judged.value, name, folder, log, calls, storeBudget: storeBudget(parts.now) };
  const generation = generationOf(parts, startable);
  const supervisor = seat?.supervisor ?? openSupervisor(parts, startable, generation);
  const queue = createCallQueue(name, manifest.limits.concurrentCalls, MAX_WAITING_CALLS);
  const artifact = (artifactId: string) => parts.artifacts.describe(name, artifactId);
  const offerParts: OfferParts = { manifest, supervisor, queue, calls, artifact, log, now: parts.now };
  const declared = () => parts.offers.tools(manifest);
  const hooks = makePluginListeners(offerParts);
  const tools = makeTools(offerParts, declared);
  const offers = makeOffers(offerParts, () => parts.offers.commands(manifest));
  return ok({ manifest, grant, granted, generation, supervisor, calls, tools, declared, adopted, hooks, offers });
}

/** Made once a list, so that a schema is compiled once. */
function makeTools(parts: OfferParts, declared: () => readonly PluginTool[]): () => readonly Tool[] {
  let of: readonly PluginTool[] = [];
  let made: readonly Tool[] = [];
  return () => {
    const now = declared();
    if (now !== of) made = now.map((tool) => makePluginTool(parts, tool));
    of = now;
    return made;
  };
}

type Judged = Pick<Startable, "manifest" | "grant" | "granted" | "wanted" | "adopted">;

function judgeInstalled(parts: LifeParts, { name, folder, read }: FoundPlugin): Result<Judged> {
  if (!read.ok) return read;
  const { manifest, sha256 } = read.value;
  const wanted = judgeWants(manifest, folder, parts.reserved);
  if (!wanted.ok) return wanted;
  const stored = parts.grants.read(name);
  if (!stored.ok) return stored;
  const grant = stored.value;
  if (grant === undefined) {
    return fail("denied", `plugin "${name}" was never granted anything`, {
      hint: `look at it and grant it: claw plugin install ${folder}`,
    });
  }
  if (grant.manifestSha256 !== sha256) return { ok: false, failure: changedManifest(name, folder, manifest, grant) };
  // What a person took back is not asked for.
  const granted = judgeWants(withGranted(manifest, grant), folder, parts.reserved);
  if (!granted.ok) return granted;
  return ok({ manifest, grant, granted: granted.value, wanted: wanted.value, adopted: undefined });
}

/** What the owner wrote down is granted as it stands there. */
function judgeAdopted(parts: LifeParts, adopted: AdoptedPlugin): Result<Judged> {
  const { manifest, folder, sha256, trusted, enabled, source } = adopted;
  const granted = judgeWants(manifest, folder, parts.reserved, source);
  if (!granted.ok) return granted;
  const grant: StoredGrant = {
    ...{ version: manifest.version, manifestSha256: sha256, filesSha256: sha256 },
    ...{ allow: manifest.wants.map(({ permission }) => permission), withheld: [], heldSha256: "" },
    ...{ trusted, enabled, guards: false, grantedAtMs: 0 },
  };
  return ok({ manifest, grant, granted: granted.value, wanted: granted.value, adopted });
}

function openSupervisor(parts: LifeParts, { name, log, calls }: Startable, generation: Generation): Supervisor {
  return createSupervisor({
    name,
    generation,
    log,
    clock: parts.clock,
    jitter: () => Buffer.from(parts.random(4)).readUInt32LE() / 2 ** 32,
    budget: parts.budget,
    breaker: parts.breaker,
    onDeath: (death) => {
      void parts.records.died({ plugin: name, ...death, callIds: [...calls.ids()] }).then((written) => {
        if (!written.ok) log.add("host", `its death could not be recorded: ${written.failure.message}`);
      });
    },
  });
}

function generationOf(parts: LifeParts, plugin: Startable): Generation {
  const { manifest, granted, folder } = plugin;
  const { version, idleStopMs, singleton, tools, hooks } = manifest;
  return {
    version,
    idleStopMs,
    singleton,
    longestUseMs: Math.max(LEAST_DRAIN_MS, ...[...tools, ...hooks].map(({ timeoutMs }) => timeoutMs)),
    disk: {
      // What lies on another machine is watched there.
      folders: isFar(manifest) ? [] : ownWritePaths(granted, folder).map((path) => join(folder, path)),
      limitMib: manifest.limits.diskMib,
    },
    start: (signal) => start(parts, plugin, signal),
    blocked: () =>
      missingDependency(manifest, parts.find) ?? (isFar(manifest) ? parts.remote.missing(manifest.name) : undefined),
  };
}

type Startable = Pick<LivePlugin, "manifest" | "grant" | "granted" | "calls" | "adopted"> & {
  readonly name: string;
  readonly folder: string;
  readonly log: LogRing;
  readonly storeBudget: TokenBucket;
  /** Everything that the manifest asks for: its own data is no part of the digest, also while it may not write it. */
  readonly wanted: Grant;
};

/** Everything that must hold before a process may start. The digest is taken here, so that the daemon's start is not slowed. */
async function start(parts: LifeParts, plugin: Startable, signal: AbortSignal): Promise<Started<Incarnation>> {
  const { name, folder, manifest, grant, granted, adopted } = plugin;
  const launchFar = farLauncher(parts, plugin);
  const isHere = launchFar === undefined;
  const unwalled = isHere ? missingSandbox(parts.launcher, name, grant, adopted?.source) : undefined;
  if (unwalled !== undefined) return { ok: false, again: false, failure: unwalled };
  const sealed = adopted === undefined ? await checkSeal(plugin) : ok(undefined);
  if (!sealed.ok) return { ok: false, again: false, failure: sealed.failure };
  const settings = adopted === undefined ? await parts.settings(manifest) : ok(adopted.settings);
  if (!settings.ok) return { ok: false, again: false, failure: settings.failure };
  if (adopted !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  const prepared = isHere ? await prepareWritePaths(granted, folder, parts.reserved) : ok(undefined);
  if (!prepared.ok) return { ok: false, again: false, failure: prepared.failure };
  const filesSha256 = grant.filesSha256;
  const offer = manifest.dynamic ? takeOffer(parts, plugin) : undefined;
  const { serve, onDenied } = processServices({
    ...parts,
    ...plugin,
    plugin: name,
    filesSha256,
    offer,
    generation: adopted?.generation,
    isShut: !isHere && !parts.remote.hasServices(name),
  });
  const given = {
    ...{ allow: grant.allow, config: settings.value, hostFeatures: HOST_FEATURES },
    ...{ hidden: parts.reserved, serveHost: serve, onDenied, launchFar },
    programs: adopted?.programs ?? [],
    secrets: [...(adopted?.secrets ?? []), ...(await parts.secrets.texts(name))],
  };
  const started = await startIncarnation({ ...parts, ...plugin, ...given }, signal);
  if (started.ok) parts.inForce.set(started.value, settings.value);
  return started;
}

/** Starts it where its agent is; undefined for a plugin of this machine. */
function farLauncher({ remote }: LifeParts, { name, manifest, grant }: Startable): FarLauncher | undefined {
  const filesSha256 = farDigest(manifest.command);
  if (filesSha256 === undefined) return undefined;
  const pipes = manifest.protocol === "json-rpc" ? 0 : 1;
  return (sockets) => remote.launch(name, { allow: grant.allow, filesSha256, pipes }, sockets);
}

/** The files must be those that a person granted. Nothing that it may write itself is among them. */
async function checkSeal({ name, folder, grant, wanted }: Startable): Promise<Result<void>> {
  const digest = await digestFolder(folder, isOwnWritePath(ownWritePaths(wanted, folder)));
  if (!digest.ok) return digest;
  if (digest.value === grant.filesSha256) return ok(undefined);
  return fail("denied", `the files of plugin "${name}" are not the ones that were granted`, {
    hint: `if you changed them, grant them again: claw plugin install ${folder}`,
  });
}

/** What it offers counts at once; what is odd about it stands in its log. */
function takeOffer({ offers, onOffer }: LifeParts, { name, manifest, log }: Startable): TakeOffer {
  return async (declared, commands) => {
    const taken = await offers.take(manifest, declared, commands);
    if (!taken.ok) return taken;
    tellOffer(log, taken.value);
    onOffer(name);
    return taken;
  };
}

function tellOffer(log: LogRing, { names, problems, changed }: TakenOffer): void {
  log.add("host", `it offers ${names.filter((one) => one !== "").length} tools`);
  for (const problem of problems) log.add("host", `warning: ${problem}`);
  if (changed.length === 0) return;
  const which = changed.map((one) => JSON.stringify(one)).join(", ");
  log.add(
    "host",
    `warning: it describes otherwise than before: ${which}; each call of them needs a yes until a person confirms them`,
  );
}

/** Why the plugin may not start while others are not there; undefined when it may. */
function missingDependency(
  { name, dependencies }: PluginManifest,
  find: (name: string) => { readonly live: Result<LivePlugin> } | undefined,
): Failure | undefined {
  for (const needed of dependencies) {
    const live = find(needed)?.live;
    if (live?.ok && live.value.grant.enabled) continue;
    const [is, hint] =
      live === undefined
        ? ["is not installed", "install it: claw plugin install FOLDER"]
        : live.ok
          ? ["is turned off", `turn it on: claw plugin enable ${needed}`]
          : ["may not run", live.failure.hint ?? "look at it: claw plugin list"];
    return { code: "unavailable", message: `plugin "${name}" needs plugin "${needed}", which ${is}`, hint };
  }
  return undefined;
}

/** Why the plugin may not start on this machine; undefined when it may. */
export function missingSandbox(
  launcher: Launcher,
  name: string,
  grant: StoredGrant,
  source?: string,
): Failure | undefined {
  if (launcher.level !== "none" || grant.trusted) return undefined;
  const trust = source === undefined ? `claw plugin grant ${name} --trust` : `"trust": true in its entry of ${source}`;
  return {
    code: "denied",
    message: `plugin "${name}" may not run without an operating-system sandbox, and there is none here (${launcher.detail})`,
    hint: `install bubblewrap (apt-get install bubblewrap) and restart the daemon, or trust it: ${trust}`,
  };
}

function changedManifest(name: string, folder: string, manifest: PluginManifest, grant: StoredGrant): Failure {
  const more = manifest.wants
    .map(({ permission }) => permission)
    .filter((permission) => !grant.allow.includes(permission) && !grant.withheld.includes(permission));
  const asks = more.length === 0 ? "asks for nothing new" : `asks for more: ${more.join(", ")}`;
  return {
    code: "denied",
    message: `plugin "${name}" ${manifest.version} is not what was granted (${grant.version}); it ${asks}`,
    hint: `look at it and grant it: claw plugin install ${folder}`,
  };
}
