// Hook calls without end, some of them hostile: `npm run soak`. It drives the hooks' room itself, with real hosts behind the
// real walls, and not through a daemon: a turn costs ten times a hook, and none of what grows here would grow there.
// CLAWD_SOAK_CALLS (1,000,000) hook calls, CLAWD_SOAK_HOSTILE (1,000) of them hostile. Exit code 1 when anything is wrong.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HookEvent, HookPoint, HookReceipt } from "../core/domain/hook.ts";
import { conversation, openSandboxRoom, type SandboxRoom } from "../sandbox/fixtures/sandbox-room.ts";
import { childrenOf } from "../sandbox/os/process-tree.ts";

const CALLS = 1_000_000;
const HOSTILE_CALLS = 1_000;
/** Conversations that go on side by side. */
const LANES = 8;
/** A conversation ends after so many events and another begins in its lane. */
const EVENTS_PER_SESSION = 500;
/** Hook calls of one peaceful event: the hook of another package, and the neighbour of the hostile one. */
const CALLS_PER_EVENT = 2;
const SAMPLE_MS = 250;
const PROGRESS_MS = 5_000;
/** From here on the broker is warm: share of all calls. */
const WARM_SHARE = 0.2;
/** So much more may the broker have in use at the end than when it was warm, MiB, both times without its garbage. */
const GROWTH_LIMIT_MIB = 8;
/** What the broker may have of the machine at any moment, MiB: its heap is swept when it pleases the engine. */
const BROKER_LIMIT_MIB = 512;
/** What all hosts together may hold at any moment, MiB: four groups and a spare, each killed at 800. */
const HOSTS_LIMIT_MIB = 5 * 800;
const GONE_LIMIT_MS = 10_000;
const KIB_PER_MIB = 1024;
const BYTES_PER_MIB = 1024 ** 2;
setFlagsFromString("--expose-gc");
const sweep = runInNewContext("gc") as () => void;

const HEADER = (at: HookPoint) => `/** @hook at=${at} on-error=deny timeout=10s */\n`;
const PEACEFUL = `${HEADER("tool.before")}
let heard = 0;
export default (event) => { heard += 1; return { modify: { ...event.value, args: { ...event.value.args, heard } } }; };
`;
const NEIGHBOUR = `${HEADER("tool.before")}export default async () => { await null; };\n`;
/** What a hostile call does, in turn. */
const HOSTILE: Readonly<Record<string, string>> = {
  loop: "for (;;);",
  wedge: "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);",
  memory: "const m = new Map(); for (let i = 0; ; i += 1) { m.set(i, {}); if (i % 1e4 === 0) await null; }",
  abort: "Array.from({ length: 2 ** 32 - 1 });",
  flood: "for (let i = 0; i < 1e5; i += 1) Deno.readTextFile('x').catch(() => {}); await new Promise(() => {});",
  lines: "for (let i = 0; i < 1500; i += 1) console.log('noise ' + i); throw new Error('enough');",
  garbage: "let a = []; for (let i = 0; i < 500; i += 1) a = [a]; return { answer: a };",
  proxy: "throw new Proxy({}, { get() { for (;;); } });",
};
const KINDS = Object.keys(HOSTILE);

function hostileHook(): string {
  const cases = Object.entries(HOSTILE).map(([kind, body]) => `${kind}: async () => { ${body} }`);
  return `${HEADER("tool.after")}const kinds = { ${cases.join(",\n")} };
export default (event) => kinds[event.value.tool]();
`;
}

type Wanted = { readonly calls: number; readonly hostile: number };

type Tally = {
  calls: number;
  hostile: number;
  receipts: number;
  /** Events of which a hook that listens has no receipt of having run. */
  skipped: number;
  /** Calls of the other package that did not get the answer they were to get. */
  harmed: number;
  /** Calls of the hostile one's neighbour that its package's process took along. */
  tornAlong: number;
  /** Hostile calls that were not answered by a block. */
  unpunished: number;
  wrong: string;
};

const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, "latin1");

function rssMib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(statusOf(pid))?.[1] ?? 0) / KIB_PER_MIB;
  } catch {
    return 0; // It ended while we looked.
  }
}

/** Everybody below this process. */
function treeBelow(): readonly number[] {
  const found: number[] = [];
  for (const queue = [process.pid]; queue.length > 0; ) {
    const children = childrenOf(queue.pop() ?? 0);
    found.push(...children);
    queue.push(...children);
  }
  return found;
}

type Part = "host" | "wall" | "other";

