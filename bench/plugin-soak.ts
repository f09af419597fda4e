// Fifty plugins in one daemon, each second one of them killed, stopped or flooding, and a hundred conversations meanwhile, of
// which half use no plugin: `npm run soak`. Before that the same without faults, to compare with.
// CLAWD_PLUGIN_SOAK_SECONDS (300) for each of both runs. Exit code 1 when anything is wrong.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { percentile, removeFolder, temporaryFolder } from "./house.ts";
import { type Lane, runLane, sayOnce, type Talk } from "./soak-conversations.ts";
import { type SoakDaemon, startSoakDaemon } from "./soak-daemon.ts";
import { type Faults, openFaults } from "./soak-faults.ts";
import { pluginKind, pluginName, toolName, writePlugin } from "./soak-plugins.ts";
import { openWatch, pluginProcesses, type Seen } from "./soak-watch.ts";

const SECONDS = 300;
const PLUGINS = 50;
const CONVERSATIONS = 100;
/** Spreads the turns of all conversations over the time between two of one, milliseconds. */
const LANE_OFFSET_MS = 40;
/** From here on the daemon is warm: share of the run. */
const WARM_SHARE = 0.2;
/** So much more may the daemon have in use at the end than when it was warm, MiB, both times without its garbage. */
const GROWTH_LIMIT_MIB = 8;
/** What the daemon may have of the machine at any moment, MiB: its heap is swept when it pleases the engine. */
const DAEMON_LIMIT_MIB = 512;
/** The 99th percentile of a turn without plugins may be so many times that of the run without faults. */
const SLOWER_LIMIT = 1.5;
/** With fewer turns the 99th percentile is the luck of a few of them: it is printed, and not judged. */
const JUDGED_TURNS = 2_000;
/** Each second one fault, but for seconds in which no answer came or nothing ran. */
const FAULTS_LEAST_SHARE = 0.9;
/** After the faults a plugin may be in its longest pause before it starts again, milliseconds. */
const RETURN_LIMIT_MS = 120_000;
const RETRY_MS = 500;
const GONE_LIMIT_MS = 10_000;
const NOTES = "The engine weaves algebraic patterns.";
/** The breaker never trips. */
const CONFIG = `[plugins]\ncrashes_allowed = 1000000\ncrash_window_seconds = 60\n`;

type Place = { readonly home: string; readonly workspace: string; readonly seconds: number };
type Run = {
  readonly talk: Talk;
  readonly seen: Seen;
  readonly faults: Faults | undefined;
  readonly memory: { readonly warmMib: number; readonly endMib: number };
  /** Plugins that did not answer again, with the last failure. */
  readonly silent: readonly string[];
  /** Processes that lived on when the daemon was gone. */
  readonly left: readonly number[];
  readonly died: string | undefined;
};

const names = Array.from({ length: PLUGINS }, (_, index) => pluginName(index));

function laneOf(index: number): Lane {
  if (index % 2 === 0) return { text: "read notes.md", tool: undefined, answer: NOTES };
  const tool = toolName((index >> 1) % PLUGINS, "word_count");
  return { text: `call ${tool} {"text":"weave"}`, tool, answer: "1 weave" };
}

async function install(daemon: SoakDaemon): Promise<void> {
  const source = temporaryFolder();
  for (const index of names.keys()) {
    // Trust counts only where the machine has no walls.
    await daemon.plugins.installPlugin({ folder: writePlugin(source, index), grant: true, trust: true });
  }
  removeFolder(source);
}

