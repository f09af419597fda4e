// (g) Plugins: an event, a tool call and a stream through the link of a plugin in its sandbox, beside other ways to call
// into another program. All in one pass, interleaved; then their starts, their memory and their deaths.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bareLauncher, bundleFixture, launcher, openBadLab } from "../plugin-host/fixtures/plugin-lab.ts";
import type { Incarnation } from "../plugin-host/life/incarnation.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import { childrenOf } from "../sandbox/os/process-tree.ts";
import { type Figure, printFigures } from "./figure.ts";
import { median, percentile, pssMib } from "./house.ts";
import { type Kind, openPluginBench, type PluginBench } from "./plugin-house.ts";
import { jsonRpcNode, jsonRpcPython, type Peer, pluginPeer, workerThread } from "./plugin-peers.ts";

const ROUNDS = 8;
const CALLS_PER_ROUND = 100;
const WARM_UP_CALLS = 400;
/** Calls under way at once, and how many are made so. */
const IN_FLIGHT: readonly number[] = [1, 16, 64];
const CALLS_IN_FLIGHT = 1_000;
const POURED_MIB = 32;
const POUR_ROUNDS = 5;
const STARTS = 9;
const CRASHES = 9;
const DAEMON_DEATHS = 3;
/** From then on a plugin that nobody calls is idle. */
const IDLE_AFTER_MS = 1_000;
const GONE_LIMIT_MS = 5_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Reach = { readonly hookTimes: number; readonly toolMs: number };
/** What each of ours should reach: a hook in times of JSON-RPC over stdio, a tool call in milliseconds. */
const REACH: Readonly<Record<Kind, Partial<Reach>>> = {
  sdk: { hookTimes: 4, toolMs: 1.2 },
  "grpc-js": { hookTimes: 4, toolMs: 0.8 },
  python: { toolMs: 0.8 },
  go: {},
};

type Entry = { readonly peer: Peer; readonly kind: Kind | undefined };

async function timed(times: number, once: () => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const startedMs = performance.now();
    await once();
    samples.push(performance.now() - startedMs);
  }
  return samples;
}

type Latencies = { readonly p50: number; readonly p99: number };

/** Calls one after the other, some of each peer in turn. */
async function latencies(entries: readonly Entry[], what: "hook" | "tool"): Promise<ReadonlyMap<Peer, Latencies>> {
  const samples = new Map<Peer, number[]>(entries.map(({ peer }) => [peer, []]));
  for (const { peer } of entries) await timed(WARM_UP_CALLS, peer[what]);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { peer } of entries) samples.get(peer)?.push(...(await timed(CALLS_PER_ROUND, peer[what])));
  }
  return new Map([...samples].map(([peer, all]) => [peer, { p50: median(all), p99: percentile(all, 0.99) }]));
}

async function benchLatency(entries: readonly Entry[], what: "hook" | "tool"): Promise<readonly Figure[]> {
  const heard = await latencies(entries, what);
  const rpc = entries.find(({ peer }) => peer.name === "JSON-RPC stdio, node");
  const base = (rpc && heard.get(rpc.peer)?.p50) ?? Number.NaN;
  return entries.map(({ peer, kind }) => {
    const { p50, p99 } = heard.get(peer) ?? { p50: Number.NaN, p99: Number.NaN };
    const { hookTimes, toolMs } = kind === undefined ? {} : REACH[kind];
    const hookReach = hookTimes === undefined ? undefined : hookTimes * base * 1000;
    const reach = what === "hook" ? hookReach : toolMs === undefined ? undefined : toolMs * 1000;
    const times = `${(p50 / base).toFixed(1)} × JSON-RPC stdio, node`;
    return {
      ...{ name: `${peer.name}, p50`, value: p50 * 1000, unit: "µs", reach },
      note: `${times}; p99 ${(p99 * 1000).toFixed(0)} µs; wall: ${peer.wall}`,
    };
  });
}

/** Calls a second with so many under way at once. */
async function perSecond(inFlight: number, once: () => Promise<void>): Promise<number> {
  let left = CALLS_IN_FLIGHT;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await once();
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  return (CALLS_IN_FLIGHT * 1000) / (performance.now() - startedMs);
}

async function benchThroughput(entries: readonly Entry[], what: "hook" | "tool"): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { peer } of entries) {
    const rates: number[] = [];
    for (const inFlight of IN_FLIGHT) rates.push(await perSecond(inFlight, peer[what]));
    const [one = Number.NaN, ...more] = rates;
    const rest = more.map((rate, index) => `${IN_FLIGHT[index + 1]} in flight: ${rate.toFixed(0)}/s`).join(", ");
    figures.push({ name: `${peer.name}, 1 in flight`, value: one, unit: "/s", reach: undefined, note: rest });
  }
  return figures;
}

