import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInFolder } from "../permission/grant.ts";
import { sendSignal } from "./process-tree.ts";

/** Where Linux systems mount control groups. */
export const CGROUPS_DIR = "/sys/fs/cgroup";

/** For a child whose limits do not say: more than programs need, far less than a machine can bear. */
export const DEFAULT_PROCESSES = 512;

/** What is killed may need a moment to be gone; a folder that outlives the tries is swept at the next start. */
const REMOVE_RETRY_MS = 10;
const REMOVE_TRIES_LIMIT = 200;

const GROUP_NAME = /^clawd-(\d+)-(\d+)-(\d+)-/;

/** The control group of one child, which counts every process and thread of its tree, wherever they go. */
export type ProcessGroup = {
  /** A process that writes its id here is in the group, and so is all that it starts. */
  readonly joinFile: string;
  /** Forbids the group any new process and kills those that are there. */
  kill(): void;
  /** Kills, and removes the group as soon as it is empty. Call it once. */
  end(): void;
};

/** Control groups as the limit of processes where RLIMIT_NPROC is none. */
export type ProcessGroups = {
  /** What the paths of all groups begin with; unique to this launcher on the machine. */
  readonly pathPrefix: string;
  /**
   * Makes a group. Throws when the system does not let us any more.
   * @param processes how many processes and threads there may be at a time
   */
  open(processes: number): ProcessGroup;
};

/**
 * Whether the kernel keeps RLIMIT_NPROC for this process: for everybody but root. Who is root only in a user namespace
 * of his own is somebody else to the kernel, and counted.
 */
export function isCountedByUser(): boolean {
  if (process.getuid?.() !== 0) return true;
  const map = readText("/proc/self/uid_map");
  return map !== undefined && !/^\s*0\s+0\s/m.test(map);
}

/**
 * Finds a place for groups, as near to this process's own group as there is one, so that the limits above it hold on;
 * and ends the groups that daemons which are dead left there. Undefined when the system lets us make none.
 * @param cgroupsDir where control groups are mounted: version 2 itself, or the folder of the controllers of version 1
 * @param launcherName unique to this launcher on the machine
 */
export function openProcessGroups(cgroupsDir: string, launcherName: string): ProcessGroups | undefined {
  const self = readSelf();
  if (!self) return undefined;
  const name = `clawd-${self.pidNamespace}-${self.pid}-${self.startTicks}-${launcherName}`;
  const base = placesForGroups(cgroupsDir).find((place) => canCount(place, `${name}probe`));
  if (base === undefined) return undefined;
  sweep(base, self.pidNamespace);
  let count = 0;
  return {
    pathPrefix: join(base, name),
    open(processes) {
      count += 1;
      const folder = join(base, `${name}${count}`);
      mkdirSync(folder);
      try {
        writeFileSync(join(folder, "pids.max"), String(processes));
      } catch (cause) {
        tryTo(() => rmdirSync(folder));
        throw cause;
      }
      return {
        joinFile: join(folder, "cgroup.procs"),
        kill: () => killAll(folder),
        end: () => endGroup(folder, REMOVE_TRIES_LIMIT),
      };
    },
  };
}

/** The own group of this process and those above it, nearest first; none when nobody counts processes here. */
function placesForGroups(cgroupsDir: string): string[] {
  const isUnified = readText(join(cgroupsDir, "cgroup.controllers"))?.split(/\s/).includes("pids") ?? false;
  const mount = isUnified ? cgroupsDir : join(cgroupsDir, "pids");
  if (!existsSync(join(mount, "cgroup.procs"))) return [];
  const own = (isUnified ? /^0::(.*)$/m : /^\d+:(?:[^:]*,)?pids(?:,[^:]*)?:(.*)$/m).exec(
    readText("/proc/self/cgroup") ?? "",
  )?.[1];
  const places = [];
  // In a container the name can be one of the machine outside, which leads nowhere here, or with `..` out of the mount.
  for (let place = join(mount, own ?? "/"); place !== mount && isInFolder(mount, place); place = dirname(place)) {
    if (existsSync(place)) places.push(place.replace(/\/$/, ""));
  }
  return [...new Set([...places, mount])];
}

/**
 * Version 2 hands a controller down only where it is told to. Below a group that has processes of its own it may agree, but
 * with children that no process can join (`domain invalid`): then it is told to stop again.
 */
function canCount(place: string, name: string): boolean {
  const handedDown = join(place, "cgroup.subtree_control");
  const folder = join(place, name);
  const isAsked = readText(handedDown)?.split(/\s/).includes("pids") === false;
  const counts = tryTo(() => {
    if (isAsked) writeFileSync(handedDown, "+pids");
    mkdirSync(folder);
    writeFileSync(join(folder, "pids.max"), "1");
  });
  const type = readText(join(folder, "cgroup.type"))?.trim() ?? "domain";
  tryTo(() => rmdirSync(folder));
  const isFit = counts && type === "domain";
  if (isAsked && !isFit) tryTo(() => writeFileSync(handedDown, "-pids"));
  return isFit;
}

/** Ends the groups of daemons that are dead. Only the ids of our own namespace say who that is. */
function sweep(base: string, ownNamespace: string): void {
  for (const name of foldersIn(base)) {
    const [, pidNamespace, pid, startTicks] = GROUP_NAME.exec(name) ?? [];
    if (pid === undefined || pidNamespace !== ownNamespace) continue;
    if (readStart(pid)?.startTicks !== startTicks) endGroup(join(base, name), REMOVE_TRIES_LIMIT);
  }
}

function endGroup(folder: string, triesLeft: number): void {
  killAll(folder);
  removeGroup(folder);
  if (triesLeft > 1 && existsSync(folder)) {
    // Nobody waits for it: when the daemon ends before, the watcher of leases removes what is left.
    setTimeout(() => endGroup(folder, triesLeft - 1), REMOVE_RETRY_MS).unref();
  }
}

/** First no new ones, which holds for groups within it too, so that nobody can fork faster than we kill. */
function killAll(folder: string): void {
  tryTo(() => writeFileSync(join(folder, "pids.max"), "0"));
  for (const name of foldersIn(folder)) killAll(join(folder, name));
  // Whoever is of a namespace that we do not see is listed as 0, which as a target would be ourselves.
  const pids = (readText(join(folder, "cgroup.procs")) ?? "").split("\n").map(Number);
  for (const pid of pids) if (pid > 1 && pid !== process.pid) sendSignal(pid, "SIGKILL");
}

/** A program that made groups itself made them within its own. */
function removeGroup(folder: string): void {
  for (const name of foldersIn(folder)) removeGroup(join(folder, name));
  tryTo(() => rmdirSync(folder));
}

type Self = { readonly pid: string; readonly startTicks: string; readonly pidNamespace: string };

function readSelf(): Self | undefined {
  const start = readStart("self");
  const pidNamespace = /\d+/.exec(readLink("/proc/self/ns/pid"))?.[0];
  return start && pidNamespace !== undefined ? { ...start, pidNamespace } : undefined;
}

/** When a process began, in ticks since the machine did: with the process id a name that nobody else gets. */
function readStart(pid: string): { readonly pid: string; readonly startTicks: string } | undefined {
  const stat = readText(`/proc/${pid}/stat`) ?? "";
  // The second field is the program's name, which may hold spaces and brackets; the start is the 22nd.
  const startTicks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  const [ownPid] = stat.split(" ");
  return startTicks !== undefined && ownPid ? { pid: ownPid, startTicks } : undefined;
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** True when it could be done. */
function tryTo(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
