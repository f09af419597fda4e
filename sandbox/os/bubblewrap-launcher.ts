import { fileArguments, namespaceArguments } from "./bubblewrap-arguments.ts";
import { checkSpec } from "./launch-check.ts";
import type { Launcher, LaunchSpec } from "./launcher.ts";
import { LEASE_VARIABLE, type LeaseWatcher, NO_MARK } from "./lease-watcher.ts";
import { PROCESSES_PROLOGUE, spawnLeased } from "./leased-spawn.ts";
import { childrenOf, killTree, sendSignal } from "./process-tree.ts";
import { readSystemView, type SystemView } from "./system-view.ts";

/**
 * Launches children in namespaces of their own. The whole tree lives in a PID namespace whose first process is
 * bubblewrap's: its death is the death of all.
 *
 * The child's environment goes to bwrap through a pipe, and bwrap's own has nothing but the mark of the lease: arguments
 * can be read by every user of the machine, and bwrap's environment by the child, in `/proc/1/environ`. The mounts stand in the arguments, because a
 * pipe that is cut short by the daemon's death must not cut off a wall.
 * @param nextMark gives every launch a mark of its own
 */
export function createBubblewrapLauncher(
  bwrap: string,
  detail: string,
  watcher: LeaseWatcher,
  nextMark: () => string,
): Launcher {
  let view: SystemView | undefined;

  return {
    level: "bubblewrap",
    detail,
    launch(spec) {
      const checked = checkSpec(spec);
      view ??= readSystemView();
      const environment = Object.entries(spec.env).flatMap(([name, value]) => ["--setenv", name, value]);
      const argumentsAt = 3 + spec.pipes;
      return spawnLeased(watcher, {
        command: [
          bwrap,
          ...namespaceArguments(spec.confinement.network),
          ...fileArguments(checked, spec.confinement, spec.cwd, view),
          "--args",
          String(argumentsAt),
          "--",
          ...insideCommand(spec, checked.command),
        ],
        cwd: "/",
        env: { [LEASE_VARIABLE]: nextMark() },
        limits: spec.limits,
        processesInside: true,
        pipes: spec.pipes,
        handOn: environment.map((argument) => `${argument}\0`).join(""),
        markAtEnd: NO_MARK,
        terminate: terminateInside,
      });
    },
  };
}

/** The kernel counts processes per user namespace, so the limit is set inside, where the count begins at zero. */
function insideCommand(spec: LaunchSpec, command: readonly string[]): readonly string[] {
  const { processes } = spec.limits;
  if (processes === undefined || spec.confinement.system !== "programs") return command;
  return ["/bin/sh", "-c", PROCESSES_PROLOGUE, "sh", String(processes), ...command];
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
