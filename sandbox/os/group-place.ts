import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInFolder } from "../permission/grant.ts";

/** What control groups hold in check: how many processes there are, their share of the processor, their memory. */
export type Controller = "pids" | "cpu" | "memory";

/** A folder in which groups of one controller can be made and joined. */
export type GroupPlace = {
  readonly folder: string;
  /** Version 2, where one group has all controllers; in version 1 each has groups of its own. */
  readonly isUnified: boolean;
};

/** A file of a group, and what to write there. An optional one is not there on every kernel. */
export type LimitFile = { readonly file: string; readonly value: string; readonly isOptional: boolean };

const CPU_PERIOD_US = 100_000;
const BYTES_PER_MIB = 1024 * 1024;
/** For the trial of a place: any amount that a group takes. */
const TRIAL_AMOUNT = 64;
/** The kernel gives a process of niceness n the weight 1024 / 1.25^n; a group has 1024 in version 1 and 100 in version 2. */
const NICE_STEP = 1.25;
const FULL_SHARES = 1024;
const FULL_WEIGHT = 100;

/**
 * How a group is held to an amount: processes and threads, percent of one processor, or MiB. Memory that is swapped out counts
 * as memory where the kernel reckons that.
 */
export function limitFiles(controller: Controller, isUnified: boolean, amount: number): readonly LimitFile[] {
  const must = (file: string, value: string | number) => ({ file, value: String(value), isOptional: false });
  const may = (file: string, value: string | number) => ({ file, value: String(value), isOptional: true });
  switch (controller) {
    case "pids":
      return [must("pids.max", amount)];
    case "cpu": {
      const quotaUs = Math.max(1_000, Math.round((amount / 100) * CPU_PERIOD_US));
      return isUnified
        ? [must("cpu.max", `${quotaUs} ${CPU_PERIOD_US}`)]
        : [must("cpu.cfs_period_us", CPU_PERIOD_US), must("cpu.cfs_quota_us", quotaUs)];
    }
    case "memory": {
      const bytes = amount * BYTES_PER_MIB;
      return isUnified
        ? [must("memory.max", bytes), may("memory.swap.max", 0)]
        : [must("memory.limit_in_bytes", bytes), may("memory.memsw.limit_in_bytes", bytes)];
    }
  }
}

/**
 * Finds a place for groups of a controller, as near to this process's own group as there is one, so that the limits above
 * it hold on. Undefined when the system lets us make none.
 * @param cgroupsDir where control groups are mounted: version 2 itself, or the folder of the controllers of version 1
 * @param trialName of a group that is made and removed again
 * @param beside where groups of version 2 are made already, for another controller: there or nowhere
 */
export function findGroupPlace(
  cgroupsDir: string,
  controller: Controller,
  trialName: string,
  beside?: GroupPlace,
): GroupPlace | undefined {
  const isUnified = wordsIn(join(cgroupsDir, "cgroup.controllers")).includes(controller);
  const folders =
    isUnified && beside?.isUnified ? [beside.folder] : foldersForGroups(cgroupsDir, controller, isUnified);
  const folder = folders.find((one) => canHold(one, controller, isUnified, trialName));
  return folder === undefined ? undefined : { folder, isUnified };
}

/** The own group of this process and those above it, nearest first; none when nobody has this controller here. */
function foldersForGroups(cgroupsDir: string, controller: Controller, isUnified: boolean): string[] {
  const mount = isUnified ? cgroupsDir : join(cgroupsDir, controller);
  if (!existsSync(join(mount, "cgroup.procs"))) return [];
  const line = isUnified ? /^0::(.*)$/m : new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, "m");
  const own = line.exec(readText("/proc/self/cgroup") ?? "")?.[1];
  const folders = [];
  // In a container the name can be one of the machine outside, which leads nowhere here, or with `..` out of the mount.
  for (let place = join(mount, own ?? "/"); place !== mount && isInFolder(mount, place); place = dirname(place)) {
    if (existsSync(place)) folders.push(place.replace(/\/$/, ""));
  }
  return [...new Set([...folders, mount])];
}

/**
 * Version 2 hands a controller down only where it is told to. Below a group that has processes of its own it may agree, but
 * with children that no process can join (`domain invalid`): then it is told to stop again.
 */
function canHold(place: string, controller: Controller, isUnified: boolean, name: string): boolean {
  const handedDown = join(place, "cgroup.subtree_control");
  const folder = join(place, name);
  const isAsked = isUnified && !wordsIn(handedDown).includes(controller);
  const holds = tryTo(() => {
    if (isAsked) writeFileSync(handedDown, `+${controller}`);
    mkdirSync(folder);
    writeLimits(folder, limitFiles(controller, isUnified, TRIAL_AMOUNT));
  });
  const type = readText(join(folder, "cgroup.type"))?.trim() ?? "domain";
  tryTo(() => rmdirSync(folder));
  const isFit = holds && type === "domain";
  if (isAsked && !isFit) tryTo(() => writeFileSync(handedDown, `-${controller}`));
  return isFit;
}

/** Throws when a limit that must be there is not taken. */
export function writeLimits(folder: string, limits: readonly LimitFile[]): void {
  for (const { file, value, isOptional } of limits) {
    const path = join(folder, file);
    if (!isOptional) writeFileSync(path, value);
    else if (existsSync(path)) tryTo(() => writeFileSync(path, value));
  }
}

/**
 * How a group stands back like one process of that niceness: niceness itself counts only within a group, and every
 * session is one on most desktops and servers, so that a stranger with nice 19 would have as much of a processor as we.
 */
export function weightFile(isUnified: boolean, nice: number): LimitFile {
  const share = NICE_STEP ** -nice;
  return isUnified
    ? { file: "cpu.weight", value: String(Math.max(1, Math.round(FULL_WEIGHT * share))), isOptional: false }
    : { file: "cpu.shares", value: String(Math.round(FULL_SHARES * share)), isOptional: false };
}

export function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function wordsIn(path: string): string[] {
  return (readText(path) ?? "").split(/\s/);
}

/** True when it could be done. */
export function tryTo(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
