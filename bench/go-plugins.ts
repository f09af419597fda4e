// (i) Plugins in Go: ours on the library for Go, behind its wall, beside one on hashicorp/go-plugin, whose host is a program
// in Go. In turns, with the same payloads. Only told: two hosts in two languages are no race.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bareLauncher, launcher } from "../plugin-host/fixtures/plugin-lab.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import { buildGo, goMissing } from "../tests/kit/go-build.ts";
import { type Figure, printFigures } from "./figure.ts";
import { median, percentile } from "./house.ts";
import { openPluginBench, type PluginBench } from "./plugin-house.ts";
import { pluginPeer } from "./plugin-peers.ts";

const ROUNDS = 8;
const CALLS_PER_ROUND = 100;
const WARM_UP_CALLS = 400;
const POURED_MIB = 32;
const POUR_ROUNDS = 5;
const BYTES_PER_MIB = 1024 ** 2;

type What = "hook" | "tool";

/** One kind of plugin in Go with its host; all times are in microseconds. */
type GoPeer = {
  readonly name: string;
  readonly wall: string;
  callsUs(what: What, count: number): Promise<readonly number[]>;
  pourUs(mebibytes: number): Promise<number>;
  close(): Promise<void>;
};

async function ourPeer(bench: PluginBench, name: string, within: Launcher): Promise<GoPeer> {
  const peer = pluginPeer(name, within.level, await bench.start("go", within));
  const timedUs = async (call: () => Promise<void>) => {
    const startedMs = performance.now();
    await call();
    return (performance.now() - startedMs) * 1000;
  };
  return {
    ...{ name, wall: peer.wall, close: peer.close },
    async callsUs(what, count) {
      const samples: number[] = [];
      for (let left = count; left > 0; left -= 1) samples.push(await timedUs(peer[what]));
      return samples;
    },
    pourUs: (mebibytes) => timedUs(() => peer.pour(mebibytes)),
  };
}

/** The program of bench/go-plugin, which is host and plugin, and measures itself. */
async function hashicorpPeer(): Promise<GoPeer> {
  const folder = mkdtempSync(join(tmpdir(), "go-plugin-"));
  const program = join(folder, "go-plugin");
  writeFileSync(program, await buildGo(join(import.meta.dirname, "go-plugin")), { mode: 0o755 });
  const host = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(host, "exit");
  const answers = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  const measure = async (what: string, count: number): Promise<readonly number[]> => {
    host.stdin.write(`${what} ${count}\n`);
    const { value, done } = await answers.next();
    if (done === true) throw new Error(`the host of go-plugin ended when it was to measure "${what}"`);
    return JSON.parse(value) as readonly number[];
  };
  return {
    ...{ name: "hashicorp/go-plugin, host in Go", wall: "none" },
    callsUs: measure,
    pourUs: async (mebibytes) => (await measure("pour", mebibytes))[0] ?? Number.NaN,
    async close() {
      host.stdin.end();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function benchCalls(peers: readonly GoPeer[], what: What): Promise<readonly Figure[]> {
  const samples = new Map<GoPeer, number[]>(peers.map((peer) => [peer, []]));
  for (const peer of peers) await peer.callsUs(what, WARM_UP_CALLS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const peer of peers) samples.get(peer)?.push(...(await peer.callsUs(what, CALLS_PER_ROUND)));
  }
  return [...samples].map(([{ name, wall }, all]) => ({
    ...{ name: `${name}, p50`, value: median(all), unit: "µs", reach: undefined },
    note: `p99 ${percentile(all, 0.99).toFixed(0)} µs; wall: ${wall}`,
  }));
}

async function benchPour(peers: readonly GoPeer[]): Promise<readonly Figure[]> {
  const samples = new Map<GoPeer, number[]>(peers.map((peer) => [peer, []]));
  for (const peer of peers) await peer.pourUs(POURED_MIB);
  for (let round = 0; round < POUR_ROUNDS; round += 1) {
    // Bytes of a microsecond are megabytes of a second.
    for (const peer of peers) samples.get(peer)?.push((POURED_MIB * BYTES_PER_MIB) / (await peer.pourUs(POURED_MIB)));
  }
  return [...samples].map(([{ name, wall }, rates]) => ({
    ...{ name, value: median(rates), unit: "MB/s", reach: undefined },
    note: `best of ${rates.length}: ${Math.max(...rates).toFixed(0)} MB/s; wall: ${wall}`,
  }));
}

/** All figures of plugins in Go, printed as they come; one line that says why where there can be none. */
export async function benchGoPlugins(): Promise<void> {
  if (goMissing !== undefined) {
    console.log(`\nplugins in Go: skipped, ${goMissing}`);
    return;
  }
  const bench = await openPluginBench(["go"]);
  const peers = [
    await ourPeer(bench, "Go SDK, host in Node", launcher),
    await ourPeer(bench, "Go SDK, host in Node, without a wall", bareLauncher),
    await hashicorpPeer(),
  ];
  printFigures("plugins in Go: an event to its hook and back", await benchCalls(peers, "hook"));
  printFigures(
    "plugins in Go: a call and its text (ours is a stream that may tell of progress)",
    await benchCalls(peers, "tool"),
  );
  printFigures(`plugins in Go: ${POURED_MIB} MiB in pieces of 64 KiB`, await benchPour(peers));
  for (const peer of peers) await peer.close();
  await bench.close();
}
