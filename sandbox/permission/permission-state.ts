import { forbids, normalize, opens, overlaps } from "./grant.ts";
import type { Grant, Permission } from "./permission.ts";

/** `partial`: granted, but something within it is denied. */
export type PermissionState = { readonly state: "granted" | "prompt" | "denied"; readonly partial: boolean };

/** What asking for it would come to. A malformed request is denied: no answer of a person could grant it. */
export function queryState(grant: Grant, request: Permission): PermissionState {
  const wanted = normalize(request);
  if (!wanted || grant.deny.some((rule) => forbids(rule, wanted))) return { state: "denied", partial: false };
  if (!grant.allow.some((rule) => opens(rule, wanted))) return { state: "prompt", partial: false };
  return { state: "granted", partial: grant.deny.some((rule) => overlaps(wanted, rule)) };
}

/** The grant with one permission more, as a person's yes leaves it. What is denied stays denied. */
export function withAllow(grant: Grant, permission: Permission): Grant {
  const added = normalize(permission);
  if (!added || grant.allow.some((rule) => opens(rule, added))) return grant;
  return { ...grant, allow: [...grant.allow, added] };
}

/**
 * The grant after a revocation. A rule cannot be cut in two: one that is wider than what is revoked goes as a whole, as
 * in Deno; and one that lies within it goes, too, so that nothing of what was revoked stays open.
 */
export function withoutAllow(grant: Grant, permission: Permission): Grant {
  const revoked = normalize(permission);
  if (!revoked) return grant;
  return { ...grant, allow: grant.allow.filter((rule) => !overlaps(rule, revoked) && !opens(rule, revoked)) };
}
