import { readFileSync } from "node:fs";
import { childrenOf } from "../os/process-tree.ts";
import type { HostProcess } from "./host-process.ts";
import type { IsolateLimits } from "./limits.ts";

/** Looks at what the kernel says of the hosts, since what isolates say of themselves is not true. One for all of them. */
export type HostWatch = {
  /** Watches a host until it is dead. `rssKillMib` of its own for one that may have more. */
  add(host: HostProcess, rssKillMib?: number): void;
  /** There is work again: looks often from now on. */
  stir(): void;
  /** Resident memory of a host's tree when it was last looked at, MiB. */
  rssMib(host: HostProcess): number;
  end(): void;
};

const LOOK_MS = 250;
/** The same while no host has any work and none uses the processor. */
const REST_MS = 2000;
/** Of Linux on every architecture that Node runs on. */
const MS_PER_TICK = 10;
const KIB_PER_MIB = 1024;
/** What a host without work may use beyond the time that its guests have left: its own starting and tidying up. */
const OWN_CPU_MS = 1000;

type Watched = {
  readonly rssKillMib: number;
  rssMib: number;
  cpuMs: number;
  /** Its processor time when it was last seen with work. */
  workedCpuMs: number;
  /** How often it had been asked something by then. */
  asks: number;
};

type Usage = { readonly rssMib: number; readonly cpuMs: number };

/** Of one process; undefined when it is gone, or the system has no such files. */
function usageOf(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const rss = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
    return {
      cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
      rssMib: Number(rss ?? 0) / KIB_PER_MIB,
    };
  } catch {
    return undefined;
  }
}

function treeUsage(pid: number): Usage {
  const sum = { rssMib: 0, cpuMs: 0 };
  for (const queue = [pid]; queue.length > 0; ) {
    const next = queue.pop() ?? pid;
    const usage = usageOf(next);
    if (!usage) continue;
    sum.rssMib += usage.rssMib;
    sum.cpuMs += usage.cpuMs;
    queue.push(...childrenOf(next));
  }
  return sum;
}

export function hostWatch(limits: Pick<IsolateLimits, "rssKillMib" | "activeMs">): HostWatch {
  const hosts = new Map<HostProcess, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let resting = false;

  /** True when the host is doing something. */
  function look(host: HostProcess, watched: Watched): boolean {
    const { rssMib, cpuMs } = treeUsage(host.pid);
    const burning = cpuMs > watched.cpuMs;
    watched.rssMib = rssMib;
    watched.cpuMs = cpuMs;
    const working = host.working || host.asks !== watched.asks;
    watched.asks = host.asks;
    if (working) watched.workedCpuMs = cpuMs;
    if (rssMib > watched.rssKillMib) {
      host.condemn("exhausted", `used more than ${watched.rssKillMib} MiB of memory, and its process was killed`);
    } else if (cpuMs - watched.workedCpuMs > limits.activeMs + OWN_CPU_MS) {
      host.condemn("exhausted", "kept a processor busy without being asked anything, and its process was killed");
    }
    return burning || working;
  }

  function lookAtAll(): void {
    let busy = false;
    for (const [host, watched] of hosts) {
      if (host.death) hosts.delete(host);
      else if (look(host, watched)) busy = true;
    }
    resting = !busy;
    timer = hosts.size === 0 ? undefined : setTimeout(lookAtAll, busy ? LOOK_MS : REST_MS).unref();
  }

  function stir(): void {
    if (timer && !resting) return;
    clearTimeout(timer);
    resting = false;
    timer = setTimeout(lookAtAll, LOOK_MS).unref();
  }

  return {
    add(host, rssKillMib = limits.rssKillMib) {
      hosts.set(host, { rssKillMib, rssMib: 0, cpuMs: 0, workedCpuMs: 0, asks: 0 });
      stir();
    },
    stir,
    rssMib: (host) => hosts.get(host)?.rssMib ?? 0,
    end() {
      clearTimeout(timer);
      hosts.clear();
    },
  };
}
