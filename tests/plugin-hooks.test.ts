import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleFixture, manifestOf } from "../plugin-host/fixtures/plugin-lab.ts";
import { type Event, HookVerdict, TurnOutcome } from "../proto/gen/clawd/v1/event_pb.ts";
import { type Bench, dial, eventually, openBench, processesWith } from "./kit/claw.ts";

/*
 * Hooks of scripts and of plugins as one chain, through the daemon: real isolates, real plugin processes, the bins.
 */

const script = (letter: string, header: string) => `/** @hook at=message.received,tool.before timeout=10s ${header} */
export default async ({ value }) =>
  value.text?.startsWith("add") ? { modify: { ...value, text: value.text + "${letter}" } } : undefined;
`;

let bench: Bench;
let authors: string;

beforeAll(async () => {
  bench = await openBench();
  authors = await mkdtemp(join(tmpdir(), "clawd-authors-"));
  await mkdir(join(bench.home, "hooks"), { recursive: true });
  await writeFile(join(bench.home, "hooks/one.ts"), script("1", "priority=100"));
  await writeFile(join(bench.home, "hooks/two.ts"), script("2", "priority=300"));
  await writeFile(join(bench.workspace, "notes.md"), "the engine weaves patterns\n");
  const program = await bundleFixture("hooking.ts");
  for (const [name, priority] of Object.entries({ p: 200, q: 400 })) {
    const folder = join(authors, name);
    await mkdir(folder);
    const hooks = ["message.received", "tool.before"].map((at) => ({ at, priority, timeoutMs: 10_000 }));
    const launch = { command: ["node", "main.mjs", bench.home, name] };
    await writeFile(join(folder, "plugin.json"), JSON.stringify(manifestOf(name, { launch, tools: [], hooks })));
    await writeFile(join(folder, "main.mjs"), program);
    expect(await bench.claw("plugin", "install", folder, "--yes")).toMatchObject({ code: 0 });
    // Where there is no sandbox, it would not run otherwise.
    await bench.claw("plugin", "grant", name, "--trust");
  }
});

afterAll(async () => {
  await bench.close();
  await rm(authors, { recursive: true });
  await eventually(
    () => processesWith(bench.home),
    (left) => left.length === 0,
    "the end of every process",
  );
});

/** Says something in a session of its own; gives back its events. */
async function converse(text: string): Promise<readonly Event[]> {
  const { sessions } = dial(bench.home);
  const { sessionId } = await sessions.openSession({ workspace: bench.workspace });
  const events: Event[] = [];
  for await (const { news } of sessions.subscribe({ sessionId, follow: true })) {
    if (news.case === "caughtUp") await sessions.say({ sessionId, text });
    if (news.case !== "event") continue;
    events.push(news.value);
    if (news.value.body.case === "turnEnded") break;
  }
  return events;
}

function receiptsAt(events: readonly Event[], point: string) {
  return events.flatMap(({ body }) => (body.case === "hookRan" && body.value.point === point ? [body.value] : []));
}

function saidIn(events: readonly Event[]): string {
  return events.flatMap(({ body }) => (body.case === "userSpoke" ? [body.value.text] : [])).join();
}

function outcomeOf(events: readonly Event[]): TurnOutcome | undefined {
  const last = events.at(-1)?.body;
  return last?.case === "turnEnded" ? last.value.outcome : undefined;
}

const IN_ORDER = ["one", "plugin:p", "two", "plugin:q"];

test("scripts and plugins are one chain by priority, also after the daemon was killed", async () => {
  const first = await converse("add ");
  expect(saidIn(first)).toBe("add 1p2q");
  expect(receiptsAt(first, "message.received").map(({ hook, verdict }) => [hook, verdict])).toEqual(
    IN_ORDER.map((name) => [name, HookVerdict.MODIFY]),
  );
  process.kill(await bench.pid(), "SIGKILL");
  await bench.claw("up");
  expect(saidIn(await converse("add "))).toBe("add 1p2q");
});

test("a plugin that crashes in the middle of an event blocks what it guards, and the turn goes on", async () => {
  const crashed = await converse("read crash");
  expect(outcomeOf(crashed)).toBe(TurnOutcome.DONE);
  expect(receiptsAt(crashed, "tool.before").map(({ hook, verdict, ran }) => [hook, verdict, ran])).toEqual([
    ["one", HookVerdict.PASS, true],
    ["plugin:p", HookVerdict.BLOCK, true],
    ["two", HookVerdict.PASS, false],
    ["plugin:q", HookVerdict.PASS, false],
  ]);
  expect(receiptsAt(crashed, "tool.before")[1]?.because).toContain("lost its process");
  expect(crashed.some(({ body }) => body.case === "toolCallStarted")).toBe(false);
  const next = await eventually(
    () => converse("read notes.md"),
    (events) => receiptsAt(events, "tool.before").every(({ verdict }) => verdict === HookVerdict.PASS),
    "a call that all hooks pass",
  );
  expect(receiptsAt(next, "tool.before").map(({ hook, ran }) => [hook, ran])).toEqual(
    IN_ORDER.map((name) => [name, true]),
  );
});

test("a plugin's block of the person's words is told in its own words, and a skip ends the chain", async () => {
  const blocked = await bench.claw("say", "block it");
  expect(blocked).toMatchObject({ code: 3, stderr: expect.stringContaining("not with p") });
  const skipped = await bench.claw("say", "skip it");
  expect(skipped).toMatchObject({ code: 0, stdout: "" });
});

test("claw hook list shows the hooks of plugins in their places, and who switches them", async () => {
  const { stdout } = await bench.claw("hook", "list", "--json");
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(rows.map(({ name, points }) => [name, points])).toEqual([
    ["one", ["message.received", "tool.before"]],
    ["plugin:p", ["message.received"]],
    ["plugin:p", ["tool.before"]],
    ["two", ["message.received", "tool.before"]],
    ["plugin:q", ["message.received"]],
    ["plugin:q", ["tool.before"]],
  ]);
  const refused = await bench.claw("hook", "disable", "plugin:p");
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("claw plugin disable p");
  expect(await bench.claw("plugin", "disable", "p")).toMatchObject({ code: 0 });
  expect(saidIn(await converse("add "))).toBe("add 12q");
  const off = await bench.claw("hook", "list");
  expect(off.stdout).toContain('plugin "p" is turned off by a person');
  expect(await bench.claw("plugin", "enable", "p")).toMatchObject({ code: 0 });
  expect(saidIn(await converse("add "))).toBe("add 1p2q");
});
