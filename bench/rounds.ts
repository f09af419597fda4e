import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Figure } from "./figure.ts";
import { clients, makeWorkspace, median, removeFolder, startDaemon, temporaryFolder } from "./house.ts";
import { startModelThread } from "./model-thread.ts";

const PASSES = 3;
/** Rounds of the same kind before any is measured: a daemon lives for weeks, and its code is compiled by then. */
const WARM_ROUNDS = 1_000;
const WARM_TURNS_WITHOUT_ROUNDS = 20;
const MEASURED_TURNS = 5;

/**
 * (d) the daemon's own cost of a tool round: read a file, journaled and synced; vendor SDK and loopback server included.
 */
export async function benchRounds(): Promise<readonly Figure[]> {
  const costs = new Map<number, number[]>([0, 50, 200].map((rounds) => [rounds, []]));
  const floors: number[] = [];
  const workspace = makeWorkspace(200);
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const [rounds, samples] of costs) samples.push(...(await measureTurns(rounds, workspace)));
    floors.push(syncFloorMs());
  }
  removeFolder(workspace.folder);
  const none = median(costs.get(0) ?? []);
  const perRound = (rounds: number) => (median(costs.get(rounds) ?? []) - none) / rounds;
  const floor = 2 * median(floors);
  const [fifty, twoHundred] = [perRound(50), perRound(200)];
  return [
    {
      ...{ name: "floor of two syncs of this disk", value: floor, unit: "ms", reach: undefined },
      note: "write + fdatasync of 600 bytes, twice",
    },
    {
      ...{ name: "own cost of a tool round, over 50", value: fifty, unit: "ms", reach: 2 + floor },
      note: `${(fifty - floor).toFixed(2)} ms beyond the floor`,
    },
    {
      ...{ name: "own cost of a tool round, over 200", value: twoHundred, unit: "ms", reach: fifty * 1.3 },
      note: `${(twoHundred / fifty).toFixed(2)} × that over 50`,
    },
  ];
}

async function measureTurns(rounds: number, workspace: ReturnType<typeof makeWorkspace>): Promise<readonly number[]> {
  const server = await startModelThread({ rounds, paths: workspace.paths });
  const home = temporaryFolder();
  const daemon = await startDaemon(home, { ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: server.url });
  const { sessions } = clients(join(home, "clawd.sock"));
  const samples: number[] = [];
  const warmTurns = rounds === 0 ? WARM_TURNS_WITHOUT_ROUNDS : WARM_ROUNDS / rounds;
  for (let turn = 0; turn < warmTurns + MEASURED_TURNS; turn += 1) {
    const ms = await turnMs(sessions, workspace.folder);
    if (turn >= warmTurns) samples.push(ms);
  }
  await daemon.stop();
  await server.close();
  removeFolder(home);
  return samples;
}

type Sessions = ReturnType<typeof clients>["sessions"];

/** From Say to the turn's end, as a subscribed client sees it. */
async function turnMs(sessions: Sessions, workspace: string): Promise<number> {
  const { sessionId } = await sessions.openSession({ workspace });
  const stop = new AbortController();
  let startedMs = 0;
  for await (const { news } of sessions.subscribe(
    { sessionId, follow: true, attended: true },
    { signal: stop.signal },
  )) {
    if (news.case === "caughtUp") {
      startedMs = performance.now();
      await sessions.say({ sessionId, text: "read them all" });
    }
    if (news.case !== "event" || news.value.body.case !== "turnEnded") continue;
    if (news.value.body.value.failure !== undefined) throw new Error(news.value.body.value.failure.message);
    break;
  }
  const ms = performance.now() - startedMs;
  stop.abort();
  return ms;
}

/** What one small durable write costs on this disk, milliseconds. */
function syncFloorMs(): number {
  const folder = temporaryFolder();
  const file = openSync(join(folder, "floor"), "w");
  const line = Buffer.alloc(600, 120);
  const samples: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    const startedMs = performance.now();
    writeSync(file, line);
    fdatasyncSync(file);
    samples.push(performance.now() - startedMs);
  }
  closeSync(file);
  removeFolder(folder);
  return median(samples);
}
