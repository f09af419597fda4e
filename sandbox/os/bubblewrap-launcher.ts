import { realpathSync } from "node:fs";
import { FILE_LIMIT_BYTES, landlockFile } from "../landlock/landlock-program.ts";
import { buildTable, type WallRule } from "../landlock/landlock-table.ts";
import {
  fileArguments,
  namespaceArguments,
  SCRATCH_LIMIT_BYTES,
  SHARED_MEMORY_LIMIT_BYTES,
} from "./bubblewrap-arguments.ts";
import { FORWARDER_NEEDS, type ProxyOpener, type SandboxProxy } from "./filtered-network.ts";
import { checkSpec } from "./launch-check.ts";
import type { Landlock, Launcher, LaunchSpec, ProcessLimits } from "./launcher.ts";
import { LEASE_VARIABLE, type LeaseWatcher, NO_MARK } from "./lease-watcher.ts";
import { type PoliteSignal, PROCESSES_PROLOGUE, spawnLeased } from "./leased-spawn.ts";
import { DEFAULT_PROCESSES, type GroupLimits, type ProcessGroups } from "./process-groups.ts";
import { childrenOf, killTree, sendSignal } from "./process-tree.ts";
import { type Architecture, assembleFilter } from "./syscall-filter.ts";
import { SYSCALL_PROFILES, type SyscallProfile } from "./syscall-profiles.ts";
import { readSystemView, type SystemView } from "./system-view.ts";

/** bwrap itself and the first process of its namespace, which are counted with the child in its control group. */
const WALL_PROCESSES = 2;
/** In `/dev`, which is the sandbox's own at every launch. */
const OWN_AT = "/dev/clawd";
const COUNTER_AT = `${OWN_AT}/sh`;
const LANDLOCK_AT = `${OWN_AT}/landlock`;
const BYTES_PER_MIB = 1024 * 1024;
/** Files in memory, which have limits of their own: who fills them is told so, and not killed. MiB. */
const FILES_MIB = (SCRATCH_LIMIT_BYTES + SHARED_MEMORY_LIMIT_BYTES) / BYTES_PER_MIB;
/** Their memory, and what the kernel needs for the namespaces, MiB. */
const WALL_MIB = 8;

export type BubblewrapParts = {
  readonly bwrap: string;
  readonly detail: string;
  readonly landlock: Landlock;
  readonly watcher: LeaseWatcher;
  readonly groups: ProcessGroups | undefined;
  /** Of the system calls; undefined for one whose numbers are not known here: then calls are not filtered, and there is no Landlock. */
  readonly architecture: Architecture | undefined;
  readonly proxies: ProxyOpener;
  /** Gives every launch a mark of its own. */
  readonly nextMark: () => string;
};

/**
 * Launches children in namespaces of their own. The whole tree lives in a PID namespace whose first process is
 * bubblewrap's: its death is the death of all.
 *
 * The child's environment goes to bwrap through a pipe, and bwrap's own has nothing but the mark of the lease: arguments
 * can be read by every user of the machine, and bwrap's environment by the child, in `/proc/1/environ`. The mounts stand in the arguments, because a
 * pipe that is cut short by the daemon's death must not cut off a wall.
 *
 * Where the kernel has Landlock, the first program inside is one that asks it for the same walls again: a mount that should not be
 * there, or not be writable, is none that the child can use.
 */
export function createBubblewrapLauncher(parts: BubblewrapParts): Launcher {
  const { bwrap, detail, landlock, watcher, groups, architecture, proxies, nextMark } = parts;
  let view: SystemView | undefined;
  const filters = new Map<SyscallProfile, Buffer>();

  function filterOf(profile: SyscallProfile): Buffer | undefined {
    if (architecture === undefined) return undefined;
    const filter = filters.get(profile) ?? assembleFilter(SYSCALL_PROFILES[profile], architecture);
    filters.set(profile, filter);
    return filter;
  }

  return {
    level: "bubblewrap",
    detail,
    landlock,
    launch(spec) {
      const checked = checkSpec(spec);
      view ??= readSystemView();
      const environment = Object.entries(spec.env).flatMap(([name, value]) => ["--setenv", name, value]);
      const argumentsAt = 3 + spec.pipes;
      const filter = filterOf(spec.confinement.syscalls ?? "program");
      const filterAt = argumentsAt + 1;
      const files = fileArguments(checked, spec.confinement, spec.cwd, view);
      const counter = counterOf(spec, groups);
      const { network } = spec.confinement;
      const walls = planLandlock(parts, spec, files.rules, filterAt + 1);
      const proxy = typeof network === "object" ? proxies.inSandbox(network) : undefined;
      return spawnLeased(watcher, groups, {
        command: [
          bwrap,
          ...namespaceArguments(network === "host"),
          ...files.mounts,
          ...(proxy?.mounts ?? []),
          ...counter.mounts,
          ...walls.mounts,
          ...files.closing,
          "--args",
          String(argumentsAt),
          ...(filter === undefined ? [] : ["--seccomp", String(filterAt)]),
          "--",
          ...walls.wrap,
          ...insideCommand(spec, checked.command, proxy, counter.shell),
        ],
        cwd: "/",
        env: { [LEASE_VARIABLE]: nextMark() },
        limits: proxy ? withForwarder(walls.limits) : walls.limits,
        processesInside: true,
        groupLimits: withWall(spec.limits, proxy !== undefined),
        pipes: spec.pipes,
        proxyUrl: undefined,
        handOn: environment.map((argument) => `${argument}\0`).join(""),
        files: [...(filter === undefined ? [] : [filter]), ...walls.files],
        markAtEnd: NO_MARK,
        tell: tellInside,
        atEnd: () => proxy?.close(),
      });
    },
  };
}

