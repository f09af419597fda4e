import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import { type Event, EventSchema } from "../proto/gen/clawd/v1/event_pb.ts";
import { type Bench, CLAWD, dial, eventually, openBench, processesWith, startDaemon } from "./kit/claw.ts";
import { timesOf } from "./kit/thoroughness.ts";

/** How many places of a turn the daemon is killed at. */
const KILL_POINTS = timesOf("places of a turn at which the daemon is killed", { whole: 200, share: 8 });

/** Daemons that are killed side by side: each waits for its disk and its children most of the time. */
const LANES = 4;
/** Events that were told when the daemon is killed: a turn has some forty. */
const FIRST_KILL = 2;
const LAST_KILL = 40;
/** From one kill to the next, in events: no divisor of their number, so that few kills lie far apart and many are everywhere. */
const STRIDE = 11;

const GUARD = `/** @hook at=tool.before */
export default async () => {};
`;
const benches: Bench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.close();
});

/** Words that the rehearsal provider turns into many rounds of many kinds. */
const WORK = "read notes.md then write out.txt: one then run echo two then list . then search engine then read out.txt";

async function benchWithNotes(): Promise<Bench> {
  const bench = await openBench();
  await writeFile(join(bench.workspace, "notes.md"), "The engine weaves.\n");
  return bench;
}

/** One that is closed after its test. */
async function crashBench(): Promise<Bench> {
  const bench = await benchWithNotes();
  benches.push(bench);
  return bench;
}

/** Follows a session and keeps every event that was told, until the turn ends, the daemon dies, or `stop` says so. */
async function follow(home: string, sessionId: string, told: Map<number, string>, stop: (told: number) => boolean) {
  const abort = new AbortController();
  try {
    const news = dial(home).sessions.subscribe({ sessionId, follow: true, attended: true }, { signal: abort.signal });
    for await (const { news: one } of news) {
      if (one.case !== "event") continue;
      remember(told, one.value);
      if (one.value.body.case === "turnEnded" || stop(told.size)) return one.value.body.case === "turnEnded";
    }
  } catch {
    // The daemon was killed: that is the point.
  } finally {
    abort.abort();
  }
  return false;
}

function remember(told: Map<number, string>, event: Event): void {
  const text = JSON.stringify(toJson(EventSchema, event));
  const before = told.get(event.seq);
  if (before !== undefined && before !== text) throw new Error(`event ${event.seq} was told twice and differently`);
  told.set(event.seq, text);
}

test.concurrent.each(Array.from({ length: LANES }, (_, lane) => lane))(
  `kill -9 of the daemon at one of ${LANES} shares (%i) of ${KILL_POINTS} points of a turn: nothing told is lost, the turn ends, nobody is left behind`,
  {
    timeout: 15_000 + KILL_POINTS * 6_000,
  },
  async (lane) => {
    const bench = await benchWithNotes();
    try {
      await startDaemon(bench.env);
      await writeFile(join(bench.home, "hooks", "watch.ts"), GUARD);
      const points = Array.from({ length: KILL_POINTS }, (_, point) => point).filter((point) => point % LANES === lane);
      for (const point of points) await killDuringTurn(bench, FIRST_KILL + ((point * STRIDE) % LAST_KILL));
      const files = (await readdir(join(bench.home, "sessions"))).filter((name) => name !== "memory.jsonl");
      expect(files).toHaveLength(points.length);
    } finally {
      await bench.close();
    }
  },
);

/** Kills the daemon once it told so many events of a turn, and asks the next one how the turn ended. */
async function killDuringTurn(bench: Bench, killAt: number): Promise<void> {
  const { sessions } = dial(bench.home);
  const { sessionId } = await sessions.openSession({ workspace: bench.workspace });
  const told = new Map<number, string>();
  const pid = await bench.pid();
  const watching = follow(bench.home, sessionId, told, (count) => {
    if (count >= killAt) process.kill(pid, "SIGKILL");
    return count >= killAt;
  });
  await sessions.say({ sessionId, text: WORK, yolo: true }).catch(() => undefined);
  const endedBefore = await watching;
  if (!endedBefore) {
    await eventually(
      () => processesWith(bench.home),
      (found) => found.length === 0,
      "an empty process table",
    );
    // Whoever asks starts the next daemon; it takes the turn up without being told.
    await bench.claw("up");
  }
  const after = new Map(told);
  expect(await follow(bench.home, sessionId, after, () => false)).toBe(true);
  const numbers = [...after.keys()].sort((a, b) => a - b);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(await bench.claw("audit", "verify", sessionId)).toMatchObject({ code: 0 });
}

test("kill -9 of the client loses nothing: attach goes on where it was", async () => {
  const bench = await crashBench();
  const child = bench.clawStarted("say", WORK, "--yolo", "--json");
  let printed = "";
  child.stdout?.on("data", (bytes) => {
    printed += bytes;
  });
  await eventually(
    () => printed,
    (text) => text.includes("toolCallStarted"),
    "the first call",
  );
  child.kill("SIGKILL");
  const lines = printed
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
  const seen = lines.filter((line) => typeof line.seq === "number");
  const [file = ""] = (await readdir(join(bench.home, "sessions"))).filter((name) => name !== "memory.jsonl");
  const id = file.replace(".jsonl", "");
  await eventually(
    () => readFile(join(bench.home, "sessions", file), "utf8"),
    (text) => text.includes('"turnEnded"'),
    "the turn's end without its client",
  );
  const last = seen.at(-1).seq;
  const attached = await bench.claw("attach", id, "--after", String(last), "--json");
  const rest = attached.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter((line) => typeof line.seq === "number");
  expect(rest[0].seq).toBe(last + 1);
  expect(rest.at(-1)).toHaveProperty("turnEnded");
});

test("a second daemon on the same data folder is refused with the pid of the first", async () => {
  const bench = await crashBench();
  const first = await startDaemon(bench.env);
  const second = await startSecond(bench.env);
  expect(second).toContain(String(first.pid));
});

async function startSecond(env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [CLAWD], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (bytes) => {
    said += bytes;
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(1);
  return said;
}

test("ten claws at once start exactly one daemon", { timeout: 60_000 }, async () => {
  const bench = await crashBench();
  const ran = await Promise.all(Array.from({ length: 10 }, () => bench.claw("status", "--json")));
  expect(ran.map(({ code }) => code)).toEqual(Array.from({ length: 10 }, () => 0));
  const pids = new Set(ran.map(({ stdout }) => JSON.parse(stdout).pid));
  expect(pids.size).toBe(1);
});

test("a session with a broken line in its middle says so, and the others work", async () => {
  const bench = await crashBench();
  expect(await bench.claw("say", "read notes.md")).toMatchObject({ code: 0 });
  await bench.claw("down");
  const folder = join(bench.home, "sessions");
  const [file = ""] = (await readdir(folder)).filter((name) => name !== "memory.jsonl");
  const lines = (await readFile(join(folder, file), "utf8")).split("\n");
  lines[2] = lines[2]?.slice(0, 20) ?? "";
  await writeFile(join(folder, file), lines.join("\n"));
  const id = file.replace(".jsonl", "");
  const attached = await bench.claw("attach", id);
  expect(attached.code).not.toBe(0);
  expect(attached.stderr).toMatch(/line 3/);
  expect(await bench.claw("say", "read notes.md")).toMatchObject({ code: 0 });
});