/** The walls of a host have its command line in theirs; all else below this process is there for longer than hosts are. */
function partOf(pid: number): Part {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
    if (!words.includes("--jitless")) return "other";
    return words[0]?.endsWith("bwrap") ? "wall" : "host";
  } catch {
    return "other";
  }
}

function eventAt(at: HookPoint, sessionId: string, tool: string): HookEvent {
  return { at, sessionId, turnId: "t", callId: "c", workspace: "/w", value: { tool, args: { path: "notes.md" } } };
}

function remember(tally: Tally, receipts: readonly HookReceipt[]): void {
  if (tally.wrong === "") tally.wrong = JSON.stringify(receipts).slice(0, 500);
}

async function peacefulEvent({ hooks }: SandboxRoom, session: string, tally: Tally): Promise<void> {
  const { receipts } = await hooks.hooks.run(eventAt("tool.before", session, "read"), conversation());
  tally.calls += CALLS_PER_EVENT;
  tally.receipts += receipts.length;
  const own = receipts.find(({ hook }) => hook === "peaceful");
  const neighbour = receipts.find(({ hook }) => hook === "pair/neighbour");
  const isWhole = own?.ran === true && neighbour?.ran === true;
  if (!isWhole) tally.skipped += 1;
  if (own?.verdict !== "modify") tally.harmed += 1;
  if (neighbour?.verdict !== "pass") tally.tornAlong += 1;
  if (!isWhole || own?.verdict !== "modify") remember(tally, receipts);
}

async function hostileEvent({ hooks }: SandboxRoom, session: string, kind: string, tally: Tally): Promise<void> {
  const { receipts } = await hooks.hooks.run(eventAt("tool.after", session, kind), conversation());
  tally.calls += 1;
  tally.receipts += receipts.length;
  if (receipts[0]?.ran !== true) tally.skipped += 1;
  if (receipts[0]?.verdict === "block") return;
  tally.unpunished += 1;
  remember(tally, receipts);
}

/** One conversation behind the other, until all calls are made. */
async function runLane(room: SandboxRoom, lane: number, { calls, hostile }: Wanted, tally: Tally): Promise<void> {
  for (let session = 1; tally.calls < calls; session += 1) {
    const id = `lane-${lane}-${session}`;
    for (let event = 0; event < EVENTS_PER_SESSION && tally.calls < calls; event += 1) {
      // Spread evenly over all calls, whichever lane is at it then.
      if (tally.hostile < hostile && tally.calls >= (tally.hostile * calls) / hostile) {
        const kind = KINDS[tally.hostile % KINDS.length] ?? "";
        tally.hostile += 1;
        await hostileEvent(room, id, kind, tally);
      } else await peacefulEvent(room, id, tally);
    }
    await room.hooks.hooks.run(eventAt("session.closed", id, ""), conversation());
  }
}

/** What is in use after all garbage was swept away, MiB. */
function heldMib(): number {
  sweep();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / BYTES_PER_MIB;
}

/** Looks at memory and at who lives, again and again. */
function openWatch(tally: Tally, wanted: Wanted) {
  const startedMs = performance.now();
  const seen = new Set<number>();
  const most = { brokerMib: 0, hostsMib: 0 };
  let hosts = 0;
  let warmMib: number | undefined;
  let last = { ms: startedMs, calls: 0 };

  function report(nowMs: number, brokerMib: number, hostsMib: number): void {
    const perSecond = ((tally.calls - last.calls) * 1000) / (nowMs - last.ms);
    last = { ms: nowMs, calls: tally.calls };
    const done = `${tally.calls} calls, ${perSecond.toFixed(0)}/s, ${tally.hostile} hostile`;
    const memory = `broker ${brokerMib.toFixed(0)} MiB, hosts ${hostsMib.toFixed(0)} MiB`;
    console.log(`${((nowMs - startedMs) / 1000).toFixed(0)} s: ${done}, ${memory}, ${hosts} hosts so far`);
  }

  function look(): void {
    const tree = treeBelow()
      .map((pid) => ({ pid, part: partOf(pid) }))
      .filter(({ part }) => part !== "other");
    for (const { pid, part } of tree) {
      if (part === "host" && !seen.has(pid)) hosts += 1;
      seen.add(pid);
    }
    const hostsMib = tree.reduce((sum, { pid }) => sum + rssMib(pid), 0);
    const brokerMib = rssMib(process.pid);
    most.hostsMib = Math.max(most.hostsMib, hostsMib);
    most.brokerMib = Math.max(most.brokerMib, brokerMib);
    if (tally.calls >= wanted.calls * WARM_SHARE) warmMib ??= heldMib();
    const nowMs = performance.now();
    if (nowMs - last.ms >= PROGRESS_MS) report(nowMs, brokerMib, hostsMib);
  }

  const timer = setInterval(look, SAMPLE_MS);
  return {
    end() {
      look();
      clearInterval(timer);
      const seconds = (performance.now() - startedMs) / 1000;
      const rate = (tally.calls / seconds).toFixed(0);
      console.log(`${tally.calls} calls in ${seconds.toFixed(1)} s, ${rate}/s; ${hosts} hosts`);
      const endMib = heldMib();
      return { ...most, warmMib: warmMib ?? endMib, endMib };
    },
    /** Who of them lives still, when those that were killed had time to go. */
    async whoStays(): Promise<readonly number[]> {
      const untilMs = performance.now() + GONE_LIMIT_MS;
      for (;;) {
        const left = [...seen].filter((pid) => partOf(pid) !== "other");
        if (left.length === 0 || performance.now() > untilMs) return left;
        await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
      }
    },
  };
}

