import type { PluginManifest } from "../manifest/manifest.ts";
import { describeOffers } from "../manifest/offers.ts";
import type { StoredGrant } from "./grant-store.ts";

/** What was installed before: its grant, and its manifest when that is still the one that was granted. */
export type Before = { readonly grant: StoredGrant; readonly manifest: PluginManifest | undefined };

/** How an upgrade differs from what a person saw the last time. */
export type AskedChange = {
  /** Permissions that it did not ask for before. */
  readonly permissions: readonly string[];
  /** Where it would take part in conversations and did not before, e.g. "hook tool.before". */
  readonly roles: readonly string[];
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
    roles: rolesOf(next).filter((role) => !roles.includes(role)),
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
  return [...new Set(describeOffers(manifest))].filter((offer) => !offer.startsWith("/"));
}

/** The manifest as its grant leaves it: what was taken back is not asked for. */
export function withGranted(manifest: PluginManifest, grant: StoredGrant): PluginManifest {
  return { ...manifest, wants: manifest.wants.filter(({ permission }) => grant.allow.includes(permission)) };
}

/** What the manifest asks for and the grant does not give. */
export function withheldOf(manifest: PluginManifest, grant: StoredGrant): readonly string[] {
  return manifest.wants.map(({ permission }) => permission).filter((permission) => !grant.allow.includes(permission));
}
