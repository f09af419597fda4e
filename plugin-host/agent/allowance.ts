import { covers, isInFolder } from "../../sandbox/permission/grant.ts";
import { type Grant, type Permission, printPermission } from "../../sandbox/permission/permission.ts";

/** What is left of a grant, and what was cut away, in the permission language. */
export type Cut = { readonly granted: Grant; readonly refused: readonly string[] };

/**
 * What both the daemon's person granted and the owner of this machine allows: of two permissions that meet, the narrower
 * one. Below the plugin's own folder nothing needs to be allowed, and what concerns the daemon's machine alone is not cut.
 */
export function cutGrant(granted: Grant, allowed: Grant, folder: string): Cut {
  const allow: Permission[] = [];
  const refused: string[] = [];
  for (const wanted of granted.allow) {
    const left = isItsOwn(wanted, folder) ? [wanted] : allowed.allow.flatMap((one) => narrower(wanted, one));
    allow.push(...left);
    if (left.length === 0) refused.push(printPermission(wanted));
  }
  return { granted: { allow, deny: [...granted.deny, ...allowed.deny] }, refused };
}

function isItsOwn(wanted: Permission, folder: string): boolean {
  switch (wanted.kind) {
    case "read":
    case "write":
      return wanted.path !== undefined && isInFolder(folder, wanted.path);
    case "tool":
    case "memory":
      return true;
    case "net":
    case "env":
    case "run":
    case "sys":
      return false;
  }
}

function narrower(left: Permission, right: Permission): readonly Permission[] {
  if (covers(right, left)) return [left];
  return covers(left, right) ? [right] : [];
}