async function benchPour(entries: readonly Entry[]): Promise<readonly Figure[]> {
  const samples = new Map<Peer, number[]>(entries.map(({ peer }) => [peer, []]));
  for (let round = 0; round <= POUR_ROUNDS; round += 1) {
    for (const { peer } of entries) {
      const [ms = Number.NaN] = await timed(1, () => peer.pour(POURED_MIB));
      if (round > 0) samples.get(peer)?.push((POURED_MIB * 1024 ** 2) / 1e6 / (ms / 1000));
    }
  }
  return entries.map(({ peer, kind }) => {
    const rates = samples.get(peer) ?? [];
    const least = kind === "sdk" ? { least: 150 } : {};
    return {
      ...{ name: peer.name, value: median(rates), unit: "MB/s", reach: undefined, ...least },
      note: `best of ${rates.length}: ${Math.max(...rates).toFixed(0)} MB/s`,
    };
  });
}

async function benchMemory(entries: readonly Entry[]): Promise<readonly Figure[]> {
  await pause(IDLE_AFTER_MS);
  return entries.flatMap(({ peer }) =>
    peer.pid === undefined
      ? []
      : [{ name: peer.name, value: pssMib(peer.pid), unit: "MiB", reach: undefined, note: `wall: ${peer.wall}` }],
  );
}

/** From before the start of its process to the answer to its first call. */
async function firstCallMs(open: () => Promise<Peer>): Promise<number> {
  const startedMs = performance.now();
  const peer = await open();
  await peer.tool();
  const ms = performance.now() - startedMs;
  await peer.close();
  return ms;
}

type Start = {
  readonly name: string;
  readonly wall: string;
  readonly reach: number | undefined;
  readonly open: () => Promise<Peer>;
};

async function benchStarts(bench: PluginBench): Promise<readonly Figure[]> {
  const plugin = (name: string, kind: Kind, within: Launcher, reach: number | undefined): Start => ({
    ...{ name, wall: within.level, reach },
    open: async () => pluginPeer(name, within.level, await bench.start(kind, within)),
  });
  const peer = (name: string, open: () => Peer): Start => ({
    ...{ name, wall: "none", reach: undefined },
    open: async () => open(),
  });
  const starts: readonly Start[] = [
    plugin("TypeScript SDK, bundled", "sdk", launcher, 200),
    plugin("Python, standard library", "python", launcher, 170),
    plugin("TypeScript SDK, without a wall", "sdk", bareLauncher, undefined),
    plugin("Python, without a wall", "python", bareLauncher, undefined),
    peer("JSON-RPC stdio, node", jsonRpcNode),
    peer("JSON-RPC stdio, python", jsonRpcPython),
    peer("worker_threads", workerThread),
  ];
  const samples = starts.map((): number[] => []);
  const floors: number[] = [];
  for (let round = 0; round <= STARTS; round += 1) {
    const [floorMs = Number.NaN] = await timed(1, bareNode);
    if (round > 0) floors.push(floorMs);
    for (const [index, { open }] of starts.entries()) {
      const ms = await firstCallMs(open);
      if (round > 0) samples[index]?.push(ms);
    }
  }
  const floor = median(floors);
  return starts.map(({ name, wall, reach }, index) => {
    const all = samples[index] ?? [];
    const times = `${(median(all) / floor).toFixed(1)} × a bare \`node -e 0\` (${floor.toFixed(0)} ms)`;
    return {
      ...{ name, value: median(all), unit: "ms", reach },
      note: `${times}; best ${Math.min(...all).toFixed(0)} ms; wall: ${wall}`,
    };
  });
}

async function bareNode(): Promise<void> {
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
}

/** A process and everybody below it. */
function treeOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)];
}

/** From SIGKILL of the plugin's own process, with a call under way, until its callers hear that it died. */
async function crashNoticedMs(bench: PluginBench, kind: Kind): Promise<number> {
  const incarnation: Incarnation = await bench.start(kind, launcher);
  await pluginPeer(kind, launcher.level, incarnation).tool();
  const inFlight = hang(incarnation);
  const innermost = treeOf(incarnation.pid).at(-1) ?? incarnation.pid;
  const noticed = Promise.withResolvers<number>();
  incarnation.onExit(() => noticed.resolve(performance.now()));
  const killedMs = performance.now();
  process.kill(innermost, "SIGKILL");
  const noticedMs = await noticed.promise;
  await inFlight;
  await incarnation.cleaned;
  return noticedMs - killedMs;
}

