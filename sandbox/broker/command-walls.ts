import { existsSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DeniedConnection } from "../egress/egress-proxy.ts";
import { parentFolders } from "../os/launch-check.ts";
import type { Confinement } from "../os/launcher.ts";
import { check, isInFolder } from "../permission/grant.ts";
import type { Grant, Permission } from "../permission/permission.ts";
import { type FileRules, isKernelPlace } from "./file-rules.ts";

type FileKind = "read" | "write";

/** Settings of the machine are not a program's own, so that they are seen only when they are granted. */
const SETTINGS = "/etc";
/** What of them programs do not run without. */
const NEEDED_SETTINGS = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/ssl/certs",
  "/etc/ca-certificates",
  "/etc/pki/tls",
];

/** A look around before each command; what is deeper stays writable for it. */
const GUARD_DEPTH = 4;
const GUARD_FOLDERS_MAX = 400;

/**
 * What a command of a guest's sees of the machine: the system's programs, and what the guest itself may touch. It can
 * write only where the guest may read, too, because a folder that it can write to it can also read.
 */
export async function confineCommand(
  grant: Grant,
  rules: FileRules,
  onDenied: (denied: DeniedConnection) => void,
): Promise<Confinement> {
  const readable = grantedPaths(grant, "read", rules);
  const written = grantedPaths(grant, "write", rules);
  const write = [
    ...written.filter((path) => check(grant, { kind: "read", path }).ok),
    ...readable.filter(
      (path) => check(grant, { kind: "write", path }).ok && rules.refusal("write", path, grant) === undefined,
    ),
  ];
  const deniedPaths = (kind: FileKind) =>
    grant.deny.flatMap((rule) => (rule.kind === kind && rule.path ? [rule.path] : []));
  const isReadable = (path: string) => existsSync(path) && check(grant, { kind: "read", path }).ok;
  const guarded = await Promise.all(write.map((root) => findProtected(root, rules)));
  const kept = deniedPaths("write").filter(isReadable);
  const showsSettings = readable.some((path) => isInFolder(path, SETTINGS));
  return {
    read: [
      ...readable,
      ...(showsSettings ? [] : NEEDED_SETTINGS.filter((path) => existsSync(path))),
      ...kept,
      ...guarded.flat(),
    ],
    write,
    held: kept.flatMap((path) => parentFolders(realpathSync.native(path))),
    hide: [...deniedPaths("read"), ...rules.hidden, ...(showsSettings ? [] : [SETTINGS])],
    network: grant.allow.some(({ kind }) => kind === "net") ? { grant, onDenied } : "none",
    system: "programs",
  };
}

/** True when a guest may do everything that matters anyway, so that a command without walls can do no more than it. */
export function isUnconfined(grant: Grant): boolean {
  const kinds = ["read", "write", "net"] as const;
  return grant.deny.length === 0 && kinds.every((kind) => check(grant, { kind }).ok);
}

/** The granted places that exist. One within a denied place is not among them, although for a mount the deeper one would win. */
function grantedPaths(grant: Grant, kind: FileKind, rules: FileRules): string[] {
  const paths = grant.allow.flatMap((rule: Permission) => (rule.kind === kind ? [rule.path ?? "/"] : []));
  return [...new Set(paths)].filter(
    (path) =>
      !isKernelPlace(path) &&
      existsSync(path) &&
      check(grant, { kind, path }).ok &&
      rules.refusal(kind, path, grant) === undefined,
  );
}

/** Existing paths in a writable folder that nobody may write. */
async function findProtected(root: string, rules: FileRules): Promise<readonly string[]> {
  const guarded: string[] = [];
  let folders = [root];
  let looked = 0;
  for (let depth = 0; depth < GUARD_DEPTH && folders.length > 0; depth += 1) {
    const below: string[] = [];
    for (const folder of folders) {
      looked += 1;
      if (looked > GUARD_FOLDERS_MAX) return guarded;
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        // A link is not followed: covering it would show the command where it leads.
        if (entry.isSymbolicLink()) continue;
        if (rules.protectedWrite(path) !== undefined) guarded.push(path);
        else if (entry.isDirectory() && entry.name !== "node_modules" && !isKernelPlace(path)) below.push(path);
      }
    }
    folders = below;
  }
  return guarded;
}
