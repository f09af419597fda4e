import type { PluginGrant } from "../core/domain/admin.ts";
import { fail, ok, type Result } from "../core/domain/failure.ts";
import { PluginChange } from "../proto/gen/clawd/v1/event_pb.ts";
import { type AdminParts, findGrant, renew, unknownPlugin, writeGrant, writeLess } from "./admin-parts.ts";
import { withheldOf } from "./install/consent.ts";
import type { StoredGrant } from "./install/grant-store.ts";
import { readHeld } from "./install/install.ts";
import { findBefore, grantOf, place } from "./plugin-install.ts";

/**
 * Grants more: trust, permissions that the manifest asks for, or, when neither is named, the upgrade that waits, or else
 * everything that is withheld.
 */
export async function grantPlugin(
  parts: AdminParts,
  name: string,
  permissions: readonly string[],
  trust: boolean,
): Promise<Result<PluginGrant>> {
  const grant = findGrant(parts, name);
  if (!grant.ok) return grant;
  const isPlain = permissions.length === 0 && !trust;
  if (isPlain && grant.value.heldSha256 !== "") return takeHeld(parts, name, grant.value);
  const manifest = findBefore(parts, name)?.manifest;
  if (manifest === undefined) return refused(parts, name);
  const wants = manifest.wants.map(({ permission }) => permission);
  const named = isPlain ? ok(withheldOf(manifest, grant.value)) : pick(name, wants, permissions);
  if (!named.ok) return named;
  const allow = wants.filter((one) => grant.value.allow.includes(one) || named.value.includes(one));
  const withheld = wants.filter((one) => !allow.includes(one));
  const next = { ...grant.value, allow, withheld, trusted: grant.value.trusted || trust };
  const written = await writeGrant(parts, name, PluginChange.GRANTED, next);
  if (!written.ok) return written;
  const renewed = await renew(parts, name, "it was granted more", next);
  if (!renewed.ok) return renewed;
  return ok({ granted: allow, version: next.version });
}

async function takeHeld(parts: AdminParts, name: string, before: StoredGrant): Promise<Result<PluginGrant>> {
  const staged = await readHeld(parts.place, name, before.heldSha256);
  if (!staged.ok) return staged;
  const wants = staged.value.manifest.wants.map(({ permission }) => permission);
  // What was taken back is given back by its name only.
  const withheld = wants.filter((one) => before.withheld.includes(one));
  const allow = wants.filter((one) => !withheld.includes(one));
  const { trusted, enabled } = before;
  const kept = { allow, withheld, trusted, enabled };
  const placed = await place(parts, staged.value, { ...grantOf(staged.value, parts.now()), ...kept });
  return placed.ok ? ok({ granted: allow, version: staged.value.manifest.version }) : placed;
}

/**
 * Takes permissions back, all when none is named, or the trust, and ends a process that had them at once. They stay
 * withheld, also from upgrades, until they are granted again.
 */
export async function revokePlugin(
  parts: AdminParts,
  name: string,
  permissions: readonly string[],
  trust: boolean,
): Promise<Result<PluginGrant>> {
  const grant = findGrant(parts, name);
  if (!grant.ok) return grant;
  const { allow, withheld } = grant.value;
  const isAll = permissions.length === 0 && !trust;
  // By the grant, not by the manifest: also what is broken can be revoked.
  const named = isAll ? ok(allow) : pick(name, [...allow, ...withheld], permissions);
  if (!named.ok) return named;
  const next = {
    ...grant.value,
    allow: allow.filter((one) => !named.value.includes(one)),
    withheld: [...new Set([...withheld, ...named.value])],
    trusted: grant.value.trusted && !trust,
  };
  const written = await writeLess(parts, name, PluginChange.REVOKED, next);
  await parts.registry.refresh(name, "something was taken back from it");
  return written.ok ? ok({ granted: next.allow, version: next.version }) : written;
}

/** Turns a plugin on or off; turned off it stops at once. */
export async function enablePlugin(parts: AdminParts, name: string, enabled: boolean): Promise<Result<void>> {
  const grant = findGrant(parts, name);
  if (!grant.ok) return grant;
  const next = { ...grant.value, enabled };
  const written = enabled
    ? await writeGrant(parts, name, PluginChange.ENABLED, next)
    : await writeLess(parts, name, PluginChange.DISABLED, next);
  if (!written.ok && enabled) return written;
  await parts.registry.refresh(name, enabled ? "it was turned on" : "it was turned off");
  return written;
}

/** The permissions that words name: a whole permission, or a kind for all of that kind, e.g. "net" for "net=example.com". */
function pick(name: string, known: readonly string[], words: readonly string[]): Result<readonly string[]> {
  const picked: string[] = [];
  for (const word of words) {
    // Also where the plugin asks for a bare "net" beside others: who takes back "net" means to leave it none.
    const meant = known.filter((one) => one.trim() === word.trim() || one.split("=", 1)[0]?.trim() === word.trim());
    if (meant.length === 0) {
      return fail("invalid", `plugin "${name}" does not ask for "${word}"`, {
        hint: known.length === 0 ? "it asks for nothing" : `it asks for: ${known.join(" ")}`,
      });
    }
    picked.push(...meant);
  }
  return ok(picked);
}

/** Why there is no manifest to grant by. */
function refused({ registry }: AdminParts, name: string): Result<never> {
  const entry = registry.find(name);
  if (entry === undefined) return unknownPlugin(name, registry);
  if (!entry.live.ok) return entry.live;
  return fail("denied", `the manifest of plugin "${name}" is not the one that was granted`, {
    hint: `look at it and grant it: claw plugin install ${entry.folder}`,
  });
}
