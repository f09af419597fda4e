import { fileArguments, namespaceArguments } from "./bubblewrap-arguments.ts";
import { FORWARDER_NEEDS, type ProxyOpener, type SandboxProxy } from "./filtered-network.ts";
import { checkSpec } from "./launch-check.ts";
import type { Launcher, LaunchSpec, ProcessLimits } from "./launcher.ts";
import { LEASE_VARIABLE, type LeaseWatcher, NO_MARK } from "./lease-watcher.ts";
import { PROCESSES_PROLOGUE, spawnLeased } from "./leased-spawn.ts";
import { DEFAULT_PROCESSES, type ProcessGroups } from "./process-groups.ts";
import { childrenOf, killTree, sendSignal } from "./process-tree.ts";
import { type Architecture, assembleFilter } from "./syscall-filter.ts";
import { SYSCALL_PROFILES, type SyscallProfile } from "./syscall-profiles.ts";
import { readSystemView, type SystemView } from "./system-view.ts";

/** bwrap itself and the first process of its namespace, which are counted with the child in its control group. */
const WALL_PROCESSES = 2;

/**
 * Launches children in namespaces of their own. The whole tree lives in a PID namespace whose first process is
 * bubblewrap's: its death is the death of all.
 *
 * The child's environment goes to bwrap through a pipe, and bwrap's own has nothing but the mark of the lease: arguments
 * can be read by every user of the machine, and bwrap's environment by the child, in `/proc/1/environ`. The mounts stand in the arguments, because a
 * pipe that is cut short by the daemon's death must not cut off a wall.
 * @param architecture of the system calls; undefined for one whose numbers are not known here: then calls are not filtered
 * @param nextMark gives every launch a mark of its own
 */
export function createBubblewrapLauncher(
  bwrap: string,
  detail: string,
  watcher: LeaseWatcher,
  groups: ProcessGroups | undefined,
  architecture: Architecture | undefined,
  proxies: ProxyOpener,
  nextMark: () => string,
): Launcher {
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
    launch(spec) {
      const checked = checkSpec(spec);
      view ??= readSystemView();
      const environment = Object.entries(spec.env).flatMap(([name, value]) => ["--setenv", name, value]);
      const argumentsAt = 3 + spec.pipes;
      const filter = filterOf(spec.confinement.syscalls ?? "program");
      const { network } = spec.confinement;
      // Looked at first: what is wrong with the files must leave no proxy behind.
      fileArguments(checked, spec.confinement, spec.cwd, view);
      const proxy = typeof network === "object" ? proxies.inSandbox(network) : undefined;
      const files = fileArguments(checked, spec.confinement, spec.cwd, view, proxy?.mounts);
      return spawnLeased(watcher, groups, {
        command: [
          bwrap,
          ...namespaceArguments(network === "host"),
          ...files,
          "--args",
          String(argumentsAt),
          ...(filter === undefined ? [] : ["--seccomp", String(argumentsAt + 1)]),
          "--",
          ...insideCommand(spec, checked.command, proxy),
        ],
        cwd: "/",
        env: { [LEASE_VARIABLE]: nextMark() },
        limits: proxy ? withForwarder(spec.limits) : spec.limits,
        processesInside: true,
        groupProcesses:
          (spec.limits.processes ?? DEFAULT_PROCESSES) + WALL_PROCESSES + (proxy ? FORWARDER_NEEDS.processes : 0),
        pipes: spec.pipes,
        proxyUrl: undefined,
        handOn: environment.map((argument) => `${argument}\0`).join(""),
        filter,
        markAtEnd: NO_MARK,
        terminate: terminateInside,
        atEnd: () => proxy?.close(),
      });
    },
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

/** The kernel counts processes per user namespace, so the limit is set inside, where the count begins at zero. */
function insideCommand(
  spec: LaunchSpec,
  command: readonly string[],
  proxy: SandboxProxy | undefined,
): readonly string[] {
  const { processes } = spec.limits;
  const isCounted = processes !== undefined && spec.confinement.system === "programs";
  const count = String((processes ?? 0) + (proxy ? FORWARDER_NEEDS.processes : 0));
  const counted = isCounted ? ["/bin/sh", "-c", PROCESSES_PROLOGUE, "sh", count, ...command] : command;
  return proxy ? proxy.wrap(counted, spec.pipes) : counted;
}

/**
 * bwrap → the namespace's first process → the command. A signal to bwrap would kill the command unheard, and the first
 * process of a namespace ignores it.
 */
function terminateInside(pid: number): void {
  const [first] = childrenOf(pid);
  const [command] = first === undefined ? [] : childrenOf(first);
  if (command === undefined) killTree(pid);
  else sendSignal(command, "SIGTERM");
}
