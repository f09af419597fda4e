import { join } from "node:path";
import type { PluginAdmin, PluginOffer, PluginRow } from "../core/domain/admin.ts";
import { type Failure, fail, failureToProto, ok, type Result, unreachable } from "../core/domain/failure.ts";
import { PluginState } from "../proto/gen/clawd/v1/admin_pb.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import type { GrantStore, StoredGrant } from "./install/grant-store.ts";
import { type InstallPlace, placeStaged, type StagedPlugin, stagePlugin } from "./install/install.ts";
import { MANIFEST_FILE } from "./manifest/manifest.ts";
import { readManifest } from "./manifest/read-manifest.ts";
import { removeTree } from "./manifest/remove-tree.ts";
import { explainWants, judgeWants } from "./manifest/wants.ts";
import { type Entry, type LivePlugin, missingSandbox, type Registry } from "./registry.ts";

export type AdminParts = {
  readonly registry: Registry;
  readonly grants: GrantStore;
  readonly place: InstallPlace;
  readonly launcher: Launcher;
  readonly now: () => number;
};

/** What people may do with plugins. Changes happen one after the other. */
export function createPluginAdmin(parts: AdminParts): PluginAdmin {
  const { registry, grants } = parts;
  const inTurn = createTurns();
  const changeGrant = (name: string, reason: string, change: (grant: StoredGrant) => StoredGrant) =>
    inTurn(async (): Promise<Result<void>> => {
      const entry = registry.find(name);
      if (entry === undefined) return unknownPlugin(name, registry);
      const grant = grants.read(name);
      if (!grant.ok) return grant;
      if (grant.value === undefined) return entry.live.ok ? unknownPlugin(name, registry) : entry.live;
      const written = await grants.write(name, change(grant.value));
      if (written.ok) await registry.refresh(name, reason);
      return written;
    });
  return {
    list: () => registry.all().map((entry) => describe(entry, parts.launcher, grants)),
    look: async (folder) => look(parts, folder),
    install: (folder, trust) => inTurn(() => install(parts, folder, trust)),
    remove: (name) => inTurn(() => remove(parts, name)),
    trust: (name, trusted) =>
      changeGrant(name, trusted ? "it was trusted" : "it is trusted no more", (grant) => ({ ...grant, trusted })),
    enable: (name, enabled) =>
      changeGrant(name, enabled ? "it was turned on" : "it was turned off", (grant) => ({ ...grant, enabled })),
    reload: (name) => inTurn(() => reload(parts, name)),
    log: (name) => {
      const entry = registry.find(name);
      return entry === undefined ? unknownPlugin(name, registry) : ok(entry.log.lines());
    },
  };
}

/** Runs one task after the other; a task's failure is its own caller's. */
function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const mine = last.then(task);
    last = mine.catch(() => {});
    return mine;
  };
}

function look({ place, grants, registry }: AdminParts, folder: string): Result<PluginOffer> {
  const read = readManifest(folder);
  if (!read.ok) return read;
  const { manifest } = read.value;
  const granted = judgeWants(
    manifest,
    join(place.pluginsDir, manifest.name),
    place.reserved,
    join(folder, MANIFEST_FILE),
  );
  if (!granted.ok) return granted;
  const before = grants.read(manifest.name);
  const allowed = before.ok ? before.value?.allow : undefined;
  return ok({
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    wants: [...explainWants(manifest, allowed)],
    tools: manifest.tools.map(({ fullName }) => fullName),
    installed: registry.find(manifest.name)?.live.ok ?? false,
  });
}

async function install(parts: AdminParts, folder: string, trust: boolean): Promise<Result<PluginOffer>> {
  const offer = look(parts, folder);
  if (!offer.ok) return offer;
  const name = offer.value.name ?? "";
  const staged = await stagePlugin(parts.place, name, folder);
  if (!staged.ok) return staged;
  // The old process must be gone before its files are.
  const before = parts.registry.find(name);
  if (before?.live.ok) await before.live.value.supervisor.close("it is being upgraded");
  const placed = await placeStaged(staged.value);
  const written = placed.ok ? await parts.grants.write(name, grantOf(staged.value, trust, parts.now())) : placed;
  const entry = await parts.registry.refresh(name, "it was installed");
  if (!written.ok) return written;
  if (entry !== undefined && !entry.live.ok) return entry.live;
  return ok({ ...offer.value, installed: true });
}

