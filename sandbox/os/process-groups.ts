import { existsSync, mkdirSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Controller,
  findGroupPlace,
  foldersIn,
  type GroupPlace,
  type LimitFile,
  limitFiles,
  readText,
  tryTo,
  weightFile,
  writeLimits,
} from "./group-place.ts";
import { sendSignal } from "./process-tree.ts";

/** Where Linux systems mount control groups. */
export const CGROUPS_DIR = "/sys/fs/cgroup";

/** For a child whose limits do not say: more than programs need, far less than a machine can bear. */
export const DEFAULT_PROCESSES = 512;

/** What is killed may need a moment to be gone; a folder that outlives the tries is swept at the next start. */
const REMOVE_RETRY_MS = 10;
const REMOVE_TRIES_LIMIT = 200;

const GROUP_NAME = /^clawd-(\d+)-(\d+)-(\d+)-/;

/** The control group of one child, which holds its tree, wherever it goes; in version 1 there is one for each controller. */
export type ProcessGroup = {
  /** A process that writes its id into all of these is in the group, and so is all that it starts. */
  readonly joinFiles: readonly string[];
  /** Forbids the group any new process and kills those that are there. */
  kill(): void;
  /** Kills, and removes the group as soon as it is empty. Call it once. */
  end(): void;
};

/** What one child and all that it starts may use together. */
export type GroupLimits = {
  /** How many processes and threads there may be at a time. */
  readonly processes: number;
  /** Of one processor; absent: no limit of its own. */
  readonly cpuPercent?: number;
  /** MiB, files in memory included; absent: no limit of its own. */
  readonly memoryMib?: number;
  /** How far all of it together stands back for others on the processor, 0 to 19; absent: not at all. */
  readonly nice?: number;
};

/** Control groups as the limit of processes where RLIMIT_NPROC is none, and of what no such limit counts together. */
export type ProcessGroups = {
  /** What the paths of all groups begin with; unique to this launcher on the machine. One or more. */
  readonly pathPrefixes: readonly string[];
  /** Limits that are passed over, because the system has no group for them. */
  readonly missing: readonly ("cpuPercent" | "memoryMib")[];
  /** Makes a group. Throws when the system does not let us any more. */
  open(limits: GroupLimits): ProcessGroup;
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
 * Finds places for groups, and ends the groups that daemons which are dead left there. Undefined when the system lets us
 * count no processes; what else it does not let us hold is `missing`.
 * @param cgroupsDir where control groups are mounted: version 2 itself, or the folder of the controllers of version 1
 * @param launcherName unique to this launcher on the machine
 */
export function openProcessGroups(cgroupsDir: string, launcherName: string): ProcessGroups | undefined {
  const self = readSelf();
  if (!self) return undefined;
  const name = `clawd-${self.pidNamespace}-${self.pid}-${self.startTicks}-${launcherName}`;
  const find = (controller: Controller, beside?: GroupPlace) =>
    findGroupPlace(cgroupsDir, controller, `${name}probe`, beside);
  const pids = find("pids");
  if (pids === undefined) return undefined;
  const places = { pids, cpu: find("cpu", pids), memory: find("memory", pids) };
  const bases = [...new Set(Object.values(places).flatMap((place) => (place ? [place.folder] : [])))];
  for (const base of bases) sweep(base, self.pidNamespace);
  let count = 0;
  return {
    pathPrefixes: bases.map((base) => join(base, name)),
    missing: [...(places.cpu ? [] : ["cpuPercent" as const]), ...(places.memory ? [] : ["memoryMib" as const])],
    open({ processes, cpuPercent, memoryMib, nice }) {
      count += 1;
      const wanted = new Map<string, LimitFile[]>();
      const hold = (controller: Controller, files: (isUnified: boolean) => readonly LimitFile[]) => {
        const place = places[controller];
        const held = place === undefined ? [] : files(place.isUnified);
        if (place === undefined || held.length === 0) return;
        const folder = join(place.folder, `${name}${count}`);
        wanted.set(folder, [...(wanted.get(folder) ?? []), ...held]);
      };
      const limit = (controller: Controller, amount: number | undefined) =>
        hold(controller, (isUnified) => (amount === undefined ? [] : limitFiles(controller, isUnified, amount)));
      limit("pids", processes);
      limit("cpu", cpuPercent);
      hold("cpu", (isUnified) => (nice === undefined ? [] : [weightFile(isUnified, nice)]));
      limit("memory", memoryMib);
      return makeGroup(wanted);
    },
  };
}

function makeGroup(wanted: ReadonlyMap<string, readonly LimitFile[]>): ProcessGroup {
  const folders = [...wanted.keys()];
  try {
    for (const [folder, limits] of wanted) {
      mkdirSync(folder);
      writeLimits(folder, limits);
    }
  } catch (cause) {
    for (const folder of folders) tryTo(() => rmdirSync(folder));
    throw cause;
  }
  return {
    joinFiles: folders.map((folder) => join(folder, "cgroup.procs")),
    kill: () => folders.forEach(killAll),
    end: () => {
      for (const folder of folders) endGroup(folder, REMOVE_TRIES_LIMIT);
    },
  };
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

/** First no new ones, where the group counts them, which holds for groups within it too, so that nobody can fork faster than we kill. */
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

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
