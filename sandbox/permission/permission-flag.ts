import { type Permission, printPermission } from "./permission.ts";

/** The flag that grants a permission, for example `--allow-read=/x`. */
export function printFlag(permission: Permission): string {
  return `--allow-${printPermission(permission)}`;
}

/** The flag that forbids it. */
export function printDenyFlag(permission: Permission): string {
  return `--deny-${printPermission(permission)}`;
}
