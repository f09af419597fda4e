import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import { type HookContext, type HookEvent, type HookOutcome, NO_HOOKS } from "../../core/domain/hook.ts";
import { mergeHooks } from "../../core/domain/hook-chain.ts";
import {
  bareLauncher,
  bundleFixture,
  closeLab,
  type Lab,
  manifestOf,
  NOTHING_LEFT,
  openLab,
  processesWith,
  shortPauses,
} from "../fixtures/plugin-lab.ts";

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("hooking.ts");
});
beforeEach(async () => {
  lab = await openLab({ random: shortPauses });
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const AT = "custom.test";

async function install(name: string, hook: JsonObject = {}, args: readonly string[] = []): Promise<void> {
  const folder = lab.author(
    manifestOf(name, {
      launch: { command: ["node", "main.mjs", lab.dir, ...(args.length === 0 ? [name] : args)] },
      tools: [],
      hooks: [{ at: AT, timeoutMs: 5_000, ...hook }],
    }),
    { "main.mjs": program },
  );
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
}

const context = (change: Partial<HookContext> = {}): HookContext => ({
  signal: new AbortController().signal,
  ...quietDesk(async () => ok(undefined)),
  ...change,
});

/** Fires an event in which plugins read what they are to do. */
function fire(
  say: string,
  value: JsonObject = {},
  change: Partial<HookEvent & HookContext> = {},
): Promise<HookOutcome> {
  const { signal, ...event } = change;
  const facts = { at: AT, sessionId: "s1", turnId: "t1", callId: "c1", workspace: lab.dir } as const;
  return mergeHooks([lab.host.hooks]).run(
    { ...facts, value: { say, text: "", ...value }, ...event },
    context(signal === undefined ? {} : { signal }),
  );
}

const because = ({ receipts }: HookOutcome) => receipts.map((receipt) => receipt.because);
const pidOf = (name: string) => lab.host.admin.list().find((row) => row.name === name)?.pid;

describe("what a plugin answers", () => {
  test("a point that no plugin listens at starts nothing, and nor does asking whether one does", async () => {
    await install("a");
    const hooks = mergeHooks([lab.host.hooks]);
    expect(await hooks.hears("tool.before")).toBe(false);
    expect(await hooks.hears(AT)).toBe(true);
    expect(await fire("block", {}, { at: "tool.before" })).toBe(NO_HOOKS);
    expect(processesWith(lab.dir)).toEqual([]);
  });

  test.each(["stream", "unary"])("every form of answer is understood, by %s", async (transport) => {
    await install("a", {}, ["a", transport]);
    const answers = [];
    for (const say of ["nothing", "pass", "modify", "last", "block", "answer", "skip"]) {
      answers.push((await fire(say, { text: "t" })).answer);
    }
    expect(answers).toEqual([
      { do: "pass" },
      { do: "pass" },
      { do: "modify", value: { say: "modify", text: "ta" } },
      { do: "modify", value: { say: "last", text: "ta" } },
      { do: "block", because: "not with a\\u{202e}" },
      { do: "answer", result: 42 },
      { do: "skip" },
    ]);
  });

  test("it hears the event with its own id for the host's services, its limit and which hook is meant", async () => {
    await install("a");
    const { answer } = await fire("facts");
    expect(JSON.parse(answer.do === "block" ? answer.because : "")).toMatchObject({
      ...{ at: AT, sessionId: "s1", workspace: lab.dir, timeLimitMs: 5_000, hook: 0 },
      callId: expect.stringMatching(/^hook-[0-9a-z]+-1$/),
    });
  });

  test.each([
    ["half", 'gave a modify without "say"'],
    ["lie", "answered with a pass that is false"],
    ["void", "gave an answer that is no JSON"],
    ["fail", "failed: no idea"],
    ["oversize", "needed a message of more than 4 MiB"],
  ])("nonsense is its failure, never a silent pass: %s", async (say, message) => {
    await install("a", { onError: "deny" });
    const outcome = await fire(say);
    expect(outcome.answer).toMatchObject({ do: "block", because: expect.stringContaining(message) });
    expect(because(outcome)[0]).toContain('hook "plugin:a"');
    expect((await fire("pass")).answer).toEqual({ do: "pass" });
  });

  test("an answer that the point does not take is its failure", async () => {
    await install("a", { at: "step.before", onError: "deny" });
    const outcome = await fire("answer", {}, { at: "step.before" });
    expect(because(outcome)[0]).toContain("answered answer, which step.before does not take");
  });

  test("calls of other tools are not told to it", async () => {
    await install("a", { at: "tool.after", tools: ["read"] });
    const of = (tool: string) => fire("block", { tool }, { at: "tool.after" });
    expect((await of("write")).receipts).toEqual([
      { hook: "plugin:a", verdict: "pass", because: "", ms: 0, ran: false },
    ]);
    expect(processesWith(lab.dir)).toEqual([]);
    expect((await of("read")).answer.do).toBe("block");
  });
});

describe("a chain of plugins", () => {
  test("runs by priority, then by name; each sees what the one before made, and a decision ends it", async () => {
    await install("c", { priority: 100 });
    await install("b");
    await install("a");
    await install("d", { priority: 900 });
    expect((await fire("add")).answer).toMatchObject({ value: { text: "cabd" } });
    const decided = await fire("last");
    expect(decided.answer).toMatchObject({ value: { text: "c" } });
    expect(decided.receipts.map(({ hook, ran }) => [hook, ran])).toEqual([
      ["plugin:c", true],
      ["plugin:a", false],
      ["plugin:b", false],
      ["plugin:d", false],
    ]);
  });

  test("goes on after a plugin that fails where failing is allowed", async () => {
    await install("a", { priority: 1 }, ["deaf"]);
    await install("b");
    const outcome = await fire("add");
    expect(outcome.answer).toMatchObject({ value: { text: "b" } });
    expect(because(outcome)[0]).toContain("does not serve hooks, although its manifest declares one");
  });

  test("at context.build every plugin adds its part, whatever the others say", async () => {
    await install("a", { at: "context.build" });
    await install("b", { at: "context.build" });
    const { answer } = await fire("last", {}, { at: "context.build" });
    expect(answer).toMatchObject({ value: { text: "ab" } });
  });
});

describe("a plugin that fails", () => {
  test.each([
    ["tool.before", {}, "block"],
    ["tool.before", { onError: "allow" }, "pass"],
    ["tool.before", { onError: "ask" }, "ask"],
    [AT, {}, "pass"],
    [AT, { onError: "deny" }, "block"],
  ] as const)("answers by its onError: at %s with %j it is a %s", async (at, hook, verdict) => {
    await install("a", { at, ...hook });
    const outcome = await fire("crash", {}, { at });
    expect(outcome.answer.do).toBe(verdict);
    expect(because(outcome)[0]).toContain('hook "plugin:a" lost its process, which was killed by SIGKILL');
  });

  test("a crash takes all events of its process, and the next one finds a new process", async () => {
    await install("a");
    await install("b", { priority: 900 });
    await fire("pass");
    const before = { a: pidOf("a"), b: pidOf("b") };
    const waiting = fire("hang");
    const crashed = await fire("crash");
    for (const text of because(crashed)) expect(text).toContain("lost its process, which was killed by SIGKILL");
    expect(because(await waiting)[0]).toContain("lost its process");
    expect((await fire("add")).answer).toMatchObject({ value: { text: "ab" } });
    for (const name of ["a", "b"] as const) expect(pidOf(name)).not.toBe(before[name]);
  });

  test("a late answer is dropped, and the next event gets its own", async () => {
    await install("a", { timeoutMs: 300 });
    await fire("pass");
    const late = await fire("late");
    expect(late.answer).toEqual({ do: "pass" });
    expect(because(late)).toEqual(['hook "plugin:a" gave no answer within 300 ms']);
    for (let more = 0; more < 3; more++) expect((await fire("answer")).answer).toEqual({ do: "answer", result: 42 });
    const log = lab.host.admin.log("a");
    expect(log.ok && log.value).toContain('host: hook "plugin:a" gave no answer within 300 ms');
  });

  test("one that hangs holds up no other event", async () => {
    await install("a", { timeoutMs: 60_000 });
    const interrupt = new AbortController();
    const hanging = fire("hang", {}, { signal: interrupt.signal });
    expect((await fire("answer")).answer).toEqual({ do: "answer", result: 42 });
    interrupt.abort();
    expect(because(await hanging)).toEqual(['hook "plugin:a" was interrupted']);
  });

  test("one that answers pings and no event is killed like one that is hung", async () => {
    await install("a", { timeoutMs: 200 });
    await fire("pass");
    const before = pidOf("a");
    for (let missed = 0; missed < 4; missed++) await fire("hang");
    expect((await fire("answer")).answer).toEqual({ do: "answer", result: 42 });
    expect(pidOf("a")).toBe(before);
    for (let missed = 0; missed < 5; missed++) await fire("hang");
    const answer = async () => (await fire("answer")).answer;
    await expect.poll(answer, { timeout: 10_000 }).toEqual({ do: "answer", result: 42 });
    expect(pidOf("a")).not.toBe(before);
    const log = lab.host.admin.log("a");
    expect(log.ok && log.value).toContain("host: killed: no answer to 5 hook events in a row");
  }, 20_000);

  test("one that stands still for good is killed, and the next event finds a new process", async () => {
    await install("a", { timeoutMs: 1_000 });
    await fire("pass");
    const before = pidOf("a");
    expect(because(await fire("freeze"))).toEqual(['hook "plugin:a" gave no answer within 1000 ms']);
    const answer = async () => (await fire("answer")).answer;
    await expect.poll(answer, { timeout: 10_000 }).toEqual({ do: "answer", result: 42 });
    expect(pidOf("a")).not.toBe(before);
  }, 20_000);

  test("one that cannot start blocks what it guards and says why", async () => {
    await install("a", { at: "tool.before" }, ["a"]);
    appendFileSync(join(lab.options.pluginsDir, "a", "main.mjs"), "\n// changed\n");
    const outcome = await fire("pass", {}, { at: "tool.before" });
    expect(outcome.answer).toMatchObject({
      do: "block",
      because: expect.stringContaining(
        'could not be asked: the files of plugin "a" are not the ones that were granted',
      ),
    });
  });
});

describe("a plugin that may not run", () => {
  test("hears nothing when it is turned off, and again when it is turned on", async () => {
    await install("a");
    await lab.host.admin.enable("a", false);
    expect(await fire("block")).toBe(NO_HOOKS);
    await lab.host.admin.enable("a", true);
    expect((await fire("block")).answer.do).toBe("block");
  });

  test("guards by failing when its manifest is no longer the one that was granted", async () => {
    await install("a", { at: "tool.before" });
    appendFileSync(join(lab.options.pluginsDir, "a", "plugin.json"), "\n");
    await lab.reopen();
    const outcome = await fire("pass", {}, { at: "tool.before" });
    expect(outcome.answer.do).toBe("block");
    expect(because(outcome)[0]).toContain('plugin "a" 1.0.0 is not what was granted');
    expect(await mergeHooks([lab.host.hooks]).hears(AT)).toBe(false);
  });

  test("guards by failing when its manifest cannot be read, and one that guarded nothing does not", async () => {
    await install("a", { at: "tool.before" });
    await install("b");
    for (const name of ["a", "b"]) writeFileSync(join(lab.options.pluginsDir, name, "plugin.json"), "{");
    await lab.reopen();
    const outcome = await fire("pass", {}, { at: "tool.before" });
    expect(outcome.receipts.map(({ hook, verdict }) => [hook, verdict])).toEqual([["plugin:a", "block"]]);
    expect(because(outcome)[0]).toContain("plugin.json");
    await lab.host.admin.enable("a", false);
    expect(await fire("pass", {}, { at: "tool.before" })).toBe(NO_HOOKS);
  });

  test("guards by failing where there is no sandbox and it is not trusted", async () => {
    await install("a", { at: "tool.before" });
    await lab.host.admin.revoke("a", [], true);
    await lab.reopen({ launcher: bareLauncher });
    const outcome = await fire("pass", {}, { at: "tool.before" });
    expect(because(outcome)[0]).toContain("may not run without an operating-system sandbox");
    expect(outcome.answer.do).toBe("block");
  });
});

/** A hook that asks a person and calls a tool, and once more in the name of the event before. */
const ASKER = `
import { servePlugin } from "clawd/plugin";
let before;
const run = async (_event, { host }) => {
  if (before !== undefined) return { answer: await before.ask("still there?").catch((error) => error.message) };
  before = host;
  const { yes } = await host.ask("May I?");
  const { text } = await host.callTool("read", { path: "x" });
  return { answer: { yes, text } };
};
await servePlugin({ name: "asker", version: "1.0.0", hooks: [{ at: "custom.test", run }] });
`;

test("during an event a plugin may ask a person, whose time does not count, and call tools; afterwards it may not", async () => {
  const manifest = manifestOf("asker", {
    launch: { command: ["node", "main.ts"] },
    tools: [],
    hooks: [{ at: AT, timeoutMs: 500 }],
    permissions: [{ permission: "tool=read" }],
  });
  expect(await lab.host.admin.install(lab.author(manifest, { "main.ts": ASKER }), true)).toMatchObject({ ok: true });
  const heard: string[] = [];
  const talk = context({
    // Thinks for longer than the hook may take.
    confirm: async (principal, question) => {
      heard.push(`${principal}: ${question}`);
      await new Promise((resolve) => setTimeout(resolve, 700));
      return { said: "yes", scope: "once" };
    },
    callTool: async (principal, tool, args) => ok(`${principal} called ${tool} ${JSON.stringify(args)}`),
  });
  const event = { at: AT, sessionId: "s1", turnId: "t1", callId: "c1", workspace: lab.dir, value: {} } as const;
  const hooks = mergeHooks([lab.host.hooks]);
  expect((await hooks.run(event, talk)).answer).toEqual({
    do: "answer",
    result: { yes: true, text: 'plugin:asker called read {"path":"x"}' },
  });
  expect((await hooks.run(event, talk)).answer).toMatchObject({ result: expect.stringContaining("it is over") });
  expect(heard).toEqual(["plugin:asker: May I?"]);
});

test("a hundred events are asked about at once, and answered after a restart of the daemon as before", async () => {
  await install("a");
  const gatherAll = () => Promise.all(Array.from({ length: 100 }, () => fire("gather", { of: 100 })));
  const outcomes = await gatherAll();
  expect(outcomes.map(({ answer }) => answer.do)).toEqual(Array(100).fill("pass"));
  expect(outcomes.flatMap(because)).toEqual(Array(100).fill(""));
  await lab.reopen({ random: shortPauses });
  expect((await gatherAll()).flatMap(because)).toEqual(Array(100).fill(""));
});

test("more events than may wait are not asked", async () => {
  await install("a", { timeoutMs: 60_000 });
  const interrupt = new AbortController();
  const waiting = Array.from({ length: 256 }, () => fire("hang", {}, { signal: interrupt.signal }));
  expect(because(await fire("pass"))).toEqual([
    'hook "plugin:a" was not asked: 256 events wait for its answer already',
  ]);
  interrupt.abort();
  await Promise.all(waiting);
  expect((await fire("block")).answer.do).toBe("block");
});
