import { readdirSync, readFileSync } from "node:fs";
import type { ListPluginsResponse } from "../proto/gen/clawd/v1/admin_pb.ts";
import { childrenOf } from "../sandbox/os/process-tree.ts";
import type { SoakDaemon } from "./soak-daemon.ts";
import { ENTRY_WORD } from "./soak-plugins.ts";

const LOOK_EVERY_MS = 1_000;
/** The daemon answers each time, at the latest after so long. */
const ANSWER_LIMIT_MS = 5_000;
const PROGRESS_EVERY_LOOKS = 10;
/** A process that belongs to no plugin may be one that starts, or one that leaves: after so many looks it is left behind. */
const LOOKS_ALLOWED = 15;
const KIB_PER_MIB = 1024;

type Rows = ListPluginsResponse["plugins"];

export type Seen = {
  looks: number;
  /** Looks at which the daemon did not say how it is in time. */
  unanswered: number;
  slowestAnswerMs: number;
  /** Processes of plugins that lived on without the daemon, or without the plugin's knowing. */
  readonly orphans: Map<number, string>;
  daemonMib: number;
  pluginsMib: number;
};

export function commandOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
  } catch {
    return []; // It ended while we looked.
  }
}

function rssMib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / KIB_PER_MIB;
  } catch {
    return 0; // It ended while we looked.
  }
}

/** Everybody below a process, parents before their children. */
export function treeBelow(root: number): readonly number[] {
  const found: number[] = [];
  for (const queue = [root]; queue.length > 0; ) {
    const children = childrenOf(queue.shift() ?? 0);
    found.push(...children);
    queue.push(...children);
  }
  return found;
}

/** Processes of this data folder's plugins, wherever they hang. */
export function pluginProcesses(home: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const words = commandOf(pid);
      return words.some((word) => ENTRY_WORD.test(word)) && isOf(home, pid, words);
    });
}

function isOf(home: string, pid: number, words: readonly string[]): boolean {
  if (words.some((word) => word.includes(home))) return true;
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(home);
  } catch {
    return false; // It ended while we looked.
  }
}

/** Asks and looks every second, and does then what `after` says with the plugins' rows. */
export function openWatch(daemon: SoakDaemon, home: string, say: () => string, after: (plugins: Rows) => void) {
  const seen: Seen = { looks: 0, unanswered: 0, slowestAnswerMs: 0, orphans: new Map(), daemonMib: 0, pluginsMib: 0 };
  /** Of each process that hangs where no plugin is: at how many looks in a row. */
  let strays = new Map<number, number>();
  const pending = new Set<Promise<void>>();

  function lookForStrays(plugins: Rows): void {
    const known = new Set(plugins.flatMap(({ pid }) => [pid, ...treeBelow(pid)]));
    const below = new Set(treeBelow(daemon.pid));
    const next = new Map<number, number>();
    let pluginsMib = 0;
    for (const pid of pluginProcesses(home)) {
      pluginsMib += rssMib(pid);
      if (known.has(pid) && below.has(pid)) continue;
      // Out of the daemon's reach it is one when the next look finds it again; below it, it may start or leave.
      const looks = (strays.get(pid) ?? 0) + (below.has(pid) ? 1 : LOOKS_ALLOWED / 2);
      next.set(pid, looks);
      if (looks >= LOOKS_ALLOWED) seen.orphans.set(pid, commandOf(pid).slice(-3).join(" "));
    }
    strays = next;
    seen.pluginsMib = Math.max(seen.pluginsMib, pluginsMib);
  }

  async function look(): Promise<void> {
    seen.looks += 1;
    const number = seen.looks;
    const askedMs = performance.now();
    const status = await daemon.daemon.status({}, { timeoutMs: 5 * ANSWER_LIMIT_MS }).catch(() => undefined);
    const answerMs = performance.now() - askedMs;
    seen.slowestAnswerMs = Math.max(seen.slowestAnswerMs, answerMs);
    if (status === undefined || answerMs > ANSWER_LIMIT_MS) seen.unanswered += 1;
    if (status === undefined) return;
    lookForStrays(status.plugins);
    const daemonMib = rssMib(daemon.pid);
    seen.daemonMib = Math.max(seen.daemonMib, daemonMib);
    after(status.plugins);
    if (number % PROGRESS_EVERY_LOOKS !== 0) return;
    const ready = status.plugins.filter(({ pid }) => pid > 0).length;
    console.log(`${number} s: ${say()}; ${ready} plugins run, daemon ${daemonMib.toFixed(0)} MiB resident`);
  }

  const timer = setInterval(() => {
    const one = look();
    pending.add(one);
    void one.finally(() => pending.delete(one));
  }, LOOK_EVERY_MS);
  return {
    seen,
    async end(): Promise<void> {
      clearInterval(timer);
      await Promise.all(pending);
    },
  };
}
