import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import type { WallRule } from "../landlock/landlock-table.ts";
import { isInFolder } from "../permission/grant.ts";
import { type CheckedSpec, parentFolders, type ShownPath } from "./launch-check.ts";
import type { Confinement } from "./launcher.ts";
import type { SystemView } from "./system-view.ts";

type Mount =
  | { readonly at: string; readonly kind: "read" | "write"; readonly source: string }
  | { readonly at: string; readonly kind: "link"; readonly target: string }
  | { readonly at: string; readonly kind: "empty" | "folder" | "proc" | "dev" | "scratch" };

/** Size of the sandbox's own /tmp, which is memory of the machine. */
export const SCRATCH_LIMIT_BYTES = 512 * 1024 * 1024;

/** Size of the sandbox's own /dev/shm, which is memory of the machine, too; what containers have. */
export const SHARED_MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;

/** Folders whose host content is sockets and kernel interfaces, so that a grant of `/` does not mean them. */
const NOT_MEANT_BY_ROOT = ["/run", "/sys"];

/** What lies in the place of a file that is hidden. */
const NOTHING = "/dev/null";

/**
 * What is made read-only when all is mounted. Where the daemon is root its children have root's user id, to which the
 * kernel's settings in /proc/sys belong, even without a privilege: whoever writes `core_pattern` has the machine. And
 * what lies in /dev beside devices is memory of the machine that nobody measures.
 */
const FROZEN: ReadonlySet<Mount["kind"]> = new Set(["empty", "proc", "dev"]);

