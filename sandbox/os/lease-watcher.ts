import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";

/** Variable that marks a process as part of a lease. */
export const LEASE_VARIABLE = "CLAWD_LEASE";

/** Instead of a mark, where environments cannot be searched or need not be. */
export const NO_MARK = "-";

/** A watcher that keeps dying is not replaced for ever; without one nothing is launched any more. */
const WATCHER_STARTS_LIMIT = 16;

/** How often it tries to empty a control group, 20 ms apart, before it leaves that to the next start. */
const GROUP_ROUNDS_LIMIT = 100;

/**
 * Ends the trees of all leases when its stdin ends, which happens however the daemon dies. It lives in a session of its
 * own, so that a signal to the daemon's or a child's process group misses it.
 *
 * The head of a tree is stopped first, so that it cannot fork between the listing of its children and its death. Last
 * come those that no list has: processes that left their group, and the inside of a bubblewrap that died with the
 * daemon in the milliseconds before it had tied its inside to its own death. All of them carry the mark in their
 * environment. $1 is the beginning of all marks, or "-".
 *
 * The very last are the control groups, which only root without a sandbox can leave; $2 and on are what their paths begin with. A group
 * gets no new processes before its processes are killed; those of namespaces out of sight are listed as 0.
 */
const WATCHER_SCRIPT = `
trap '' HUP INT QUIT TERM
held=' '
end_tree() {
  kill -STOP "$1"
  children=
  read -r children <"/proc/$1/task/$1/children"
  for child in $children; do kill -KILL "$child"; done
  kill -KILL "-$1"
}
end_marked() {
  [ "$1" != - ] || return 0
  for round in 1 2 3 4 5 6 7 8; do
    found=
    for file in $(grep -lsaF "${LEASE_VARIABLE}=$1" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -KILL "\${pid%/environ}" && found=1
    done
    [ "$found" ] || return 0
  done
}
end_groups() {
  for group in "$1"*; do
    [ -d "$group" ] || continue
    [ ! -e "$group/pids.max" ] || echo 0 >"$group/pids.max"
    round=0
    while [ "$round" -lt ${GROUP_ROUNDS_LIMIT} ]; do
      while read -r pid; do [ "$pid" -le 1 ] || kill -KILL "$pid"; done <"$group/cgroup.procs"
      rmdir "$group" && break
      round=$((round + 1))
      sleep 0.02
    done
  done
}
while read -r verb pid mark; do
  case $verb in
    hold) held="$held$pid " ;;
    end)
      end_tree "$pid"
      end_marked "$mark"
      case $held in *" $pid "*) held="\${held%% $pid *} \${held#* $pid }" ;; esac
      ;;
  esac
done
for pid in $held; do end_tree "$pid"; done
[ "$held" = ' ' ] || end_marked "$1"
shift
for prefix; do end_groups "$prefix"; done
`;

/** The second owner of every child: it acts when the first, the daemon, is gone. */
export type LeaseWatcher = {
  /** Calls `done(true)` as soon as the tree of `pid` is sure to die with this process, `done(false)` when it is not. */
  hold(pid: number, done: (held: boolean) => void): void;
  /** Ends what is left of the tree, and everybody with that mark, and forgets the lease. */
  end(pid: number, mark: string): void;
};

/**
 * One watcher process for all leases of a launcher, started with the first.
 * @param markPrefix what all marks begin with, unique to this launcher on the machine
 * @param groupPrefixes what the paths of all control groups begin with
 */
export function createLeaseWatcher(
  searchPath: string,
  markPrefix: string,
  groupPrefixes: readonly string[],
): LeaseWatcher {
  const held = new Set<number>();
  let starts = 0;
  let current: ChildProcess | undefined;

  function start(): ChildProcess | undefined {
    if (starts >= WATCHER_STARTS_LIMIT) return undefined;
    starts += 1;
    const child = spawn("/bin/sh", ["-c", WATCHER_SCRIPT, "clawd-lease", markPrefix, ...groupPrefixes], {
      cwd: "/",
      env: { PATH: searchPath },
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    const forget = () => {
      if (current !== child) return;
      current = undefined;
      if (held.size > 0) current = start();
    };
    child.once("error", forget);
    child.once("exit", forget);
    child.stdin.on("error", () => {}); // its death is noticed by `exit` and by the callback of the write
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    for (const pid of held) child.stdin.write(`hold ${pid}\n`);
    return child;
  }

  function write(line: string, done: (said: boolean) => void): void {
    current ??= start();
    const watcher = current;
    if (!watcher?.stdin) {
      done(false);
      return;
    }
    watcher.stdin.write(line, (error) => {
      if (error && current === watcher) current = undefined;
      done(!error);
    });
  }

  /** A watcher may have died unnoticed: then the next one gets the line. */
  function say(line: string, done: (said: boolean) => void): void {
    write(line, (said) => {
      if (said) done(true);
      else write(line, done);
    });
  }

  return {
    hold(pid, done) {
      say(`hold ${pid}\n`, (said) => {
        if (said) held.add(pid);
        done(said);
      });
    },
    end(pid, mark) {
      held.delete(pid);
      say(`end ${pid} ${mark}\n`, () => {}); // without any watcher, the daemon's own kill was all there is
    },
  };
}
