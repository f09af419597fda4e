// (f) Hook scripts: an event out of the daemon, through the isolate of a confined process, and its verdict back, beside
// other ways to run a stranger's function. All in one pass, interleaved; and what an attack does to those it is not for.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { childrenOf } from "../sandbox/os/process-tree.ts";
import { type Figure, printFigures } from "./figure.ts";
import { answeredMs, fire, type HookBench, openHookBench } from "./hook-house.ts";
import {
  denoRun,
  denoWorker,
  nodeProcess,
  openQuickJs,
  openThread,
  type Peer,
  quickJs,
  rssMib,
  workerThread,
} from "./hook-peers.ts";
import { median, percentile, removeFolder } from "./house.ts";

const ROUNDS = 9;
const CALLS_PER_ROUND = 200;
const COLD_ROUNDS = 9;
const LOADED_HOOKS = 100;
const WEDGING_HOOKS = 100;
/** Between two cold starts: the shelf and the spare process are full again by then. */
const PAUSE_MS = 150;
const SPARE_MS = 1000;

const HOOK = "export default (event) => ({ modify: event })";
const WEDGE = "export default () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function ours({ open, plan }: HookBench): Promise<Peer> {
  const engine = open();
  const hook = await plan(HOOK);
  const call = async (times: number) => {
    const samples: number[] = [];
    for (let index = 0; index < times; index += 1) samples.push(await answeredMs(engine, "warm", "warm", hook));
    return samples;
  };
  return {
    name: "clawd",
    wall: "isolate, process, OS sandbox",
    callsPerRound: CALLS_PER_ROUND,
    call,
    cold: undefined,
    close: () => engine.close(),
  };
}

/** Warm calls of all peers, a few of each in turn. */
async function benchCalls(peers: readonly Peer[]): Promise<readonly Figure[]> {
  const samples = new Map<Peer, number[]>(peers.map((peer) => [peer, []]));
  // The first round warms all of them up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const peer of peers) {
      const latencies = await peer.call(peer.callsPerRound);
      if (round > 0) samples.get(peer)?.push(...latencies);
    }
  }
  const [first, ...others] = peers.map((peer) => {
    const latencies = samples.get(peer) ?? [];
    return { peer, p50: median(latencies), p99: percentile(latencies, 0.99) };
  });
  if (!first) return [];
  const deno = others.find(({ peer }) => peer.name === "deno run per call");
  return [
    {
      ...{ name: "event to verdict, p50", value: first.p50 * 1000, unit: "µs", reach: 200 },
      note: `${((deno?.p50 ?? 0) / first.p50).toFixed(0)} × faster than deno run per call`,
    },
    { ...{ name: "event to verdict, p99", value: first.p99 * 1000, unit: "µs", reach: 1000 }, note: first.peer.wall },
    ...others.map(({ peer, p50, p99 }) => ({
      ...{ name: `${peer.name}, p50`, value: p50 * 1000, unit: "µs", reach: undefined },
      note: `${(p50 / first.p50).toFixed(2)} × ours; p99 ${(p99 * 1000).toFixed(0)} µs; wall: ${peer.wall}`,
    })),
  ];
}

type Cold = {
  readonly name: string;
  readonly reach: number | undefined;
  readonly samples: number[];
  once(): Promise<number>;
};

/** From a script that no process has seen to its first verdict; it is bundled before. */
async function benchCold({ open, plan }: HookBench, peers: readonly Peer[]): Promise<readonly Figure[]> {
  const engine = open();
  await answeredMs(engine, "old", "old", await plan(HOOK));
  await pause(SPARE_MS);
  let count = 0;
  const pooled = async () => {
    count += 1;
    const hook = await plan(HOOK);
    await pause(PAUSE_MS);
    return answeredMs(engine, "old", `new ${count}`, hook);
  };
  const spare = async () => {
    count += 1;
    const hook = await plan(HOOK);
    await pause(SPARE_MS);
    return answeredMs(engine, `group ${count}`, "new", hook);
  };
  const fromNothing = async () => {
    const hook = await plan(HOOK);
    const fresh = open();
    const ms = await answeredMs(fresh, "new", "new", hook);
    await fresh.close();
    return ms;
  };
  const colds: Cold[] = [
    { name: "new script, a booted isolate", reach: 1, samples: [], once: pooled },
    { name: "new script, the spare process", reach: 15, samples: [], once: spare },
    { name: "new script, from nothing", reach: 200, samples: [], once: fromNothing },
    ...peers.flatMap(({ name, cold }) => (cold ? [{ name, reach: undefined, samples: [], once: cold }] : [])),
  ];
  for (let round = 0; round <= COLD_ROUNDS; round += 1) {
    for (const cold of colds) {
      const ms = await cold.once();
      if (round > 0) cold.samples.push(ms);
    }
  }
  await engine.close();
  const base = median(colds[0]?.samples ?? []);
  return colds.map(({ name, reach, samples }) => ({
    ...{ name, value: median(samples), unit: "ms", reach },
    note: `${(median(samples) / base).toFixed(1)} × a booted isolate; p90 ${percentile(samples, 0.9).toFixed(1)} ms`,
  }));
}

