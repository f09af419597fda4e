import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { childrenOf } from "../../sandbox/os/process-tree.ts";

const TICK_MS = 20;
/** Between two looks at the time that processes have used; the kernel counts in steps of 10. */
const LOOK_MS = 40;

/** How late this process's event loop was at its worst. */
export type LoopWatch = {
  begin(): void;
  /** Since the last `begin`, milliseconds. */
  worstMs(): number;
  end(): void;
};

const NS_PER_MS = 1e6;

/** How long this thread has waited for a processor that others had, milliseconds; 0 where the kernel does not tell. */
function waitedMs(): number {
  try {
    return Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[1]) / NS_PER_MS;
  } catch {
    return 0;
  }
}

/** Only what this process did itself counts: on a busy machine every loop is late. */
export function watchLoop(): LoopWatch {
  let lastMs = performance.now();
  let lastWaitedMs = waitedMs();
  let worstMs = 0;
  const look = () => {
    const [nowMs, nowWaitedMs] = [performance.now(), waitedMs()];
    worstMs = Math.max(worstMs, nowMs - lastMs - TICK_MS - (nowWaitedMs - lastWaitedMs));
    lastMs = nowMs;
    lastWaitedMs = nowWaitedMs;
  };
  const timer = setInterval(look, TICK_MS);
  return {
    begin() {
      look();
      worstMs = 0;
    },
    worstMs() {
      look();
      return worstMs;
    },
    end: () => clearInterval(timer),
  };
}

const WATCHED = { Object, Array, Function, Promise, String, Map, Set, RegExp, Error, JSON, Reflect, Buffer };

/** Objects by number: the same object has the same number for ever. */
const numbers = new WeakMap<object, number>();
let lastNumber = 0;

function nameOf(value: unknown): string {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return typeof value;
  let number = numbers.get(value);
  if (number === undefined) {
    lastNumber += 1;
    number = lastNumber;
    numbers.set(value, number);
  }
  return `${typeof value} ${number}`;
}

/** The own properties of this process's built-ins, and which objects they are. */
export function describeRealm(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, builtIn] of Object.entries(WATCHED)) {
    const { prototype } = builtIn as { prototype?: object };
    for (const [path, target] of [[name, builtIn], ...(prototype ? [[`${name}.prototype`, prototype]] : [])] as const) {
      for (const key of Reflect.ownKeys(target as object)) {
        const { value, get, set } = Object.getOwnPropertyDescriptor(target, key) ?? {};
        found.set(`${path}.${String(key)}`, [value, get, set].map(nameOf).join(", "));
      }
    }
  }
  return found;
}

/** What lies in a folder, leaving out some of its entries: path → what it is, its size, its times, its content. */
export function describeFolder(folder: string, leaveOut: readonly string[] = []): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const look = (path: string) => {
    if (leaveOut.includes(path)) return;
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (!facts) return;
    const { mode, size, mtimeMs, ino, nlink } = facts;
    const isSmall = facts.isFile() && size < 64 * 1024;
    const content = isSmall ? createHash("sha1").update(readFileSync(path)).digest("hex") : "";
    found.set(path, facts.isDirectory() ? `${mode} ${ino}` : `${mode} ${size} ${mtimeMs} ${ino} ${nlink} ${content}`);
    if (facts.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
  };
  look(folder);
  return found;
}

export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}

/** Processor time that a process has used, and whether one of its threads wants more now. */
function usageOf(pid: number): { readonly ticks: number; readonly busy: boolean } {
  try {
    const fields = statOf(`/proc/${pid}/stat`);
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => statOf(`/proc/${pid}/task/${thread}/stat`)[0]);
    return { ticks: Number(fields[11]) + Number(fields[12]), busy: threads.includes("R") };
  } catch {
    return { ticks: 0, busy: false };
  }
}

/** The fields after the name, which may hold anything. */
function statOf(file: string): readonly string[] {
  const stat = readFileSync(file, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** These processes and all below them, with their processor time; undefined while one of them runs. */
function restOf(pids: readonly number[]): string | undefined {
  const seen: string[] = [];
  let isBusy = false;
  for (const queue = [...pids]; queue.length > 0; ) {
    const pid = queue.pop() ?? 0;
    const { ticks, busy } = usageOf(pid);
    if (busy) isBusy = true;
    if (ticks > 0) seen.push(`${pid}:${ticks}`);
    queue.push(...childrenOf(pid));
  }
  return isBusy ? undefined : seen.sort().join(" ");
}

/** Waits until none of the processes uses a processor any more; false when that does not come. */
export async function comesToRest(pids: () => readonly number[], limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  for (let before = restOf(pids()); performance.now() < endMs; ) {
    await wait(LOOK_MS);
    const now = restOf(pids());
    if (now !== undefined && now === before) return true;
    before = now;
  }
  return false;
}

/** Places of this machine that no stranger is told of, but those that it named itself. */
export function findHostPaths(text: string, named: readonly string[], own: readonly string[]): string[] {
  let rest = text;
  for (const name of [...named].sort((a, b) => b.length - a.length)) rest = rest.replaceAll(name, "NAMED");
  const root = join(import.meta.dirname, "../..");
  const forbidden = [...own, root, process.execPath, `${homedir()}/`, "node_modules", "node:internal", "hook-host"];
  return forbidden.filter((place) => rest.includes(place));
}
