import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { Duplex } from "node:stream";
import { PROXY_URL_VARIABLES } from "../egress/proxy-variables.ts";
import type { Exit, LeasedProcess, ProcessLimits } from "./launcher.ts";
import type { LeaseWatcher } from "./lease-watcher.ts";
import type { GroupLimits, ProcessGroup, ProcessGroups } from "./process-groups.ts";
import { killTree, sendSignal } from "./process-tree.ts";

/** `sh` of Debian can redirect only descriptors of one digit, and the first after the pipes is the prologue's. */
export const PIPES_LIMIT = 6;

/** Of the prologue's arguments: one for each controller of version 1. */
const GROUPS_LIMIT = 3;

/** Exit code of a child whose daemon died before it let it start. */
const NEVER_STARTED_CODE = 125;

/** What the kernel adds to its reckoning of whom to kill when memory is out, thousandths of all memory. */
const FIRST_OUT_OF_MEMORY = "500";
const KIB_PER_MIB = 1024;
const BLOCKS_PER_MIB = 2048; // `ulimit -f` counts 512-byte blocks

/**
 * Runs between fork and the program: joins the groups that hold it, waits for the word that the lease is held,
 * sets the limits, becomes the program. The word is empty or the URL of the program's proxy. It joins by itself because
 * the kernel may take milliseconds for that, which the daemon has not.
 * A limit that is above the system's own hard limit is left alone, because the stricter one is in force already.
 * Arguments: descriptor of the word, whether to close it (1) or hand it on (0), six limits (empty: none),
 * the files through which to join its groups (three, empty: none), the command.
 */
const PROLOGUE = `
for group in "$8" "$9" "\${10}"; do [ -z "$group" ] || echo $$ >"$group" || exit ${NEVER_STARTED_CODE}; done
read -r word <&"$1" || exit ${NEVER_STARTED_CODE}
[ "$2" = 0 ] || eval "exec $1<&-"
[ -z "$word" ] || for name in ${PROXY_URL_VARIABLES.join(" ")}; do export "$name=$word"; done
limit() { [ -z "$2" ] || ulimit "$1" "$2" 2>/dev/null || :; }
limit -c 0; limit -v "$3"; limit -d "$4"; limit -n "$5"; limit -f "$6"
[ -z "$7" ] || ulimit -u "$7" 2>/dev/null || limit -p "$7"
shift 10
exec "$@"
`;

/** Sets the number of processes inside the sandbox, where the count begins at zero. */
export const PROCESSES_PROLOGUE = `ulimit -u "$1" 2>/dev/null || ulimit -p "$1" 2>/dev/null || :; shift; exec "$@"`;

/** What a program may hear before it is killed. */
export type PoliteSignal = "SIGINT" | "SIGTERM";

export type SpawnPlan = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits;
  /** True when the command sets the limit of processes itself, with `PROCESSES_PROLOGUE`. */
  readonly processesInside: boolean;
  /** What its control group is held to, where it gets one. */
  readonly groupLimits: GroupLimits;
  readonly pipes: number;
  /** Comes with the word: the URL of the proxy for the variables that hold one; undefined for none. */
  readonly proxyUrl: Promise<string> | undefined;
  /** Bytes for the command on descriptor 3 + `pipes`; undefined when that descriptor must be closed for it. */
  readonly handOn: string | undefined;
  /** Bytes for the command on descriptors 4 + `pipes`, 5 + `pipes` …, whole before it starts. */
  readonly files: readonly Buffer[];
  /** What to look for when the head of the tree has ended by itself; `NO_MARK` when that takes all others along. */
  readonly markAtEnd: string;
  /** Sends a signal to the command itself, given the head of the tree. */
  readonly tell: (pid: number, signal: PoliteSignal) => void;
  /** Called once, when the child is gone or could not be started. */
  readonly atEnd: () => void;
};

/**
 * Starts a process in a process group of its own that runs only once the watcher holds its lease.
 * @param groups where its processes are counted; undefined when the kernel does it without, or nobody does
 */
