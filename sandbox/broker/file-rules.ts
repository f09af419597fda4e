import { isInFolder } from "../permission/grant.ts";
import type { Grant } from "../permission/permission.ts";

/** Kernel interfaces: never opened, whatever was granted. */
const NEVER_OPENED = ["/proc", "/sys", "/dev", "/run"];
const HARMLESS_DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/** What holds for files beside every grant. */
export type FileRules = {
  /** Why a path is not touched in this way, whoever grants it; undefined when the grant decides. */
  refusal(kind: "read" | "write", path: string, grant: Grant): string | undefined;
  /** Absolute real paths of the daemon's own data. */
  readonly hidden: readonly string[];
  protectedWrite(path: string): string | undefined;
};

/** Reading one of them gives bytes without end, or none. */
export function isHarmlessDevice(path: string): boolean {
  return HARMLESS_DEVICES.includes(path);
}

export function isKernelPlace(path: string): boolean {
  return NEVER_OPENED.some((root) => isInFolder(root, path));
}

/**
 * @param hidden absolute real paths of the daemon's own data, its keys among it. A grant opens what lies there only when it
 * names a place in it: neither all of `read` nor a folder above does.
 * @param protectedWrite why a path may never be written; undefined when it may
 */
export function fileRules(hidden: readonly string[], protectedWrite: (path: string) => string | undefined): FileRules {
  function isHidden(kind: "read" | "write", path: string, grant: Grant): boolean {
    const root = hidden.find((each) => isInFolder(each, path));
    if (root === undefined) return false;
    return !grant.allow.some(
      (rule) =>
        rule.kind === kind && rule.path !== undefined && isInFolder(root, rule.path) && isInFolder(rule.path, path),
    );
  }

  return {
    hidden,
    protectedWrite,
    refusal(kind, path, grant) {
      if (isKernelPlace(path) && !isHarmlessDevice(path)) return "it is the system's own";
      if (isHidden(kind, path, grant)) return "it is the daemon's own";
      return kind === "write" ? protectedWrite(path) : undefined;
    },
  };
}