/** The process of the only hook host below this one: its isolates' memory is there. */
function hostPid(): number {
  const isHost = (pid: number): boolean => rssMib(pid) > 20;
  const below = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...below(child)]);
  const [host] = below(process.pid)
    .filter(isHost)
    .sort((a, b) => rssMib(b) - rssMib(a));
  if (host === undefined) throw new Error("there is no hook host");
  return host;
}

async function benchMemory({ open, plan }: HookBench): Promise<readonly Figure[]> {
  const engine = open();
  await answeredMs(engine, "group", "first", await plan(HOOK));
  const pid = hostPid();
  const before = rssMib(pid);
  for (let index = 0; index < LOADED_HOOKS; index += 1) {
    await answeredMs(engine, "group", `guest ${index}`, await plan(HOOK));
  }
  const each = (rssMib(pid) - before) / LOADED_HOOKS;
  await engine.close();

  const ownBefore = rssMib(process.pid);
  const threads = Array.from({ length: 20 }, openThread);
  await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once("online", resolve))));
  const perThread = (rssMib(process.pid) - ownBefore) / threads.length;
  await Promise.all(threads.map((thread) => thread.terminate()));

  const contextsBefore = rssMib(process.pid);
  const contexts = await Promise.all(Array.from({ length: LOADED_HOOKS }, openQuickJs));
  const perContext = (rssMib(process.pid) - contextsBefore) / contexts.length;
  for (const context of contexts) context.dispose();
  return [
    {
      ...{ name: "memory of a loaded hook", value: each, unit: "MiB", reach: 2 },
      note: `${LOADED_HOOKS} in one process, which has ${before.toFixed(0)} MiB of its own`,
    },
    {
      ...{ name: "worker_threads, a thread", value: perThread, unit: "MiB", reach: undefined },
      note: `${(perThread / each).toFixed(1)} × ours`,
    },
    {
      ...{ name: "quickjs-emscripten, a context", value: perContext, unit: "MiB", reach: undefined },
      note: `${(perContext / each).toFixed(2)} × ours`,
    },
  ];
}

async function benchKill({ open, plan }: HookBench): Promise<Figure> {
  const engine = open();
  const [good, bad] = [await plan(HOOK), await plan(WEDGE)];
  const samples: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await answeredMs(engine, "group", "good", good);
    await pause(SPARE_MS);
    const fired = await fire(engine, "group", "bad", bad);
    if (fired.ok || !fired.killed) throw new Error("the wedge was not killed");
    samples.push(await answeredMs(engine, "group", "good", good));
  }
  await engine.close();
  return {
    ...{ name: "from a kill to the next verdict", value: median(samples), unit: "ms", reach: 100 },
    note: `of the same trust group, by the spare process; worst of ${samples.length}: ${Math.max(...samples).toFixed(1)} ms`,
  };
}

/** A hundred hooks that nothing but SIGKILL stops, all at once, and one of another trust group that goes on working. */
async function benchAttack({ open, plan }: HookBench): Promise<readonly Figure[]> {
  const engine = open();
  const [good, bad] = [await plan(HOOK), await plan(WEDGE)];
  await answeredMs(engine, "good", "good", good);
  await pause(SPARE_MS);
  const alone: number[] = [];
  for (let index = 0; index < 300; index += 1) {
    alone.push(await answeredMs(engine, "good", "good", good));
    await pause(5);
  }
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  let under = true;
  const attack = Promise.all(
    Array.from({ length: WEDGING_HOOKS }, (_, index) => fire(engine, `bad ${index}`, "bad", bad)),
  ).finally(() => {
    under = false;
  });
  const samples: number[] = [];
  while (under) {
    samples.push(await answeredMs(engine, "good", "good", good));
    await pause(5);
  }
  loop.disable();
  const killed = (await attack).filter((fired) => !fired.ok && fired.killed).length;
  await engine.close();
  return [
    {
      ...{ name: "another group's event to verdict, p50", value: median(samples), unit: "ms", reach: 1 },
      note: `${(median(samples) / median(alone)).toFixed(1)} × without; p99 ${percentile(samples, 0.99).toFixed(1)} ms; ${killed} killed, ${samples.length} events between`,
    },
    {
      ...{ name: "longest gap of the daemon's loop", value: loop.max / 1e6, unit: "ms", reach: 50 },
      note: `p99 ${(loop.percentile(99) / 1e6).toFixed(1)} ms`,
    },
  ];
}

/** All figures of hooks, printed as they come. */
export async function benchHooks(): Promise<void> {
  const bench = await openHookBench();
  const peers = [
    await ours(bench),
    denoRun(bench.folder),
    denoWorker(bench.folder),
    workerThread(),
    nodeProcess(bench.folder),
    await quickJs(),
  ];
  printFigures(`hooks: warm calls, 1 KB each way (OS sandbox: ${bench.level})`, await benchCalls(peers));
  printFigures("hooks: the first call of a script", await benchCold(bench, peers));
  await Promise.all(peers.map((peer) => peer.close()));
  printFigures("hooks: memory", await benchMemory(bench));
  printFigures(`hooks: ${WEDGING_HOOKS} that wedge`, [await benchKill(bench), ...(await benchAttack(bench))]);
  removeFolder(bench.folder);
}

if (process.argv[1] === import.meta.filename) await benchHooks();