type Memory = ReturnType<ReturnType<typeof openWatch>["end"]>;

function judge(tally: Tally, { warmMib, endMib, brokerMib, hostsMib }: Memory, wanted: Wanted): string[] {
  const used = `${warmMib.toFixed(1)} MiB in use when warm, ${endMib.toFixed(1)} at the end (may grow by ${GROWTH_LIMIT_MIB})`;
  console.log(`broker: ${used}; resident at most ${brokerMib.toFixed(0)} MiB (may be ${BROKER_LIMIT_MIB})`);
  console.log(`hosts: at most ${hostsMib.toFixed(0)} MiB together (may be ${HOSTS_LIMIT_MIB})`);
  console.log(`${tally.receipts} receipts; ${tally.tornAlong} neighbours went down with the hostile hook's process`);
  const wrong = [
    [tally.calls < wanted.calls, `only ${tally.calls} calls were made`],
    [tally.hostile !== wanted.hostile, `${tally.hostile} hostile calls were made`],
    [tally.receipts !== tally.calls, `${tally.calls} calls left ${tally.receipts} receipts`],
    [tally.skipped > 0, `${tally.skipped} events passed over a hook that was to hear them`],
    [tally.harmed > 0, `${tally.harmed} calls of another package were harmed`],
    [tally.unpunished > 0, `${tally.unpunished} hostile calls did not end as failures`],
    [endMib - warmMib > GROWTH_LIMIT_MIB, "the broker's memory grows"],
    [brokerMib > BROKER_LIMIT_MIB, "the broker holds too much memory"],
    [hostsMib > HOSTS_LIMIT_MIB, "the hosts hold too much memory"],
  ] as const;
  return wrong.flatMap(([isWrong, what]) => (isWrong ? [what] : []));
}

/** The hooks' room with the three hooks in it, and a breaker that never trips. */
async function openRoom(): Promise<SandboxRoom> {
  const breaker = { killsAllowed: Number.MAX_SAFE_INTEGER, killWindowMs: 1 };
  const room = await openSandboxRoom({ wanted: "auto", hooks: { breaker, log: () => {} } });
  await room.write("hooks/peaceful.ts", PEACEFUL);
  await room.write("hooks/pair/neighbour.ts", NEIGHBOUR);
  await room.write("hooks/pair/hostile.ts", hostileHook());
  return room;
}

async function main(): Promise<void> {
  const wanted: Wanted = {
    calls: Number(process.env.CLAWD_SOAK_CALLS ?? CALLS),
    hostile: Number(process.env.CLAWD_SOAK_HOSTILE ?? HOSTILE_CALLS),
  };
  const room = await openRoom();
  const what = `${wanted.calls} hook calls, ${wanted.hostile} of them hostile, in ${LANES} conversations`;
  console.log(`${what}; walls: ${room.launcher.level}`);
  const tally: Tally = {
    calls: 0,
    hostile: 0,
    receipts: 0,
    skipped: 0,
    harmed: 0,
    tornAlong: 0,
    unpunished: 0,
    wrong: "",
  };
  const watch = openWatch(tally, wanted);
  const lanes = Array.from({ length: LANES }, (_, lane) => runLane(room, lane, wanted, tally));
  await Promise.all(lanes);
  const wrong = judge(tally, watch.end(), wanted);
  await room.close();
  const left = await watch.whoStays();
  if (left.length > 0) wrong.push(`processes are left: ${left.join(", ")}`);
  if (tally.wrong !== "") console.log(`the first that was wrong: ${tally.wrong}`);
  console.log(wrong.length === 0 ? "sound" : `not sound: ${wrong.join("; ")}`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

await main();