export function spawnLeased(watcher: LeaseWatcher, groups: ProcessGroups | undefined, plan: SpawnPlan): LeasedProcess {
  const group = openGroup(groups, plan);
  const child = spawnPrologue(plan, group?.joinFiles ?? []);
  // Also fired by a signal that could not be delivered; the promise and the throw below already tell all of it.
  child.on("error", () => {});
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !stdin || !stdout || !stderr) {
    group?.end();
    plan.atEnd();
    throw new Error(`cannot start ${plan.command[0]}: no more processes or descriptors`);
  }
  const pipes = child.stdio.slice(3).filter((stream) => stream instanceof Duplex);
  standBack(pid, plan.limits.nice);
  // A write to a child that just died must not take the daemon down; the reader of `exited` hears of the death.
  for (const stream of [stdin, ...pipes]) stream.on("error", () => {});

  let gone = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      gone = true;
      sendSignal(-pid, "SIGKILL");
      group?.end();
      watcher.end(pid, plan.markAtEnd);
      plan.atEnd();
      resolve({ code, signal });
    });
  });
  const kill = () => {
    if (gone) return;
    killTree(pid);
    group?.kill();
  };
  // Before the word: were the daemon to die in between, the child would never start, rather than with half a filter.
  for (const file of plan.files.toReversed()) pipes.pop()?.end(file);
  const word = pipes.pop();
  word?.resume();
  const say = (proxyUrl: string) => void word?.end(`${proxyUrl}\n${plan.handOn ?? ""}`);
  watcher.hold(pid, (held) => {
    if (!held) kill();
    else if (plan.proxyUrl === undefined) say("");
    else plan.proxyUrl.then(say, kill);
  });
  return {
    pid,
    stdin,
    stdout,
    stderr,
    pipes,
    exited,
    kill,
    terminate() {
      if (!gone) plan.tell(pid, "SIGTERM");
    },
    interrupt() {
      if (!gone) plan.tell(pid, "SIGINT");
    },
  };
}

/** Without its group the child would be held to nothing, so it is not started without. */
function openGroup(groups: ProcessGroups | undefined, plan: SpawnPlan): ProcessGroup | undefined {
  try {
    return groups?.open(plan.groupLimits);
  } catch (cause) {
    plan.atEnd();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot start ${plan.command[0]}: there is no cgroup for its limits (${why})`, {
      cause,
    });
  }
}

function spawnPrologue(plan: SpawnPlan, joinFiles: readonly string[]): ChildProcess {
  const wordAt = 3 + plan.pipes;
  const descriptors = wordAt + 1 + plan.files.length;
  const groups = Array.from({ length: GROUPS_LIMIT }, (_, index) => joinFiles[index] ?? "");
  const prologue = ["-c", PROLOGUE, "sh", String(wordAt), ...prologueArgs(plan), ...groups];
  return spawn("/bin/sh", [...prologue, ...plan.command], {
    cwd: plan.cwd,
    env: plan.env,
    stdio: Array.from({ length: descriptors }, () => "pipe" as const),
    detached: true,
  });
}

/** Before the command runs, so that all of its tree inherits it. When the machine runs out of memory it goes before the daemon. */
function standBack(pid: number, nice: number | undefined): void {
  try {
    if (nice !== undefined) setPriority(pid, nice);
    if (process.platform === "linux") writeFileSync(`/proc/${pid}/oom_score_adj`, FIRST_OUT_OF_MEMORY);
  } catch {
    // It is dead already, and its exit says so; or the system does not let us, and then nothing is worse than before.
  }
}

function prologueArgs({ handOn, limits, processesInside }: SpawnPlan): string[] {
  const scaled = (value: number | undefined, factor: number) => (value === undefined ? "" : String(value * factor));
  return [
    handOn === undefined ? "1" : "0",
    scaled(limits.addressSpaceMib, KIB_PER_MIB),
    scaled(limits.dataMib, KIB_PER_MIB),
    scaled(limits.openFiles, 1),
    scaled(limits.fileMib, BLOCKS_PER_MIB),
    processesInside ? "" : scaled(limits.processes, 1),
  ];
}
