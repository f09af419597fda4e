import type { PluginRow } from "../core/domain/admin.ts";
import { failureToProto, unreachable } from "../core/domain/failure.ts";
import { PluginState } from "../proto/gen/clawd/v1/admin_pb.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import { compareAsked, withheldOf } from "./install/consent.ts";
import type { GrantStore } from "./install/grant-store.ts";
import { heldFolder } from "./install/install.ts";
import { describeOffers } from "./manifest/offers.ts";
import { readManifest } from "./manifest/read-manifest.ts";
import { findClashes } from "./offer/offer-clashes.ts";
import type { Entry } from "./registry/entry.ts";
import type { LivePlugin } from "./registry/live-plugin.ts";
import type { Registry } from "./registry/registry.ts";
import { failureOf, hindrance } from "./registry/start-hindrances.ts";
import { isFar } from "./remote/far-command.ts";

export type RowParts = {
  readonly registry: Registry;
  readonly launcher: Launcher;
  readonly grants: GrantStore;
  readonly pluginsDir: string;
};

/** What people see of the installed plugins, by name. */
export function describePlugins(parts: RowParts): readonly PluginRow[] {
  const clashes = findClashes(parts.registry.enabled().map(({ manifest }) => manifest));
  return parts.registry.all().map((entry) => describe(parts, entry, clashes.get(entry.name) ?? []));
}

function describe(parts: RowParts, { name, live }: Entry, clashes: readonly string[]): PluginRow {
  if (!live.ok) {
    const read = parts.grants.read(name);
    const grant = read.ok ? read.value : undefined;
    const state = grant?.enabled === false ? PluginState.DISABLED : PluginState.REFUSED;
    const { version = "", allow = [], trusted = false } = grant ?? {};
    return { name, version, state, granted: [...allow], trusted, failure: failureToProto(live.failure) };
  }
  const { manifest, grant, supervisor } = live.value;
  const failure = failureOf(live.value, parts.launcher);
  const state = supervisor.state();
  return {
    name,
    version: manifest.version,
    description: manifest.description,
    state: stateOf(live.value, parts.launcher),
    tools: live.value.declared().map(({ fullName }) => fullName),
    offers: describeOffers(manifest),
    warnings: [...manifest.warnings, ...clashes],
    granted: [...grant.allow],
    withheld: [...withheldOf(manifest, grant)],
    trusted: grant.trusted,
    // A number of another machine would be somebody else's process here.
    pid: state.is === "ready" && !isFar(manifest) ? state.incarnation.pid : 0,
    wire: state.is === "ready" ? state.incarnation.link.wire : "",
    restarts: supervisor.restarts(),
    ...describeHeld(parts, live.value),
    ...(failure === undefined ? {} : { failure: failureToProto(failure) }),
  };
}

/** The upgrade that waits for a grant, and what it asks for beyond what was decided about. */
function describeHeld({ grants, pluginsDir }: RowParts, { manifest }: LivePlugin) {
  const grant = grants.read(manifest.name);
  if (!grant.ok || grant.value === undefined || grant.value.heldSha256 === "") return undefined;
  const held = readManifest(heldFolder(pluginsDir, manifest.name));
  if (!held.ok) return undefined;
  const next = held.value.manifest;
  const { permissions, roles } = compareAsked(next, { grant: grant.value, manifest });
  const wants = next.wants.filter(({ permission }) => permissions.includes(permission));
  return {
    heldVersion: next.version,
    heldWants: [...wants, ...roles.map((permission) => ({ permission, reason: "it took no such part before" }))],
  };
}

/** The plugins that it needs and that are not there or not on. */
export function missingDependencies(dependencies: readonly string[], registry: Registry): readonly string[] {
  const on = new Set(registry.enabled().map(({ manifest }) => manifest.name));
  return dependencies.filter((dependency) => !on.has(dependency));
}

function stateOf(plugin: LivePlugin, launcher: Launcher): PluginState {
  if (!plugin.grant.enabled) return PluginState.DISABLED;
  if (hindrance(plugin, launcher) !== undefined) {
    return isFar(plugin.manifest) ? PluginState.NOT_CONNECTED : PluginState.REFUSED;
  }
  const state = plugin.supervisor.state();
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
    case "broken":
      return PluginState.BACKING_OFF;
    case "refused":
      return PluginState.REFUSED;
    default:
      return unreachable(state);
  }
}
