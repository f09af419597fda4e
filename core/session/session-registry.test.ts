import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { ToolCallStatus, TurnOutcome } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { ScriptedReply } from "../../tests/kit/scripted-provider.ts";
import {
  cases,
  closeHouses,
  complaints,
  converse,
  echo,
  endings,
  eventsOf,
  type House,
  isEnd,
  listen,
  NOBODY,
  open,
  openHouse,
  PERSON,
  say,
  tool,
} from "../../tests/kit/session-house.ts";
import { type HookOutcome, type Hooks, NO_HOOKS } from "../domain/hook.ts";
import { type Chunk, NO_USAGE } from "../domain/provider.ts";
import type { ToolContext, ToolOutcome } from "../domain/tool.ts";

afterEach(closeHouses);

test("a message becomes a turn whose every event was durable before it was told", async () => {
  const house = await openHouse({ replies: [{ text: "hello" }] });
  const id = await open(house);
  const events = await converse(house, id);
  expect(cases(events)).toEqual(["sessionOpened", "userSpoke", "turnStarted", "blockEnded", "replyEnded", "turnEnded"]);
  expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a tool round costs two commits, and parallel calls share them", async () => {
  let running = 0;
  let most = 0;
  let release = () => {};
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = tool("slow", async () => {
    running += 1;
    most = Math.max(most, running);
    if (running === 2) release();
    await both;
    return { status: "done", output: "ok" };
  });
  const house = await openHouse({
    replies: [{ calls: [{ tool: "slow" }, { tool: "slow" }] }, { text: "done" }],
    tools: [slow],
  });
  const events = await converse(house, await open(house));
  expect(most).toBe(2);
  // opened · spoke+started · [2 blocks, reply, 2 starts] · [end] + [end] in one or two · [block, reply, turn end]
  expect(house.commits.slice(0, 3)).toEqual([1, 2, 5]);
  expect(house.commits.at(-1)).toBe(3);
  expect(house.commits.length).toBeLessThanOrEqual(6);
  expect(endings(events)).toHaveLength(2);
});

