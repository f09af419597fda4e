import type { PluginLimits } from "../manifest/limits.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { describeOffers } from "../manifest/offers.ts";
import type { StoredGrant } from "./grant-store.ts";

/** What was installed before: its grant, and its manifest when that is still the one that was granted. */
export type Before = { readonly grant: StoredGrant; readonly manifest: PluginManifest | undefined };

/** How an upgrade differs from what a person saw the last time. */
export type AskedChange = {
  /** Permissions that it did not ask for before. */
  readonly permissions: readonly string[];
  /** Where it would take part in conversations and did not before, e.g. "hook tool.before of shell". */
  readonly roles: readonly string[];
  /** What else is other than it was and needs no grant, for people: its limits, and what counts when a hook of its fails. */
  readonly otherwise: readonly string[];
  /** Permissions that it asked for and asks for no longer. */
  readonly noLonger: readonly string[];
};

/** Compares what a person decided about, granted or taken back, with what the next version asks for. */
export function compareAsked(next: PluginManifest, { grant, manifest }: Before): AskedChange {
  const known = [...grant.allow, ...grant.withheld];
  const wanted = next.wants.map(({ permission }) => permission);
  const roles = manifest === undefined ? [] : rolesOf(manifest);
  return {
    permissions: wanted.filter((permission) => !known.includes(permission)),
    roles: rolesOf(next).filter((role) => !covers(roles, role)),
    otherwise: manifest === undefined ? [] : [...limitChanges(manifest, next), ...failureChanges(manifest, next)],
    noLonger: known.filter((permission) => !wanted.includes(permission)),
  };
}

export function asksForMore({ permissions, roles }: AskedChange): boolean {
  return permissions.length > 0 || roles.length > 0;
}

/**
 * A plugin that hears hooks, answers as a model or feeds memory sees what people say, which no permission tells. Tools and
 * slash commands are called by name, and each call is judged.
 */
function rolesOf(manifest: PluginManifest): readonly string[] {
  const hooks = manifest.hooks.flatMap(({ at, tools }) =>
    tools.length === 0 ? [`hook ${at}`] : tools.map((tool) => `hook ${at} of ${tool}`),
  );
  const others = describeOffers({ ...manifest, hooks: [] }).filter((offer) => !offer.startsWith("/"));
  return [...new Set([...hooks, ...others])];
}

/** A hook that heard the calls of all tools hears nothing new when it names some. */
function covers(roles: readonly string[], role: string): boolean {
  return roles.includes(role) || roles.includes(role.replace(/ of .*$/, ""));
}

function limitChanges({ limits: before }: PluginManifest, { limits: now }: PluginManifest): readonly string[] {
  const unlimited = (value: number) => (value === 0 ? "no limit" : String(value));
  return (Object.keys(now) as (keyof PluginLimits)[])
    .filter((limit) => now[limit] !== before[limit])
    .map((limit) => `its limit ${limit} changes from ${unlimited(before[limit])} to ${unlimited(now[limit])}`);
}

function failureChanges(before: PluginManifest, now: PluginManifest): readonly string[] {
  const answers = ({ hooks }: PluginManifest, at: string) =>
    [...new Set(hooks.filter((hook) => hook.at === at).map(({ onError }) => onError))].sort().join(" and ");
  return [...new Set(now.hooks.map(({ at }) => at))]
    .map((at) => ({ at, was: answers(before, at), is: answers(now, at) }))
    .filter(({ was, is }) => was !== "" && was !== is)
    .map(({ at, was, is }) => `when its hook at ${at} fails, "${is}" counts, and no longer "${was}"`);
}

/** The manifest as its grant leaves it: what was taken back is not asked for. */
export function withGranted(manifest: PluginManifest, grant: StoredGrant): PluginManifest {
  return { ...manifest, wants: manifest.wants.filter(({ permission }) => grant.allow.includes(permission)) };
}

/** What the manifest asks for and the grant does not give. */
export function withheldOf(manifest: PluginManifest, grant: StoredGrant): readonly string[] {
  return manifest.wants.map(({ permission }) => permission).filter((permission) => !grant.allow.includes(permission));
}