/** A call that ends with the process only. */
async function hang({ link }: Incarnation): Promise<void> {
  const call = { callId: "c1", sessionId: "s1", workspace: "/w", tool: "hang", args: {}, timeLimitMs: 60_000 };
  try {
    for await (const _ of link.callTool(call, new AbortController().signal));
  } catch {
    // That is how it ends.
  }
}

async function benchCrashes(bench: PluginBench): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const kind of ["sdk", "python"] as const) {
    const samples: number[] = [];
    for (let index = 0; index < CRASHES; index += 1) samples.push(await crashNoticedMs(bench, kind));
    figures.push({
      ...{ name: `crash noticed, ${kind}`, value: median(samples), unit: "ms", reach: 10 },
      note: `SIGKILL with a call under way; worst of ${CRASHES}: ${Math.max(...samples).toFixed(1)} ms`,
    });
  }
  return figures;
}

/** True for what still runs: a zombie only waits for somebody to read its exit. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** From SIGKILL of a daemon until its plugin, what that started, and all that guards them are gone. */
async function allGoneMs(folder: string, wall: "walled" | "bare"): Promise<number> {
  const doomed = join(import.meta.dirname, "../plugin-host/fixtures/doomed-host.ts");
  const daemon = spawn(process.execPath, [doomed, folder, wall], { stdio: ["ignore", "pipe", "inherit"] });
  await once(daemon.stdout, "data");
  const tree = treeOf(daemon.pid ?? 0);
  const killedMs = performance.now();
  daemon.kill("SIGKILL");
  let left = tree;
  while (left.length > 0) {
    await pause(1);
    left = left.filter(isAlive);
    if (performance.now() - killedMs > GONE_LIMIT_MS) throw new Error(`${left} outlived their daemon`);
  }
  return performance.now() - killedMs;
}

async function benchDaemonDeaths(): Promise<readonly Figure[]> {
  const lab = await openBadLab(await bundleFixture("misbehaving.ts"), "grandchild");
  const figures: Figure[] = [];
  for (const [wall, level] of [
    ["walled", launcher.level],
    ["bare", bareLauncher.level],
  ] as const) {
    const samples: number[] = [];
    for (let index = 0; index < DAEMON_DEATHS; index += 1) samples.push(await allGoneMs(lab.dir, wall));
    figures.push({
      ...{ name: `all gone after the daemon, wall: ${level}`, value: median(samples), unit: "ms", reach: 100 },
      note: `a plugin with a child of its own; worst of ${DAEMON_DEATHS}: ${Math.max(...samples).toFixed(0)} ms`,
    });
  }
  await lab.close();
  return figures;
}

/** All figures of plugins, printed as they come. */
export async function benchPlugins(): Promise<void> {
  const bench = await openPluginBench();
  const wall = launcher.level;
  const plugin = async (kind: Kind, name: string): Promise<Entry> => ({
    peer: pluginPeer(name, wall, await bench.start(kind, launcher)),
    kind,
  });
  const peer = (other: Peer): Entry => ({ peer: other, kind: undefined });
  const entries = [
    await plugin("sdk", "TypeScript SDK"),
    await plugin("grpc-js", "plain grpc-js"),
    await plugin("python", "Python, standard library"),
    ...[jsonRpcNode(), jsonRpcPython(), workerThread()].map(peer),
  ];
  printFigures("plugins: memory when idle, all its processes (PSS)", await benchMemory(entries));
  printFigures("plugins: an event to its hook and back", await benchLatency(entries, "hook"));
  printFigures("plugins: a tool call", await benchLatency(entries, "tool"));
  printFigures("plugins: events", await benchThroughput(entries, "hook"));
  printFigures("plugins: tool calls", await benchThroughput(entries, "tool"));
  printFigures("plugins: a stream in pieces of 64 KiB", await benchPour(entries));
  for (const entry of entries) await entry.peer.close();
  printFigures("plugins: from the start of the process to the answer to its first call", await benchStarts(bench));
  printFigures("plugins: deaths", [...(await benchCrashes(bench)), ...(await benchDaemonDeaths())]);
  await bench.close();
}

if (process.argv[1] === import.meta.filename) {
  await benchPlugins();
  // What the fixtures of the host hold open would keep the process.
  process.exit();
}