test("an unsafe call waits for those before it, and those after it wait for it", async () => {
  const order: string[] = [];
  const step = (name: string, rerun: "safe" | "unsafe") =>
    tool(
      name,
      async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} ends`);
        return { status: "done", output: "" };
      },
      { rerun },
    );
  const tools = [step("look", "safe"), step("act", "unsafe")];
  const calls = [{ tool: "look" }, { tool: "act" }, { tool: "look" }];
  const house = await openHouse({ replies: [{ calls }], tools });
  await converse(house, await open(house));
  expect(order).toEqual(["look begins", "look ends", "act begins", "act ends", "look begins", "look ends"]);
});

test("the model learns what it did wrong: unknown tool, bad arguments, protected path, forbidden by rule", async () => {
  const writer = tool("writer", async () => ({ status: "done", output: "" }), {
    needs: () => [{ kind: "write", path: "/home/me/.ssh/id" }],
  });
  const forbidden = tool("forbidden", async () => ({ status: "done", output: "" }));
  const calls = [{ tool: "nope" }, { tool: "echo", args: { path: 7 } }, { tool: "writer" }, { tool: "forbidden" }];
  const house = await openHouse({ replies: [{ calls }], tools: [echo, writer, forbidden] });
  const ends = endings(await converse(house, await open(house), NOBODY, { yolo: true }));
  expect(ends.map(({ status }) => status)).toEqual([
    ToolCallStatus.FAILED,
    ToolCallStatus.FAILED,
    ToolCallStatus.DENIED,
    ToolCallStatus.DENIED,
  ]);
  expect(ends[0]?.output).toContain('no tool "nope"');
  expect(ends[1]?.output).toContain("path");
  expect(ends[2]?.output).toContain("keys lie there");
  expect(house.prompts[1]?.messages.at(-1)?.content).toHaveLength(4);
});

test("an alias is served by its tool", async () => {
  const house = await openHouse({ replies: [{ calls: [{ tool: "echo_alias", args: { path: "x" } }] }], tools: [echo] });
  expect(endings(await converse(house, await open(house)))).toEqual([
    { status: ToolCallStatus.DONE, output: 'echo {"path":"x"}' },
  ]);
});

const act = tool("act", async () => ({ status: "done", output: "acted" }), { category: "shell", rerun: "unsafe" });
const twice: ScriptedReply[] = [{ calls: [{ tool: "act" }] }, { calls: [{ tool: "act" }] }, { text: "ok" }];

test("a question is answered by a person, for once or for the session", async () => {
  const house = await openHouse({ replies: twice, tools: [act] });
  const id = await open(house);
  const heard = listen(house, id, PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked") {
      const { approvalId } = news.event.body.value;
      expect(await house.sessions.answer(id, approvalId, true, "session")).toMatchObject({ ok: true });
      expect(await house.sessions.answer(id, approvalId, false, "once")).toMatchObject({
        ok: false,
        failure: { code: "conflict" },
      });
    }
    return isEnd(news);
  });
  await say(house, id);
  const events = eventsOf(await heard);
  expect(cases(events).filter((kind) => kind === "approvalAsked")).toHaveLength(1);
  expect(endings(events).map(({ output }) => output)).toEqual(["acted", "acted"]);
});

test("a person's no is told to the model, and the turn goes on", async () => {
  const house = await openHouse({ replies: twice.slice(1), tools: [act] });
  const id = await open(house);
  const heard = listen(house, id, PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked") {
      await house.sessions.answer(id, news.event.body.value.approvalId, false, "once");
    }
    return isEnd(news);
  });
  await say(house, id);
  const [end] = endings(eventsOf(await heard));
  expect(end).toMatchObject({ status: ToolCallStatus.DENIED, output: expect.stringContaining("the person said no") });
});

test("with nobody there a question is refused with guidance, and in advance it can be answered", async () => {
  const house = await openHouse({ replies: [...twice.slice(1), ...twice.slice(1)], tools: [act] });
  const id = await open(house);
  const [refused] = endings(await converse(house, id));
  expect(refused?.status).toBe(ToolCallStatus.DENIED);
  expect(refused?.output).toMatch(/nobody is there.*--allow "act:.*claw attach/);
  const allowed = await converse(house, id, { ...NOBODY, after: 10 }, { allow: ["act"] });
  expect(endings(allowed).at(-1)).toEqual({ status: ToolCallStatus.DONE, output: "acted" });
});

test("a question that nobody answers lapses", async () => {
  const house = await openHouse({ replies: twice.slice(1), tools: [act], limits: { approvalMs: 20 } });
  const events = await converse(house, await open(house), PERSON);
  expect(cases(events)).toContain("approvalExpired");
  expect(endings(events)[0]?.output).toContain("nobody answered");
});

const hookAt = (at: string, outcome: HookOutcome): Hooks => ({
  hears: async (point) => point === at,
  run: async (event) => (event.at === at ? outcome : NO_HOOKS),
  forget() {},
});
const receipt = { hook: "guard", because: "because", ms: 1, ran: true };

test("a hook blocks, changes and answers a call, and leaves its receipt", async () => {
  const block = hookAt("tool.before", {
    answer: { do: "block", because: "no" },
    receipts: [{ ...receipt, verdict: "block" }],
  });
  const change = hookAt("tool.before", {
    answer: { do: "modify", value: { tool: "echo", args: { path: "changed" } } },
    receipts: [{ ...receipt, verdict: "modify" }],
  });
  const answer = hookAt("tool.before", {
    answer: { do: "answer", result: { a: 1 } },
    receipts: [{ ...receipt, verdict: "answer" }],
  });
  const outputs: string[] = [];
  for (const hooks of [block, change, answer]) {
    const house = await openHouse({ replies: [{ calls: [{ tool: "echo" }] }], tools: [echo], hooks });
    const events = await converse(house, await open(house));
    expect(cases(events)).toContain("hookRan");
    outputs.push(endings(events)[0]?.output ?? "");
  }
  expect(outputs).toEqual([
    expect.stringContaining('hook "guard" blocked echo: no'),
    'echo {"path":"changed"}',
    '{"a":1}',
  ]);
});

test("a hook cannot turn a call into one of another tool", async () => {
  const value = { tool: "act", args: {} };
  const hooks = hookAt("tool.before", { answer: { do: "modify", value }, receipts: [] });
  const house = await openHouse({ replies: [{ calls: [{ tool: "echo" }] }], tools: [echo, act], hooks });
  const [end] = endings(await converse(house, await open(house), NOBODY, { yolo: true }));
  expect(end).toMatchObject({ status: ToolCallStatus.FAILED, output: expect.stringContaining("another tool") });
});

test("what a hook changed passes the other gates again", async () => {
  const hooks = hookAt("tool.before", {
    answer: { do: "modify", value: { tool: "echo", args: { path: 9 } } },
    receipts: [],
  });
  const house = await openHouse({ replies: [{ calls: [{ tool: "echo" }] }], tools: [echo], hooks });
  expect(endings(await converse(house, await open(house)))[0]?.output).toContain("do not fit its schema");
});

test("a hook rewrites a message or keeps it out, and the output of a tool", async () => {
  const rewrite = hookAt("message.received", { answer: { do: "modify", value: { text: "polite" } }, receipts: [] });
  const house = await openHouse({ replies: [{ text: "ok" }], hooks: rewrite });
  await converse(house, await open(house));
  expect(house.prompts[0]?.messages[0]?.content).toEqual([{ kind: "text", text: "polite" }]);

  const keep = hookAt("message.received", {
    answer: { do: "block", because: "no" },
    receipts: [{ ...receipt, verdict: "block" }],
  });
  const strict = await openHouse({ replies: [], hooks: keep });
  const id = await open(strict);
  expect(await strict.sessions.say(id, { text: "x", model: "", allow: [], yolo: false })).toMatchObject({
    ok: false,
    failure: { code: "denied" },
  });
  expect(strict.prompts).toEqual([]);

  const redact = hookAt("tool.after", { answer: { do: "modify", value: { output: "▮▮▮" } }, receipts: [] });
  const quiet = await openHouse({ replies: [{ calls: [{ tool: "echo" }] }], tools: [echo], hooks: redact });
  expect(endings(await converse(quiet, await open(quiet)))[0]?.output).toBe("▮▮▮");
});

async function* untilAborted(_prompt: unknown, signal: AbortSignal): AsyncGenerator<Chunk> {
  yield { kind: "delta", block: 0, of: "text", text: "half a sen" };
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  yield { kind: "failed", failure: { code: "cancelled", message: "stopped" } };
}

test("an interrupt ends the turn, keeps what was said, and the session goes on", async () => {
  const house = await openHouse({ replies: [untilAborted, { text: "fine" }] });
  const id = await open(house);
  const heard = listen(house, id, NOBODY, async (news) => {
    if (news.kind === "delta") await house.sessions.interrupt(id);
    return isEnd(news);
  });
  await say(house, id);
  const events = eventsOf(await heard);
  expect(cases(events)).toEqual([
    ...["sessionOpened", "userSpoke", "turnStarted", "interruptRequested", "blockEnded", "replyEnded", "turnEnded"],
  ]);
  const seq = events.at(-1)?.seq ?? 0;
  await converse(house, id, { ...NOBODY, after: seq });
  expect(house.prompts[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
});

test("deltas of thinking say where they belong, and half a thought is not kept", async () => {
  async function* cutOff(): AsyncGenerator<Chunk> {
    for (const text of ["one ", "two ", "three"]) yield { kind: "delta", block: 0, of: "thinking", text };
    for (const text of ["so ", "far"]) yield { kind: "delta", block: 1, of: "text", text };
    yield { kind: "failed", failure: { code: "unavailable", message: "cut off" } };
  }
  const house = await openHouse({ replies: [cutOff] });
  const id = await open(house);
  const heard = listen(house, id, NOBODY, isEnd);
  await say(house, id);
  const news = await heard;
  const offsets = news.flatMap((one) => (one.kind === "delta" ? [[one.delta.block, one.delta.offset]] : []));
  expect(offsets).toEqual([
    [0, 0],
    [0, 4],
    [0, 8],
    [1, 0],
    [1, 3],
  ]);
  const blocks = eventsOf(news).flatMap(({ body }) => (body.case === "blockEnded" ? [body.value.content?.kind] : []));
  expect(blocks).toMatchObject([{ case: "text", value: { text: "so far" } }]);
});

test("an interrupt stops a running tool", async () => {
  const hang = tool("hang", async (_args, { signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    return { status: "failed", output: "", failure: { code: "cancelled", message: "told to stop" } };
  });
  const house = await openHouse({ replies: [{ calls: [{ tool: "hang" }] }], tools: [hang] });
  const id = await open(house);
  const heard = listen(house, id, NOBODY, async (news) => {
    if (news.kind === "event" && news.event.body.case === "toolCallStarted") await house.sessions.interrupt(id);
    return isEnd(news);
  });
  await say(house, id);
  expect(endings(eventsOf(await heard))[0]?.status).toBe(ToolCallStatus.CANCELLED);
});

test("a message during a turn joins at the next step, and one that comes last is answered too", async () => {
  const house: House = await openHouse({
    replies: [{ calls: [{ tool: "nudge" }] }, { text: "one" }, { text: "two" }],
    tools: [
      tool("nudge", async (_args, { sessionId }) => {
        expect(await say(house, sessionId, "and also this")).toMatchObject({ steered: true });
        return { status: "done", output: "" };
      }),
    ],
  });
  await converse(house, await open(house));
  expect(house.prompts).toHaveLength(2);
  expect(house.prompts[1]?.messages.at(-1)?.content.at(-1)).toEqual({ kind: "text", text: "and also this" });
});

test("a message that comes while the last reply streams is answered in the same turn", async () => {
  let house: House | undefined;
  let id = "";
  async function* nudged(): AsyncGenerator<Chunk> {
    if (house !== undefined) await say(house, id, "wait, more");
    yield { kind: "block", block: 0, content: { kind: "text", text: "first" } };
    yield { kind: "end", stop: "done", usage: NO_USAGE };
  }
  house = await openHouse({ replies: [nudged, { text: "second" }] });
  id = await open(house);
  const events = await converse(house, id);
  expect(house.prompts).toHaveLength(2);
  expect(cases(events).filter((kind) => kind === "turnEnded")).toHaveLength(1);
});

test("steps are limited", async () => {
  const replies = Array.from({ length: 5 }, () => ({ calls: [{ tool: "echo" }] }));
  const house = await openHouse({ replies, tools: [echo], limits: { attendedSteps: 3 } });
  const events = await converse(house, await open(house));
  expect(house.prompts).toHaveLength(3);
  expect(events.at(-1)?.body.value).toMatchObject({ failure: { message: expect.stringContaining("3 model calls") } });
});

test("a provider that fails ends the turn with its failure, and the next message works", async () => {
  async function* broken(): AsyncGenerator<Chunk> {
    yield { kind: "failed", failure: { code: "unavailable", message: "no route", hint: "try later" } };
  }
  const house = await openHouse({ replies: [broken, { text: "back" }] });
  const id = await open(house);
  const events = await converse(house, id);
  expect(events.at(-1)?.body.value).toMatchObject({ failure: { message: "no route", hint: "try later" } });
  const again = await converse(house, id, { ...NOBODY, after: events.length });
  expect(cases(again)).toContain("blockEnded");
});

test("a fault of our own ends the turn, is written down, and the session goes on", async () => {
  async function* endless(): AsyncGenerator<Chunk> {
    // A provider promises an end; this one breaks its promise.
  }
  const house = await openHouse({ replies: [endless, { text: "back" }] });
  const id = await open(house);
  const events = await converse(house, id);
  expect(events.at(-1)?.body.value).toMatchObject({ failure: { message: expect.stringContaining("the turn broke") } });
  expect(complaints.splice(0)).toMatchObject([{ message: expect.stringContaining("without an end") }]);
  expect(cases(await converse(house, id, { ...NOBODY, after: events.length }))).toContain("blockEnded");
});

test("a plugin's schema that does not work, or never ends, costs its own call and nobody's time", async () => {
  const broken = (name: string, pattern: string) =>
    tool(name, async () => ({ status: "done", output: "" }), {
      category: "plugin",
      input: { type: "object", properties: { path: { type: "string", pattern } } },
    });
  const tools = [broken("wrong", "("), broken("endless", "^(a+)+$"), echo];
  const args = { path: `${"a".repeat(40)}!` };
  const calls = [{ tool: "wrong", args }, { tool: "endless", args }, { tool: "echo" }];
  const house = await openHouse({ replies: [{ calls }], tools });
  const ends = endings(await converse(house, await open(house), NOBODY, { yolo: true }));
  expect(ends).toMatchObject([
    { status: ToolCallStatus.FAILED, output: expect.stringContaining("Invalid regular expression") },
    { status: ToolCallStatus.FAILED, output: expect.stringContaining("timed out") },
    { status: ToolCallStatus.DONE },
  ]);
});

test("calls of one reply that share an id, or have none, get one each, and each its own result", async () => {
  async function* careless(): AsyncGenerator<Chunk> {
    for (const [block, callId] of ["same", "same", "", ""].entries()) {
      yield {
        kind: "block",
        block,
        content: { kind: "toolCall", callId, tool: "echo", args: { path: String(block) } },
      };
    }
    yield { kind: "end", stop: "calls", usage: NO_USAGE };
  }
  const house = await openHouse({ replies: [careless, { text: "ok" }], tools: [echo] });
  await converse(house, await open(house));
  const results = house.prompts[1]?.messages.at(-1)?.content;
  expect(results).toMatchObject(
    ["same", "same_2", "call", "call_2"].map((callId, index) => ({ callId, text: `echo {"path":"${index}"}` })),
  );
});

test("more sessions at work than are kept in memory: each has one writer, and every turn ends", async () => {
  const many = 100;
  const house = await openHouse({
    replies: Array.from({ length: 2 * many }, (_, index) =>
      index < many ? { calls: [{ tool: "echo" }] } : { text: "ok" },
    ),
    tools: [echo],
    // Time in which the others push the session out of memory.
    hooks: {
      forget() {},
      hears: async () => true,
      run: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return NO_HOOKS;
      },
    },
  });
  const ids = await Promise.all(Array.from({ length: many }, () => open(house)));
  await Promise.all(ids.map((id) => say(house, id)));
  const heard = await Promise.all(ids.map(async (id) => cases(eventsOf(await listen(house, id, NOBODY, isEnd)))));
  expect(heard.filter((kinds) => kinds.includes("turnResumed"))).toEqual([]);
  expect(heard.filter((kinds) => kinds.at(-1) !== "turnEnded")).toEqual([]);
});

test("a stop in the middle of a reply's calls is the last thing that happens: none of the rest begins", async () => {
  const done: string[] = [];
  let house: House | undefined;
  const stopper = tool(
    "stopper",
    async (_args, { sessionId }) => {
      await house?.sessions.interrupt(sessionId);
      return { status: "done", output: "" };
    },
    { rerun: "unsafe" },
  );
  // Like a writer of files, it does not look at the signal.
  const deaf = tool(
    "deaf",
    async () => {
      done.push("deaf");
      return { status: "done", output: "" };
    },
    { rerun: "unsafe" },
  );
  const calls = [{ tool: "stopper" }, { tool: "deaf" }, { tool: "deaf" }];
  house = await openHouse({ replies: [{ calls }], tools: [stopper, deaf] });
  const events = await converse(house, await open(house));
  expect(done).toEqual([]);
  expect(cases(events).filter((kind) => kind === "toolCallStarted")).toHaveLength(1);
  expect(events.at(-1)?.body.value).toMatchObject({ outcome: TurnOutcome.CANCELLED });
});

test("a turn whose journal was replaced under it makes way for the one that the new fold found open", async () => {
  let runs = 0;
  let house: House | undefined;
  const swap = tool("swap", async (_args, { sessionId }) => {
    runs += 1;
    if (runs > 1 || house === undefined) return { status: "done", output: "again" };
    const file = join(house.dir, `${sessionId}.jsonl`);
    await copyFile(file, `${file}.copy`);
    await rename(`${file}.copy`, file);
    const more = { text: "more", model: "", allow: [], yolo: false };
    expect(await house.sessions.say(sessionId, more)).toMatchObject({ ok: false });
    expect(await house.sessions.say(sessionId, more)).toMatchObject({ ok: true, value: { steered: true } });
    return { status: "done", output: "" };
  });
  house = await openHouse({ replies: [{ calls: [{ tool: "swap" }] }, { text: "ok" }], tools: [swap] });
  const id = await open(house);
  await say(house, id);
  await vi.waitUntil(() => runs > 0);
  await vi.waitUntil(() => house?.sessions.busy() === 0);
  const events = eventsOf(await listen(house, id, NOBODY, isEnd));
  expect(cases(events)).toContain("turnResumed");
  expect(runs).toBe(2);
});

test("a question is not waited for once its journal takes nothing more", async () => {
  const house = await openHouse({ replies: [{ calls: [{ tool: "act" }] }], tools: [act] });
  const id = await open(house);
  const asked = listen(house, id, PERSON, (news) => news.kind === "event" && news.event.body.case === "approvalAsked");
  await say(house, id);
  await asked;
  await writeFile(join(house.dir, `${id}.jsonl`), "not a journal\n");
  const more = { text: "more", model: "", allow: [], yolo: false };
  expect(await house.sessions.say(id, more)).toMatchObject({ ok: false });
  await vi.waitUntil(() => house.sessions.busy() === 0);
});

test("a tool that throws fails its call and nothing else", async () => {
  const bad = tool("bad", async () => {
    throw new Error("oops");
  });
  const house = await openHouse({ replies: [{ calls: [{ tool: "bad" }] }, { text: "ok" }], tools: [bad] });
  const events = await converse(house, await open(house));
  expect(endings(events)).toEqual([{ status: ToolCallStatus.FAILED, output: "bad broke: oops" }]);
  expect(cases(events).at(-1)).toBe("turnEnded");
});

test("after a crash the turn goes on: a safe call runs again, an unsafe one is lost and the model is told", async () => {
  const hang = (_args: unknown, { signal }: ToolContext) =>
    new Promise<ToolOutcome>((resolve) => {
      signal.addEventListener("abort", () => resolve({ status: "done", output: "too late" }), { once: true });
    });
  const stuck = [tool("look", hang), tool("act", hang, { rerun: "unsafe" })];
  for (const [name, expected] of [
    ["look", { status: ToolCallStatus.DONE, output: "seen" }],
    ["act", { status: ToolCallStatus.LOST, output: expect.stringContaining("Lost") }],
  ] as const) {
    const before = await openHouse({ replies: [{ calls: [{ tool: name }] }], tools: stuck });
    const id = await open(before);
    const started = listen(
      before,
      id,
      NOBODY,
      (news) => news.kind === "event" && news.event.body.case === "toolCallStarted",
    );
    await say(before, id);
    await started;
    // Nobody says goodbye: a second house opens on what the first one left on disk.
    const again = tool("look", async () => ({ status: "done", output: "seen" }));
    const after = await openHouse({ replies: [{ text: "so" }], tools: [again, stuck[1] ?? again], dir: before.dir });
    const heard = listen(after, id, NOBODY, isEnd);
    await after.sessions.resumeOpenTurns();
    const events = eventsOf(await heard);
    expect(cases(events)).toContain("turnResumed");
    expect(endings(events)).toEqual([expected]);
    expect(after.prompts[0]?.messages.at(-1)?.content).toHaveLength(1);
  }
});

test("a subscriber that comes late gets everything once, then what follows", async () => {
  const house = await openHouse({ replies: [{ text: "one" }, { text: "two" }] });
  const id = await open(house);
  const first = await converse(house, id);
  expect(first).toHaveLength(6);
  const late = listen(house, id, { ...NOBODY, after: 3 }, (news) => news.kind === "event" && news.event.seq === 11);
  await say(house, id, "again");
  expect(eventsOf(await late).map((event) => event.seq)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  const whole = await listen(house, id, { ...NOBODY, follow: false }, () => false);
  expect(eventsOf(whole).map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(whole.at(-1)).toEqual({ kind: "caughtUp", seq: 11 });
});

test("a fork is a session of its own with the events up to its point", async () => {
  const house = await openHouse({ replies: [{ text: "one" }, { text: "two" }] });
  const id = await open(house);
  await converse(house, id);
  const forked = await house.sessions.fork(id, 2);
  if (!forked.ok) throw new Error(forked.failure.message);
  const events = eventsOf(await listen(house, forked.value, { ...NOBODY, follow: false }, () => false));
  expect(cases(events)).toEqual(["sessionOpened", "userSpoke"]);
  expect(events[0]?.body.value).toMatchObject({ sessionId: forked.value, forkedFrom: id, forkedAtSeq: 2 });
  expect(await house.sessions.fork(id, 99)).toMatchObject({ ok: false, failure: { code: "invalid" } });
  expect(await house.sessions.fork("nobody", 0)).toMatchObject({ ok: false, failure: { code: "not_found" } });
});

test("a house that is closing takes no more messages, and tells how a running turn ended", async () => {
  const house = await openHouse({ replies: [untilAborted] });
  const id = await open(house);
  let closed: Promise<void> | undefined;
  const heard = listen(house, id, NOBODY, (news) => {
    if (news.kind === "delta") closed ??= house.sessions.close();
    return isEnd(news);
  });
  await say(house, id);
  expect(eventsOf(await heard).at(-1)?.body.value).toMatchObject({ outcome: TurnOutcome.CANCELLED });
  expect(await house.sessions.say(id, { text: "more", model: "", allow: [], yolo: false })).toMatchObject({
    ok: false,
    failure: { code: "unavailable" },
  });
  await closed;
});

test("sessions are listed with title and folder, and deleted ones are gone", async () => {
  const house = await openHouse({ replies: [{ text: "one" }] });
  const id = await open(house);
  await converse(house, id);
  expect(await house.sessions.list(10)).toMatchObject([
    { sessionId: id, title: "go", workspace: house.dir, events: 6, busy: false },
  ]);
  expect(await house.sessions.remove(id)).toMatchObject({ ok: true });
  expect(await house.sessions.list(10)).toEqual([]);
  expect(await house.sessions.say(id, { text: "x", model: "", allow: [], yolo: false })).toMatchObject({
    ok: false,
    failure: { code: "not_found" },
  });
});
