import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Figure } from "./figure.ts";
import { makeWorkspace, median, pssMib, removeFolder, startDaemon, temporaryFolder, timeClaw } from "./house.ts";
import { installCopies } from "./plugin-house.ts";

const ROUNDS = 9;
/** Time for lazily loaded parts to show up, if any would, milliseconds. */
const SETTLE_MS = 2_000;

/** (a) cold start to ready, with no plugin and with fifty, interleaved; (b) memory of a daemon at rest. */
export async function benchStart(): Promise<readonly Figure[]> {
  const bare = temporaryFolder();
  const full = temporaryFolder();
  await installCopies(full, 50);
  const bareMs: number[] = [];
  const fullMs: number[] = [];
  let pss = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await startDaemon(bare);
    bareMs.push(first.readyMs);
    if (round === 0) {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      pss = pssMib(first.process.pid ?? 0);
    }
    await first.stop();
    const second = await startDaemon(full);
    fullMs.push(second.readyMs);
    await second.stop();
  }
  removeFolder(bare);
  removeFolder(full);
  const [none, fifty] = [median(bareMs), median(fullMs)];
  return [
    {
      name: "daemon cold start to ready",
      value: none,
      unit: "ms",
      reach: 500,
      note: `best ${Math.min(...bareMs).toFixed(0)} ms of ${ROUNDS}`,
    },
    {
      name: "same with 50 plugins installed",
      value: fifty,
      unit: "ms",
      reach: none * 1.1,
      note: `${(fifty / none).toFixed(2)} × the start with none`,
    },
    { name: "idle memory of the daemon and its children (PSS)", value: pss, unit: "MiB", reach: 150, note: "" },
  ];
}

/** (c) one message to a warm daemon, the bin itself, rehearsal provider. */
export async function benchSay(): Promise<readonly Figure[]> {
  const home = temporaryFolder();
  const workspace = makeWorkspace(1);
  const daemon = await startDaemon(home, { XDG_CACHE_HOME: join(home, "cache") });
  timeClaw(["say", "hello"], daemon.env, workspace.folder);
  const floorMs: number[] = [];
  const sayMs: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    floorMs.push(timeNode());
    sayMs.push(timeClaw(["say", "hello"], daemon.env, workspace.folder));
  }
  await daemon.stop();
  removeFolder(home);
  removeFolder(workspace.folder);
  const floor = median(floorMs);
  const say = median(sayMs);
  return [
    {
      name: "claw say, warm daemon",
      value: say,
      unit: "ms",
      reach: 200,
      note: `${(say / floor).toFixed(1)} × a bare \`node -e 0\` (${floor.toFixed(0)} ms) in the same run`,
    },
  ];
}

function timeNode(): number {
  const startedMs = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return performance.now() - startedMs;
}
