import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/**
 * What of the machine itself belongs into a sandbox. Read once, because looking takes milliseconds: a file of `/etc` may
 * be gone by the time of a launch.
 */
export type SystemView = {
  /** Real folders and files of the dynamic linker. */
  readonly libraries: readonly string[];
  /** Real folders of programs, their data and settings. */
  readonly programs: readonly string[];
  /** `/bin` → `usr/bin` and the like. */
  readonly links: readonly { readonly at: string; readonly target: string }[];
  /** Settings of name look-up and certificates, for children with a network. */
  readonly network: readonly string[];
  /** Files of `/etc` that not everybody may read, although this process may. */
  readonly secrets: readonly string[];
};

const LIBRARY_FOLDERS = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", "/nix/store"];
const LIBRARY_FILES = ["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"];
const PROGRAM_FOLDERS = ["/usr", "/etc", "/nix/store", "/run/current-system"];
const ROOT_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const NETWORK_FILES = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/gai.conf",
  "/etc/services",
  "/etc/ssl",
  "/etc/pki",
  "/etc/ca-certificates",
  "/usr/share/ca-certificates",
];

/** `/etc/ssh/…` and `/etc/ssl/private/…` are the deepest that matter. */
const SECRETS_DEPTH = 3;

export function readSystemView(): SystemView {
  const roots = ROOT_FOLDERS.filter((path) => existsSync(path));
  const links = roots.filter(isLink).map((at) => ({ at, target: readlinkSync(at) }));
  const folders = roots.filter((path) => !isLink(path));
  return {
    libraries: [...LIBRARY_FOLDERS, ...LIBRARY_FILES, ...folders.filter((path) => path.startsWith("/lib"))].filter(
      (path) => existsSync(path),
    ),
    programs: [...PROGRAM_FOLDERS, ...folders].filter((path) => existsSync(path)),
    links,
    network: NETWORK_FILES.filter((path) => existsSync(path)),
    secrets: findSecrets("/etc", SECRETS_DEPTH),
  };
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

/** A root daemon's child keeps the daemon's user id, so the file modes alone would let it read what is root's. */
function findSecrets(dir: string, depth: number): string[] {
  const secrets: string[] = [];
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (!entry.isDirectory() && !entry.isFile()) continue;
    const path = join(dir, entry.name);
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (!info) continue;
    const isForAll = info.isDirectory() ? (info.mode & 0o005) === 0o005 : (info.mode & 0o004) !== 0;
    if (!isForAll) secrets.push(path);
    else if (info.isDirectory() && depth > 1) secrets.push(...findSecrets(path, depth - 1));
  }
  return secrets;
}