/** Calls each plugin until it answers. Resolves with those that do not. */
async function whoIsSilent(daemon: SoakDaemon, { workspace }: Place): Promise<readonly string[]> {
  const untilMs = performance.now() + RETURN_LIMIT_MS;
  const silent = await Promise.all(
    names.map(async (name, index) => {
      for (;;) {
        const said = await sayOnce(daemon, workspace, `call ${toolName(index, "word_count")} {"text":"weave"}`).catch(
          (cause: unknown) => ({ calls: [], problem: String(cause) }),
        );
        if (said.calls[0]?.isDone === true) return [];
        if (performance.now() > untilMs) return [`${name}: ${said.problem ?? said.calls[0]?.output}`];
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }),
  );
  return silent.flat();
}

async function whoStays(home: string): Promise<readonly number[]> {
  const untilMs = performance.now() + GONE_LIMIT_MS;
  for (;;) {
    const left = pluginProcesses(home);
    if (left.length === 0 || performance.now() > untilMs) return left;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function converse(daemon: SoakDaemon, place: Place, withFaults: boolean) {
  const talk: Talk = {
    plainMs: [],
    pluginMs: [],
    plainFailures: [],
    brokenTurns: [],
    failedCalls: 0,
    firstFailedCall: "",
    sweep: { beganMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
  };
  const faults = withFaults ? openFaults(daemon, place.workspace, names) : undefined;
  const endMs = performance.now() + place.seconds * 1000;
  const isOver = () => performance.now() >= endMs;
  const say = () => `${talk.plainMs.length + talk.pluginMs.length} turns, ${talk.failedCalls} calls of plugins failed`;
  const watch = openWatch(daemon, place.home, say, (plugins) => {
    if (!isOver()) faults?.strike(plugins);
  });
  const lanes = Array.from({ length: CONVERSATIONS }, (_, index) =>
    runLane(daemon, place.workspace, { lane: laneOf(index), offsetMs: index * LANE_OFFSET_MS, isOver }, talk),
  );
  await new Promise((resolve) => setTimeout(resolve, place.seconds * WARM_SHARE * 1000));
  talk.sweep = { beganMs: performance.now(), endMs: Number.POSITIVE_INFINITY };
  const warmMib = await daemon.heldMib();
  talk.sweep = { ...talk.sweep, endMs: performance.now() };
  await Promise.all(lanes);
  await faults?.settle();
  const silent = await whoIsSilent(daemon, place);
  await watch.end();
  return { talk, seen: watch.seen, faults: faults?.done, silent, memory: { warmMib, endMib: await daemon.heldMib() } };
}

async function run(place: Place, withFaults: boolean): Promise<Run> {
  const daemon = await startSoakDaemon(place.home);
  try {
    if (!withFaults) await install(daemon);
    const { sandbox } = await daemon.daemon.status({});
    console.log(`\n${withFaults ? "with a fault each second" : "without faults"}; walls: ${sandbox?.level}`);
    const missing = await whoIsSilent(daemon, place);
    if (missing.length > 0) throw new Error(`plugins do not answer before anything was done: ${missing.join("; ")}`);
    const came = await converse(daemon, place, withFaults);
    const died = daemon.hasEnded();
    await daemon.stop();
    return { ...came, died, left: await whoStays(place.home) };
  } finally {
    await daemon.stop();
  }
}

function report(what: string, { talk, seen, memory, faults }: Run): void {
  const ms = (values: readonly number[]) =>
    [0.5, 0.99, 1].map((share) => percentile(values, share).toFixed(0)).join(" / ");
  console.log(`${what}:`);
  console.log(`  ${talk.plainMs.length} turns without plugins: p50 / p99 / worst ${ms(talk.plainMs)} ms`);
  console.log(`  ${talk.pluginMs.length} turns with one: ${ms(talk.pluginMs)} ms; ${talk.failedCalls} calls failed`);
  if (talk.firstFailedCall !== "") console.log(`  the first that failed: ${talk.firstFailedCall.slice(0, 300)}`);
  if (faults !== undefined) console.log(`  faults: ${JSON.stringify(faults)}`);
  console.log(`  status: ${seen.looks} times, slowest answer ${seen.slowestAnswerMs.toFixed(0)} ms`);
  const used = `${memory.warmMib.toFixed(1)} MiB in use when warm, ${memory.endMib.toFixed(1)} at the end`;
  console.log(`  daemon: ${used} (may grow by ${GROWTH_LIMIT_MIB}); resident at most ${seen.daemonMib.toFixed(0)} MiB`);
  console.log(`  plugins: resident at most ${seen.pluginsMib.toFixed(0)} MiB together`);
}

function judgeRun(what: string, { talk, seen, memory, silent, left, died }: Run): readonly string[] {
  const wrong = [
    [died !== undefined, `the daemon did not last: ${died}`],
    [
      talk.plainFailures.length > 0,
      `${talk.plainFailures.length} turns without plugins failed: ${talk.plainFailures[0]}`,
    ],
    [talk.brokenTurns.length > 0, `${talk.brokenTurns.length} turns with plugins broke: ${talk.brokenTurns[0]}`],
    [seen.unanswered > 0, `${seen.unanswered} of ${seen.looks} questions for the status had no answer in time`],
    [seen.orphans.size > 0, `processes were left behind: ${JSON.stringify([...seen.orphans])}`],
    [left.length > 0, `processes outlived the daemon: ${left.join(", ")}`],
    [silent.length > 0, `plugins did not come back: ${silent.join("; ")}`],
    [memory.endMib - memory.warmMib > GROWTH_LIMIT_MIB, "the daemon's memory grows"],
    [seen.daemonMib > DAEMON_LIMIT_MIB, `the daemon held ${seen.daemonMib.toFixed(0)} MiB`],
  ] as const;
  return wrong.flatMap(([isWrong, why]) => (isWrong ? [`${what}: ${why}`] : []));
}

function judge(calm: Run, rough: Run, seconds: number): readonly string[] {
  const wrong = [...judgeRun("without faults", calm), ...judgeRun("with faults", rough)];
  if (calm.talk.failedCalls > 0) wrong.push(`without faults: ${calm.talk.failedCalls} calls of plugins failed`);
  const slower = percentile(rough.talk.plainMs, 0.99) / percentile(calm.talk.plainMs, 0.99);
  const turns = Math.min(rough.talk.plainMs.length, calm.talk.plainMs.length);
  const rule = turns < JUDGED_TURNS ? `not judged: fewer than ${JUDGED_TURNS} turns` : `may be ${SLOWER_LIMIT}`;
  console.log(`p99 of a turn without plugins: ${slower.toFixed(2)} × the run without faults (${rule})`);
  if (turns >= JUDGED_TURNS && !(slower <= SLOWER_LIMIT)) {
    wrong.push("faults of plugins slow conversations down that use none");
  }
  const faults = Object.values(rough.faults ?? {}).reduce((sum, count) => sum + count, 0);
  if (faults < seconds * FAULTS_LEAST_SHARE) wrong.push(`only ${faults} faults in ${seconds} s`);
  return wrong;
}

async function main(): Promise<void> {
  const seconds = Number(process.env.CLAWD_PLUGIN_SOAK_SECONDS ?? SECONDS);
  const root = temporaryFolder();
  const place: Place = { home: join(root, "home"), workspace: join(root, "work"), seconds };
  mkdirSync(place.home, { mode: 0o700 });
  mkdirSync(place.workspace);
  writeFileSync(join(place.home, "config.toml"), CONFIG);
  writeFileSync(join(place.workspace, "notes.md"), `${NOTES}\n`);
  console.log(`${PLUGINS} plugins (${pluginKind()}), ${CONVERSATIONS} conversations, twice ${seconds} s`);
  try {
    const calm = await run(place, false);
    report("without faults", calm);
    const rough = await run(place, true);
    report("with faults", rough);
    const wrong = judge(calm, rough, seconds);
    console.log(wrong.length === 0 ? "sound" : `not sound: ${wrong.join("\n  ")}`);
    process.exitCode = wrong.length === 0 ? 0 : 1;
  } finally {
    removeFolder(root);
  }
}

await main();