function grantOf(
  { manifest, manifestSha256, filesSha256 }: StagedPlugin,
  trusted: boolean,
  grantedAtMs: number,
): StoredGrant {
  const allow = manifest.wants.map(({ permission }) => permission);
  return { version: manifest.version, manifestSha256, filesSha256, allow, trusted, enabled: true, grantedAtMs };
}

async function remove({ registry, grants }: AdminParts, name: string): Promise<Result<void>> {
  const entry = registry.find(name);
  if (entry === undefined) return unknownPlugin(name, registry);
  if (entry.live.ok) await entry.live.value.supervisor.close("it is being removed");
  try {
    // The grant first: files without a grant never run, a grant without files means nothing.
    await grants.remove(name);
    await removeTree(entry.folder);
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `plugin "${name}" cannot be removed from ${entry.folder}`, {
      hint: "look at the rights of that folder, then remove it again",
      cause,
    });
  } finally {
    await registry.refresh(name, "it was removed");
  }
}

async function reload({ registry }: AdminParts, name: string): Promise<Result<void>> {
  const entry = await registry.refresh(name, "it is being reloaded");
  if (entry === undefined) return unknownPlugin(name, registry);
  if (!entry.live.ok) return entry.live;
  if (!entry.live.value.grant.enabled)
    return fail("conflict", `plugin "${name}" is turned off`, { hint: `claw plugin enable ${name}` });
  const running = await entry.live.value.supervisor.acquire(new AbortController().signal);
  return running.ok ? ok(undefined) : running;
}

function unknownPlugin(name: string, registry: Registry): Result<never> {
  const names = registry.all().map((entry) => entry.name);
  const hint = names.length === 0 ? "none is installed: claw plugin install FOLDER" : `there are: ${names.join(", ")}`;
  return fail("not_found", `there is no plugin "${name}"`, { hint });
}

function describe({ name, live }: Entry, launcher: Launcher, grants: GrantStore): PluginRow {
  if (!live.ok) {
    const grant = grants.read(name);
    const enabled = !grant.ok || grant.value?.enabled !== false;
    return { name, state: enabled ? PluginState.REFUSED : PluginState.DISABLED, failure: failureToProto(live.failure) };
  }
  const { manifest, grant, supervisor } = live.value;
  const failure = failureOf(live.value, launcher);
  const state = supervisor.state();
  return {
    name,
    version: manifest.version,
    state: stateOf(live.value, launcher),
    tools: manifest.tools.map(({ fullName }) => fullName),
    granted: [...grant.allow],
    trusted: grant.trusted,
    pid: state.is === "ready" ? state.incarnation.pid : 0,
    restarts: supervisor.restarts(),
    ...(failure === undefined ? {} : { failure: failureToProto(failure) }),
  };
}

/** Why a plugin that may run does not. */
export function failureOf({ grant, manifest, supervisor }: LivePlugin, launcher: Launcher): Failure | undefined {
  if (!grant.enabled) return undefined;
  const state = supervisor.state();
  if (state.is === "refused" || state.is === "pausing") return state.failure;
  return missingSandbox(launcher, manifest.name, grant);
}

function stateOf({ grant, manifest, supervisor }: LivePlugin, launcher: Launcher): PluginState {
  if (!grant.enabled) return PluginState.DISABLED;
  if (missingSandbox(launcher, manifest.name, grant) !== undefined) return PluginState.REFUSED;
  const state = supervisor.state();
  switch (state.is) {
    case "idle":
    case "stopping":
    case "closed":
      return PluginState.IDLE;
    case "starting":
      return PluginState.STARTING;
    case "ready":
      return PluginState.READY;
    case "pausing":
      return PluginState.BACKING_OFF;
    case "refused":
      return PluginState.REFUSED;
    default:
      return unreachable(state);
  }
}