/** bwrap's options for a namespace that holds the whole tree, sees the network only if granted, and has no privileges. */
export function namespaceArguments(network: boolean): string[] {
  const shared = network ? ["--share-net"] : [];
  return ["--unshare-all", ...shared, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"];
}

/**
 * bwrap's options for the files that the child sees, parents before what lies in them, so that no mount buries another.
 * `closing` comes after the last mount of all. `rules` say the same to Landlock, as far as it can be said: what it gives
 * beneath a path cannot be taken away further down. Throws when `cwd` is outside of all of it.
 */
export function fileArguments(
  spec: CheckedSpec,
  confinement: Confinement,
  cwd: string,
  view: SystemView,
): { readonly mounts: readonly string[]; readonly closing: readonly string[]; readonly rules: readonly WallRule[] } {
  const mounts = planMounts(spec, confinement, view);
  const real = realpathSync.native(cwd);
  if (!isCovered(mounts, real) && !mounts.has(real)) {
    throw new Error(`cannot start ${spec.command[0]}: its working folder ${cwd} is not in its read or write paths`);
  }
  const ordered = [...mounts.values()].sort((a, b) => depthOf(a.at) - depthOf(b.at));
  const frozen = ordered.filter(({ kind }) => FROZEN.has(kind)).map((mount) => mount.at);
  if (!mounts.has("/")) frozen.push("/");
  return {
    mounts: ordered.flatMap(mountArguments),
    closing: [...frozen.flatMap((at) => ["--remount-ro", at]), "--chdir", real],
    rules: [NAMES_OF_ALL, ...ordered.flatMap(rulesOf)],
  };
}

/** Later entries of the same place win: what was asked for explicitly over what comes with the system. */
function planMounts(spec: CheckedSpec, confinement: Confinement, view: SystemView): Map<string, Mount> {
  const mounts = new Map<string, Mount>();
  const add = (mount: Mount) => mounts.set(mount.at, mount);
  const asked = [...spec.read, ...spec.write];
  const isAsked = (path: string) => asked.some(({ real }) => isInFolder(real, path));

  if (isAsked("/")) for (const at of NOT_MEANT_BY_ROOT) add({ at, kind: "empty" });
  for (const link of view.links) if (!isAsked(link.at)) add({ at: link.at, kind: "link", target: link.target });
  const system = confinement.system === "programs" ? view.programs : view.libraries;
  for (const path of system) add({ at: path, kind: "read", source: path });
  if (confinement.network !== "none") {
    for (const path of view.network.filter(existsSync)) {
      // Where /etc is shown, the name is there already, often as a link to /run: what is missing is the place it leads to.
      const place = system.some((root) => isInFolder(root, path)) ? realpathSync.native(path) : path;
      add({ at: place, kind: "read", source: place });
    }
  }
  for (const path of view.secrets.filter(existsSync)) {
    if (isCovered(mounts, path) || isAsked(path)) add(emptied(path));
  }
  add({ at: "/proc", kind: "proc" });
  add({ at: "/dev", kind: "dev" });
  if (!isAsked("/tmp")) add({ at: "/tmp", kind: "scratch" });

  for (const path of spec.read) add({ at: path.real, kind: "read", source: path.real });
  for (const path of spec.write) add({ at: path.real, kind: "write", source: path.real });
  if (!isCovered(mounts, spec.program.real)) {
    add({ at: spec.program.real, kind: "read", source: spec.program.real });
  }
  for (const path of spec.hide) if (isCovered(mounts, path)) add(emptied(path));
  for (const path of [...spec.hide.flatMap(parentFolders), ...spec.held]) hold(mounts, path);
  for (const path of confinement.folders ?? []) {
    if (!mounts.has(path) && !isCovered(mounts, path)) add({ at: path, kind: "folder" });
  }
  for (const path of [...asked, spec.program]) addLink(mounts, path);
  return mounts;
}

/**
 * A mount cannot be renamed or removed. Without this the folder above a hidden place could be, place and all, and the next child,
 * for whom the old name is hidden, would have it open before it.
 */
function hold(mounts: Map<string, Mount>, folder: string): void {
  if (mounts.has(folder) || nearestMount(mounts, folder)?.kind !== "write") return;
  mounts.set(folder, { at: folder, kind: "write", source: folder });
}

/** A path that was named through a link must be found by that name; below a shown folder the link itself is there. */
function addLink(mounts: Map<string, Mount>, { named, real }: ShownPath): void {
  if (named === real || mounts.has(named) || isCovered(mounts, named)) return;
  mounts.set(named, { at: named, kind: "link", target: real });
}

/** True when host content is visible at the place, or a link leads away from above it. */
function isCovered(mounts: ReadonlyMap<string, Mount>, path: string): boolean {
  const nearest = nearestMount(mounts, path);
  return nearest?.kind === "read" || nearest?.kind === "write" || nearest?.kind === "link";
}

function nearestMount(mounts: ReadonlyMap<string, Mount>, path: string): Mount | undefined {
  let nearest: Mount | undefined;
  for (const mount of mounts.values()) {
    if (isInFolder(mount.at, path) && (!nearest || mount.at.length > nearest.at.length)) nearest = mount;
  }
  return nearest;
}

function emptied(path: string): Mount {
  const isFolder = lstatSync(path).isDirectory();
  return isFolder ? { at: path, kind: "empty" } : { at: path, kind: "read", source: NOTHING };
}

function mountArguments(mount: Mount): string[] {
  switch (mount.kind) {
    case "read":
      return ["--ro-bind", mount.source, mount.at];
    case "write":
      return ["--bind", mount.source, mount.at];
    case "link":
      return ["--symlink", mount.target, mount.at];
    case "proc":
      return ["--proc", mount.at];
    case "dev":
      return ["--dev", mount.at, "--size", String(SHARED_MEMORY_LIMIT_BYTES), "--tmpfs", `${mount.at}/shm`];
    case "empty":
      return ["--tmpfs", mount.at];
    case "folder":
      return ["--dir", mount.at];
    case "scratch":
      return ["--size", String(SCRATCH_LIMIT_BYTES), "--tmpfs", mount.at];
  }
}

/** Many folders are there only because something is mounted below them, and programs look what is in `/` or `/usr/bin`. */
const NAMES_OF_ALL: WallRule = { path: "/", isFolder: true, access: "list" };

function rulesOf(mount: Mount): WallRule[] {
  const path = mount.at;
  switch (mount.kind) {
    case "read":
    case "write": {
      const found = mount.source === NOTHING ? undefined : statSync(mount.source, { throwIfNoEntry: false });
      return found ? [{ path, isFolder: found.isDirectory(), access: mount.kind }] : [];
    }
    case "proc":
      return [{ path, isFolder: true, access: "read" }];
    case "dev":
      return [
        { path, isFolder: true, access: "devices" },
        { path: `${path}/shm`, isFolder: true, access: "write" },
      ];
    case "scratch":
      return [{ path, isFolder: true, access: "write" }];
    case "empty":
    case "folder":
      return [{ path, isFolder: true, access: "list" }];
    case "link":
      return [];
  }
}

function depthOf(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}