type LandlockPlan = {
  readonly mounts: readonly string[];
  readonly files: readonly Buffer[];
  /** What runs the command behind its walls. */
  readonly wrap: readonly string[];
  /** Those that are left to whoever starts bwrap. */
  readonly limits: ProcessLimits;
};

/** @param at the descriptor on which bwrap finds the program and its table, which it copies into the sandbox */
function planLandlock(
  { landlock, architecture }: BubblewrapParts,
  { confinement, limits }: LaunchSpec,
  rules: readonly WallRule[],
  at: number,
): LandlockPlan {
  if ("missing" in landlock || architecture === undefined) return { mounts: [], files: [], wrap: [], limits };
  const { fileMib, ...others } = limits;
  // bwrap itself writes a file, which so small a limit would forbid it.
  const isTight = fileMib !== undefined && fileMib * BYTES_PER_MIB < FILE_LIMIT_BYTES;
  const table = buildTable(
    {
      rules: [...rules, { path: OWN_AT, isFolder: true, access: "read" }],
      isTcpShut: confinement.network === "none" && confinement.system === "libraries",
      fileLimitBytes: isTight ? fileMib * BYTES_PER_MIB : undefined,
    },
    landlock.abi,
  );
  return {
    mounts: ["--perms", "0555", "--ro-bind-data", String(at), LANDLOCK_AT],
    files: [landlockFile(architecture, table)],
    wrap: [LANDLOCK_AT],
    limits: isTight ? others : limits,
  };
}

/** The forwarder is the first of the child's tree, and is counted with it; it needs room to run at all. */
function withForwarder(limits: ProcessLimits): ProcessLimits {
  const { dataMib, addressSpaceMib } = limits;
  return {
    ...limits,
    ...(dataMib === undefined ? {} : { dataMib: Math.max(dataMib, FORWARDER_NEEDS.dataMib) }),
    ...(addressSpaceMib === undefined
      ? {}
      : { addressSpaceMib: Math.max(addressSpaceMib, FORWARDER_NEEDS.addressSpaceMib) }),
  };
}

/** What the wall itself needs, and what lies in the child's own /tmp, is counted with it, and must not come out of its share. */
function withWall({ processes, cpuPercent, memoryMib, nice }: ProcessLimits, hasForwarder: boolean): GroupLimits {
  const forwarder = hasForwarder ? FORWARDER_NEEDS : { processes: 0, dataMib: 0 };
  return {
    processes: (processes ?? DEFAULT_PROCESSES) + WALL_PROCESSES + forwarder.processes,
    ...(cpuPercent === undefined ? {} : { cpuPercent }),
    ...(nice === undefined ? {} : { nice }),
    ...(memoryMib === undefined ? {} : { memoryMib: memoryMib + FILES_MIB + WALL_MIB + forwarder.dataMib }),
  };
}

type Counter = { readonly shell: string | undefined; readonly mounts: readonly string[] };

/**
 * What sets the limit of processes inside. Where only libraries are shown, and no control group counts, it is a shell that is
 * shown for this alone: whoever may start programs at all can do nothing with it that he could not without.
 */
function counterOf({ limits, confinement }: LaunchSpec, groups: ProcessGroups | undefined): Counter {
  if (limits.processes === undefined) return { shell: undefined, mounts: [] };
  if (confinement.system === "programs") return { shell: "/bin/sh", mounts: [] };
  const isProgram = (confinement.syscalls ?? "program") === "program";
  if (groups !== undefined || !isProgram) return { shell: undefined, mounts: [] };
  return { shell: COUNTER_AT, mounts: ["--ro-bind", realpathSync.native("/bin/sh"), COUNTER_AT] };
}

/** The kernel counts processes per user namespace, so the limit is set inside, where the count begins at zero. */
function insideCommand(
  spec: LaunchSpec,
  command: readonly string[],
  proxy: SandboxProxy | undefined,
  shell: string | undefined,
): readonly string[] {
  const count = String((spec.limits.processes ?? 0) + (proxy ? FORWARDER_NEEDS.processes : 0));
  const counted = shell === undefined ? command : [shell, "-c", PROCESSES_PROLOGUE, "sh", count, ...command];
  return proxy ? proxy.wrap(counted, spec.pipes) : counted;
}

/**
 * bwrap → the namespace's first process → the command. A signal to bwrap would kill the command unheard, and the first
 * process of a namespace ignores it.
 */
function tellInside(pid: number, signal: PoliteSignal): void {
  const [first] = childrenOf(pid);
  const [command] = first === undefined ? [] : childrenOf(first);
  if (command === undefined) killTree(pid);
  else sendSignal(command, signal);
}
