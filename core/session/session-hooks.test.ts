import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ApprovalScope, ToolCallStatus, TurnOutcome } from "../../proto/gen/clawd/v1/event_pb.ts";
import { type ScriptedHook, scriptedHooks } from "../../tests/kit/scripted-hooks.ts";
import {
  cases,
  closeHouses,
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
  stored,
  tool,
} from "../../tests/kit/session-house.ts";
import type { Event } from "../domain/event.ts";
import { HOOK_POINTS, type HookAnswer, type HookContext, NOT_FIRED_YET } from "../domain/hook.ts";
import type { PermissionDecision, PersonsWord } from "../domain/permission-decision.ts";
import { type Chunk, NO_USAGE } from "../domain/provider.ts";
import type { ToolOutcome } from "../domain/tool.ts";

afterEach(closeHouses);

const PASS: HookAnswer = { do: "pass" };
const pass: ScriptedHook = () => PASS;
const block: ScriptedHook = () => ({ do: "block", because: "not today" });
const oneCall = [{ calls: [{ tool: "echo" }] }, { text: "done" }];

function receiptsOf(events: readonly Event[]) {
  return events.flatMap(({ body }) => (body.case === "hookRan" ? [body.value.point] : []));
}

const failureOf = (events: readonly Event[]) => {
  const last = events.at(-1)?.body;
  return last?.case === "turnEnded" ? last.value.failure?.message : undefined;
};

test("every point whose moment exists is fired, in order, and each run leaves its receipt", async () => {
  const hooks = scriptedHooks(Object.fromEntries(HOOK_POINTS.map((point) => [point, pass])));
  const act = tool("act", async () => ({ status: "done", output: "acted" }), { category: "shell" });
  const house = await openHouse({ replies: [{ calls: [{ tool: "act" }] }, { text: "done" }], tools: [act], hooks });
  const id = await open(house);
  const heard = listen(house, id, PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked")
      await house.sessions.answer(id, news.event.body.value.approvalId, true, "once");
    return isEnd(news);
  });
  await say(house, id);
  const events = eventsOf(await heard);
  const step = ["step.before", "model.before", "model.after"];
  const turn = [
    ...["message.received", "step.before", "context.build", "model.before", "model.after"],
    ...["tool.before", "approval.asked", "tool.after", "step.after"],
    ...[...step, "step.after", "turn.ended"],
  ];
  expect(hooks.points()).toEqual(["session.created", ...turn]);
  expect(receiptsOf(events)).toEqual(["session.created", ...turn]);
  expect(await house.sessions.remove(id)).toMatchObject({ ok: true });
  expect(hooks.events.at(-1)).toMatchObject({ at: "session.closed", value: { reason: "removed" } });
  expect(new Set(hooks.points())).toEqual(new Set(HOOK_POINTS.filter((point) => !NOT_FIRED_YET.includes(point))));
});

test("what hooks get to see at each point", async () => {
  const hooks = scriptedHooks(Object.fromEntries(HOOK_POINTS.map((point) => [point, pass])));
  const calls = [{ tool: "echo", args: { path: "x" } }];
  const house = await openHouse({ replies: [{ text: "look", calls }, { text: "done" }], tools: [echo], hooks });
  const id = await open(house);
  await converse(house, id);
  const values = new Map(hooks.events.toReversed().map(({ at, value }) => [at, value]));
  const model = "scripted/one";
  expect(Object.fromEntries(values)).toMatchObject({
    "session.created": { model: "" },
    "message.received": { text: "go" },
    "context.build": { text: "go", context: "" },
    "step.before": { step: 1 },
    "model.before": { model, step: 1, system: expect.stringContaining("You are clawd"), context: "" },
    "model.after": { model, step: 1, text: "look", calls, stop: "calls" },
    "tool.before": { tool: "echo", args: { path: "x" } },
    "tool.after": { tool: "echo", args: { path: "x" }, status: "done", output: 'echo {"path":"x"}' },
    "step.after": { step: 1, calls },
    "turn.ended": { outcome: "done", text: "done" },
  });
  expect(new Set(hooks.events.map(({ sessionId }) => sessionId))).toEqual(new Set([id]));
  expect(hooks.events.filter(({ at, turnId }) => turnId === "" && !at.startsWith("session"))).toHaveLength(1);
});

test("where nobody listens, no hook is run", async () => {
  const hooks = { ...scriptedHooks({}), run: () => Promise.reject(new Error("ran")) };
  const house = await openHouse({ replies: oneCall, tools: [echo], hooks });
  expect(cases(await converse(house, await open(house))).at(-1)).toBe("turnEnded");
});

test("context joins the words once a turn, stays with them, and is the same after a restart", async () => {
  let built = 0;
  const hooks = scriptedHooks({
    "context.build"({ value }) {
      built += 1;
      return { do: "modify", value: { ...value, context: `fact ${built}` } };
    },
  });
  const house = await openHouse({ replies: [...oneCall, { text: "again" }], tools: [echo], hooks });
  const id = await open(house);
  const first = await converse(house, id);
  await converse(house, id, { ...NOBODY, after: first.length });
  expect(built).toBe(2);
  const [one, two, three] = house.prompts.map(({ messages }) => JSON.stringify(messages));
  expect(one).toContain("fact 1");
  expect(two?.startsWith(one?.slice(0, -1) ?? "?")).toBe(true);
  expect(three?.startsWith(two?.slice(0, -1) ?? "?")).toBe(true);
  expect(three).toContain("fact 2");
  const after = await openHouse({ replies: [{ text: "more" }], dir: house.dir });
  await say(after, id);
  await listen(after, id, { ...NOBODY, after: 20 }, isEnd);
  expect(JSON.stringify(after.prompts[0]?.messages).startsWith(three?.slice(0, -1) ?? "?")).toBe(true);
});

test("a turn that is taken up again has its context, and its hooks are not asked twice", async () => {
  const modify: ScriptedHook = ({ value }) => ({ do: "modify", value: { ...value, context: "a fact" } });
  const started = Promise.withResolvers<void>();
  async function* stuck(_prompt: unknown, signal: AbortSignal): AsyncGenerator<Chunk> {
    started.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield { kind: "failed", failure: { code: "cancelled", message: "stopped" } };
  }
  const before = await openHouse({ replies: [stuck], hooks: scriptedHooks({ "context.build": modify }) });
  const id = await open(before);
  await say(before, id);
  await started.promise;
  await listen(before, id, NOBODY, (news) => news.kind === "event" && news.event.body.case === "contextBuilt");
  const hooks = scriptedHooks({ "context.build": modify });
  const after = await openHouse({ replies: [{ text: "so" }], hooks, dir: before.dir });
  const heard = listen(after, id, NOBODY, isEnd);
  await after.sessions.resumeOpenTurns();
  await heard;
  expect(hooks.events).toEqual([]);
  expect(JSON.stringify(after.prompts[0]?.messages).match(/a fact/g)).toHaveLength(1);
});

test("a hook changes the system prompt and the context of one model call", async () => {
  const hooks = scriptedHooks({
    "context.build": ({ value }) => ({ do: "modify", value: { ...value, context: "of the turn" } }),
    "model.before"({ value }) {
      if (value.step !== 1) return PASS;
      return { do: "modify", value: { ...value, system: "Be brief.", context: `${value.context}, and of the call` } };
    },
  });
  const house = await openHouse({ replies: oneCall, tools: [echo], hooks });
  await converse(house, await open(house));
  const [first, second] = house.prompts;
  expect(first?.system).toBe("Be brief.");
  expect(JSON.stringify(first?.messages)).toContain("of the turn, and of the call");
  expect(second?.system).toContain("You are clawd");
  expect(JSON.stringify(second?.messages)).toContain("of the turn");
  expect(JSON.stringify(second?.messages)).not.toContain("of the call");
});

test("what a hook makes of a reply is what is kept, also of one that was cut off", async () => {
  const hooks = scriptedHooks({
    "model.after": ({ value }) => ({ do: "modify", value: { ...value, text: `[${value.text}]` } }),
  });
  async function* cutOff(): AsyncGenerator<Chunk> {
    yield { kind: "delta", block: 0, of: "text", text: "half" };
    yield { kind: "failed", failure: { code: "unavailable", message: "cut off" } };
  }
  const replies = [{ text: "secret", calls: [{ tool: "echo" }] }, cutOff];
  const house = await openHouse({ replies, tools: [echo], hooks });
  const events = await converse(house, await open(house));
  const texts = events.flatMap(({ body }) =>
    body.case === "blockEnded" && body.value.content?.kind.case === "text" ? [body.value.content.kind.value.text] : [],
  );
  expect(texts).toEqual(["[secret]", "[half]"]);
  expect(house.prompts[1]?.messages[1]?.content).toMatchObject([
    { kind: "text", text: "[secret]" },
    { kind: "toolCall", tool: "echo" },
  ]);
});

test("where a hook hears replies, nobody reads the words before it has", async () => {
  async function* streamed(): AsyncGenerator<Chunk> {
    yield { kind: "delta", block: 0, of: "thinking", text: "hm" };
    yield { kind: "delta", block: 1, of: "text", text: "the secret" };
    yield { kind: "block", block: 1, content: { kind: "text", text: "the secret" } };
    yield { kind: "end", stop: "done", usage: NO_USAGE };
  }
  const told = async (hooks: ReturnType<typeof scriptedHooks>) => {
    const house = await openHouse({ replies: [streamed], hooks });
    const id = await open(house);
    const heard = listen(house, id, NOBODY, isEnd);
    await say(house, id);
    return (await heard).flatMap((news) => (news.kind === "delta" ? [news.delta.text] : []));
  };
  expect(await told(scriptedHooks({ "model.after": pass }))).toEqual(["hm"]);
  expect(await told(scriptedHooks({}))).toEqual(["hm", "the secret"]);
});

test("hooks forget a session that is removed, also where nobody listens to its end", async () => {
  const forgotten: string[] = [];
  const hooks = { ...scriptedHooks({}), forget: (id: string) => void forgotten.push(id) };
  const house = await openHouse({ replies: [], hooks });
  const id = await open(house);
  await house.sessions.remove(id);
  expect(forgotten).toEqual([id]);
});

test.each(["step.before", "model.before", "model.after"] as const)(
  "a block at %s ends the turn with the hook's reason, and no tool runs",
  async (point) => {
    const house = await openHouse({ replies: oneCall, tools: [echo], hooks: scriptedHooks({ [point]: block }) });
    const id = await open(house);
    const events = await converse(house, id);
    expect(failureOf(events)).toBe(`hook "guard" stopped the turn at ${point}: not today`);
    expect(cases(events)).not.toContain("toolCallStarted");
    expect(house.prompts).toHaveLength(point === "model.after" ? 1 : 0);
    expect(receiptsOf(events)).toEqual([point]);
  },
);

test("a hook that skips a message has dealt with it: no turn, no model call, and a receipt", async () => {
  const hooks = scriptedHooks({ "message.received": () => ({ do: "skip" }) });
  const house = await openHouse({ replies: [], hooks });
  const id = await open(house);
  expect(await say(house, id)).toEqual({ turnId: "", seq: 0, steered: false, shown: "" });
  expect(cases(await stored(house, id))).toEqual(["sessionOpened", "hookRan"]);
  expect(house.prompts).toEqual([]);
});

test("an output about which a hook would ask is withheld, and that of an interrupted call is heard as well", async () => {
  const hooks = scriptedHooks({ "tool.after": () => ({ do: "ask", because: "is it fit to be read?" }) });
  const house: House = await openHouse({
    replies: oneCall,
    hooks,
    tools: [
      tool("echo", async (_args, { sessionId }) => {
        await house.sessions.interrupt(sessionId);
        return { status: "done", output: "secret" };
      }),
    ],
  });
  const [end] = endings(await converse(house, await open(house)));
  expect(end?.output).toBe('hook "guard" withheld the output: is it fit to be read?');
});

test("turn.ended is heard whatever the outcome, and not while a message keeps the turn going", async () => {
  const hooks = scriptedHooks({ "turn.ended": pass });
  let house: House | undefined;
  let id = "";
  async function* nudged(): AsyncGenerator<Chunk> {
    if (house !== undefined) await say(house, id, "wait, more");
    yield { kind: "failed", failure: { code: "unavailable", message: "no route" } };
  }
  house = await openHouse({ replies: [{ text: "hi" }, nudged], hooks });
  id = await open(house);
  const first = await converse(house, id);
  await converse(house, id, { ...NOBODY, after: first.length });
  expect(hooks.events.map(({ value }) => value)).toEqual([
    { outcome: "done", text: "hi" },
    { outcome: "failed", text: "" },
  ]);
});

test("a refused session leaves nothing but what was decided meanwhile", async () => {
  const decision: PermissionDecision = {
    ...{ principal: "hook:guard", sourceHash: "", permission: "read=/x", resolved: "", allowed: true },
    ...{ by: "rule" as const, because: "read", ms: 1, leftOut: 0 },
  };
  const hooks = scriptedHooks({
    async "session.created"(event, context) {
      expect(await context.record(decision)).toEqual({ ok: true, value: undefined });
      expect(await context.ask({ principal: "hook:guard", permission: "read=/x" })).toEqual({ said: "nobody" });
      expect(await context.callTool("hook:guard", "echo", {})).toMatchObject({ ok: false });
      return block(event, context);
    },
  });
  const house = await openHouse({ replies: [], tools: [echo], hooks });
  expect(await house.sessions.open(house.dir, "")).toMatchObject({
    ok: false,
    failure: { code: "denied", message: 'hook "guard" refused the session: not today' },
  });
  expect(house.decisions).toEqual([decision]);
  expect(await house.sessions.list(10)).toEqual([]);
});

test("an orderly end is heard in the sessions that people were in", async () => {
  const hooks = scriptedHooks({ "session.closed": pass });
  const house = await openHouse({ replies: [{ text: "hi" }], hooks });
  const id = await open(house);
  await open(house);
  await converse(house, id);
  await house.sessions.close();
  expect(hooks.events).toMatchObject([{ sessionId: id, value: { reason: "daemon ended" } }]);
  const again = await openHouse({ replies: [], dir: house.dir });
  expect(receiptsOf(await stored(again, id))).toEqual(["session.closed"]);
});

/** Opens a house in which the hook of tool.before does something, and talks to it; gives back the turn's events. */
async function withToolHook(
  work: (context: HookContext) => Promise<unknown>,
  answer?: { allowed: boolean; scope: "once" | "session" | "always" },
  more: Partial<Parameters<typeof openHouse>[0]> & { yolo?: boolean } = {},
) {
  const hooks = scriptedHooks({
    async "tool.before"(_event, context) {
      await work(context);
      return PASS;
    },
  });
  const { yolo = false, ...options } = more;
  const house = await openHouse({ replies: oneCall, tools: [echo], hooks, ...options });
  const id = await open(house);
  const heard = listen(house, id, answer === undefined ? NOBODY : PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked" && answer !== undefined) {
      await house.sessions.answer(id, news.event.body.value.approvalId, answer.allowed, answer.scope);
    }
    return isEnd(news);
  });
  await say(house, id, "go", { yolo });
  return { house, id, events: eventsOf(await heard) };
}

const QUESTION = { principal: "hook:guard", permission: "read=/etc/hosts" };

test("a decision is in the journal before what it allows is done", async () => {
  const decision: PermissionDecision = {
    ...{ principal: "hook:guard", sourceHash: "ab", permission: "read=/x", resolved: "/x", allowed: false },
    ...{ by: "storm" as const, because: "asked too often", ms: 0.5, leftOut: 3 },
  };
  const { events } = await withToolHook(async (context) => {
    expect(await context.record(decision)).toEqual({ ok: true, value: undefined });
  });
  const { by: _by, ...kept } = decision;
  const at = cases(events).indexOf("permissionDecided");
  expect(events[at]?.body.value).toMatchObject({ ...kept, sessionId: expect.any(String), turnId: expect.any(String) });
  expect(at).toBeLessThan(cases(events).indexOf("hookRan"));
});

test("a permission is asked of any client, with its reach; nobody there, a lapse and a stop are nobody", async () => {
  const words: PersonsWord[] = [];
  const ask = async (context: HookContext) => words.push(await context.ask(QUESTION));
  const { events } = await withToolHook(ask, { allowed: true, scope: "always" });
  const asked = events.find(({ body }) => body.case === "approvalAsked")?.body.value;
  expect(asked).toMatchObject({ ...QUESTION, tool: "", callId: "call-1" });
  await withToolHook(ask, { allowed: false, scope: "once" });
  expect(cases((await withToolHook(ask)).events)).not.toContain("approvalAsked");
  expect(words).toEqual([{ said: "yes", scope: "always" }, { said: "no", scope: "once" }, { said: "nobody" }]);
});

test("a person is asked one thing after the other, and a stop does not wait for the questions of others", async () => {
  const words: PersonsWord[] = [];
  const hooks = scriptedHooks({
    async "message.received"({ turnId }, context) {
      if (turnId !== "") words.push(await context.ask({ ...QUESTION, permission: "read=/steering" }));
      return PASS;
    },
    async "tool.before"(_event, context) {
      await steering;
      words.push(await context.ask(QUESTION));
      return PASS;
    },
  });
  const house = await openHouse({ replies: oneCall, tools: [echo], hooks });
  const id = await open(house);
  const shown = Promise.withResolvers<void>();
  const steering = shown.promise;
  const asked: string[] = [];
  const heard = listen(house, id, PERSON, async (news) => {
    if (news.kind !== "event") return false;
    const { body } = news.event;
    if (body.case === "replyEnded") void house.sessions.say(id, { text: "and", model: "", allow: [], yolo: false });
    if (body.case === "approvalAsked") {
      asked.push(body.value.permission);
      shown.resolve();
      await house.sessions.interrupt(id);
    }
    return isEnd(news);
  });
  await say(house, id);
  await heard;
  expect(asked).toEqual(["read=/steering"]);
  expect(words).toEqual([{ said: "nobody" }]);
});

test("a permission that nobody answers in time is refused, and the question is closed", async () => {
  const hooks = scriptedHooks({
    async "tool.before"(_event, context) {
      expect(await context.ask(QUESTION)).toEqual({ said: "nobody" });
      return PASS;
    },
  });
  const house = await openHouse({ replies: oneCall, tools: [echo], hooks, limits: { approvalMs: 20 } });
  const events = await converse(house, await open(house), PERSON);
  expect(cases(events)).toContain("approvalExpired");
  expect(endings(events)[0]?.status).toBe(ToolCallStatus.DONE);
});

test("an answer for the session is not asked for again, also after a restart, and holds for exactly its permission", async () => {
  const words: PersonsWord[] = [];
  const { house, id, events } = await withToolHook(
    async (context) => {
      words.push(await context.ask(QUESTION), await context.ask(QUESTION));
    },
    { allowed: false, scope: "session" },
  );
  expect(cases(events).filter((kind) => kind === "approvalAsked")).toHaveLength(1);
  const hooks = scriptedHooks({
    async "tool.before"(_event, context) {
      words.push(await context.ask(QUESTION), await context.ask({ ...QUESTION, permission: "read=/etc/passwd" }));
      return PASS;
    },
  });
  const again = await openHouse({ replies: oneCall, tools: [echo], hooks, dir: house.dir });
  await converse(again, id, { ...NOBODY, after: events.length });
  const no = { said: "no", scope: "session" };
  expect(words).toEqual([no, no, no, { said: "nobody" }]);
});

test("a hook of approval.asked can say no to a question, and has none of its own", async () => {
  const words: PersonsWord[] = [];
  const act = tool("act", async () => ({ status: "done", output: "acted" }), { category: "shell" });
  const hooks = scriptedHooks({
    async "approval.asked"(event, context) {
      words.push(await context.ask(QUESTION));
      return block(event, context);
    },
    async "tool.before"(_event, context) {
      words.push(await context.ask(QUESTION));
      return PASS;
    },
  });
  const house = await openHouse({ replies: [{ calls: [{ tool: "act" }] }, { text: "ok" }], tools: [act], hooks });
  const events = await converse(house, await open(house), PERSON);
  expect(cases(events)).not.toContain("approvalAsked");
  expect(endings(events)[0]?.output).toContain('act did not run: hook "guard" said no: not today');
  expect(words).toEqual(Array.from({ length: 3 }, () => ({ said: "nobody" })));
  expect(hooks.events.filter(({ at }) => at === "approval.asked")).toMatchObject([
    { value: { tool: "", permission: "read=/etc/hosts" } },
    { value: { tool: "act", permission: "" } },
  ]);
});

const act = tool("act", async (args) => ({ status: "done", output: `acted ${JSON.stringify(args)}` }), {
  category: "shell",
});

test("a hook's call passes the gates and is in the journal as its own; the model hears nothing of it", async () => {
  const results: unknown[] = [];
  const { house, events } = await withToolHook(
    async (context) => {
      results.push(await context.callTool("hook:guard", "echo_alias", { path: "a" }));
      results.push(await context.callTool("hook:guard", "echo", { path: 7 }));
      results.push(await context.callTool("hook:guard", "nothing", {}));
      results.push(await context.callTool("hook:guard", "forbidden", {}));
      results.push(await context.callTool("hook:guard", "bad", {}));
    },
    undefined,
    {
      tools: [
        echo,
        tool("forbidden", async () => ({ status: "done", output: "" })),
        tool("bad", async () => ({
          status: "failed",
          output: "line 1\nline 2",
          failure: { code: "invalid", message: "x" },
        })),
      ],
      yolo: true,
    },
  );
  expect(results).toMatchObject([
    { ok: true, value: 'echo {"path":"a"}' },
    { ok: false, failure: { code: "invalid" } },
    { ok: false, failure: { code: "not_found" } },
    { ok: false, failure: { code: "denied" } },
    { ok: false, failure: { code: "invalid", message: "line 1\nline 2" } },
  ]);
  const calls = events.flatMap(({ body }) =>
    body.case === "toolCallStarted" || body.case === "toolCallEnded" ? [`${body.case} ${body.value.callId}`] : [],
  );
  expect(calls).toEqual([
    ...["toolCallStarted hook:guard:1", "toolCallEnded hook:guard:1", "toolCallEnded hook:guard:2"],
    ...["toolCallEnded hook:guard:3", "toolCallEnded hook:guard:4"],
    ...["toolCallStarted hook:guard:5", "toolCallEnded hook:guard:5", "toolCallStarted call-1", "toolCallEnded call-1"],
  ]);
  expect(JSON.stringify(house.prompts)).not.toContain("hook:guard");
  expect(house.prompts[1]?.messages.at(-1)?.content).toHaveLength(1);
});

test("a yes to a hook's call is not one to the model's, and the other way round", async () => {
  const results: unknown[] = [];
  const { events } = await withToolHook(
    async (context) => {
      results.push(await context.callTool("hook:guard", "act", {}));
      results.push(await context.callTool("hook:guard", "act", {}));
    },
    { allowed: true, scope: "session" },
    { tools: [act], replies: [{ calls: [{ tool: "act" }] }, { calls: [{ tool: "act" }] }, { text: "ok" }] },
  );
  expect(results.every((result) => (result as { ok: boolean }).ok)).toBe(true);
  const asked = events.flatMap(({ body }) => (body.case === "approvalAsked" ? [body.value.callId] : []));
  expect(asked).toEqual(["hook:guard:1", "call-1"]);
});

test("with nobody there a hook's call is refused, unless the turn was allowed everything", async () => {
  const results: unknown[] = [];
  const work = async (context: HookContext) => results.push(await context.callTool("hook:guard", "act", {}));
  const tools = [act, echo];
  await withToolHook(work, undefined, { tools });
  await withToolHook(work, undefined, { tools, yolo: true });
  expect(results).toMatchObject([
    { ok: false, failure: { code: "denied", message: expect.stringContaining("nobody is there") } },
    { ok: true },
  ]);
});

test("what a hook leaves behind is stopped and closed before the turn goes on", async () => {
  const left: Promise<unknown>[] = [];
  const late: HookContext[] = [];
  const hang = tool("hang", async (_args, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return { status: "done", output: "" };
  });
  const started = Promise.withResolvers<void>();
  const slow = tool("slow", async (args, context) => {
    started.resolve();
    return hang.run(args as never, context);
  });
  const { events } = await withToolHook(
    async (context) => {
      left.push(context.callTool("hook:guard", "slow", {}));
      late.push(context);
      await started.promise;
    },
    undefined,
    { tools: [slow, echo] },
  );
  const order = events.flatMap(({ body }) => (body.case === "toolCallEnded" ? [body.value.callId] : []));
  expect(order).toEqual(["hook:guard:1", "call-1"]);
  expect(await left[0]).toMatchObject({ ok: true });
  expect(await late[0]?.callTool("hook:guard", "echo", {})).toMatchObject({
    ok: false,
    failure: { code: "cancelled" },
  });
  expect(await late[0]?.ask(QUESTION)).toEqual({ said: "nobody" });
});

test("a hook's call that a crash cut off is lost, its open question lapses, and its number is not given again", async () => {
  const begun = Promise.withResolvers<void>();
  const hang = tool("hang", (_args, { signal }) => {
    begun.resolve();
    return new Promise<ToolOutcome>((resolve) => {
      signal.addEventListener("abort", () => resolve({ status: "done", output: "too late" }), { once: true });
    });
  });
  const before = await openHouse({
    replies: oneCall,
    tools: [hang, echo],
    hooks: scriptedHooks({
      async "tool.before"(_event, context) {
        await Promise.all([context.callTool("hook:guard", "hang", {}), context.ask(QUESTION)]);
        return PASS;
      },
    }),
  });
  const id = await open(before);
  const asked = listen(before, id, PERSON, (news) => news.kind === "event" && news.event.body.case === "approvalAsked");
  await say(before, id);
  await Promise.all([asked, begun.promise]);
  const after = await openHouse({
    replies: oneCall,
    tools: [echo],
    hooks: scriptedHooks({
      async "tool.before"(_event, context) {
        await context.callTool("hook:guard", "echo", {});
        return PASS;
      },
    }),
    dir: before.dir,
  });
  const heard = listen(after, id, NOBODY, isEnd);
  await after.sessions.resumeOpenTurns();
  const events = eventsOf(await heard);
  expect(cases(events).filter((kind) => kind === "approvalExpired")).toHaveLength(1);
  const ended = events.flatMap(({ body }) => (body.case === "toolCallEnded" ? [body.value] : []));
  expect(ended.map(({ callId, status }) => [callId, status])).toEqual([
    ["hook:guard:1", ToolCallStatus.LOST],
    ["call-1", ToolCallStatus.CANCELLED],
    ["hook:guard:2", ToolCallStatus.DONE],
    ["call-1", ToolCallStatus.DONE],
  ]);
});

test("a model cannot give its call the id of a hook's", async () => {
  async function* sly(): AsyncGenerator<Chunk> {
    yield { kind: "block", block: 0, content: { kind: "toolCall", callId: "hook:guard:1", tool: "echo", args: {} } };
    yield {
      kind: "end",
      stop: "calls",
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    };
  }
  const house = await openHouse({ replies: [sly, { text: "ok" }], tools: [echo] });
  const events = await converse(house, await open(house));
  const ended = events.flatMap(({ body }) => (body.case === "toolCallEnded" ? [body.value.callId] : []));
  expect(ended).toEqual(["call"]);
});

test("a permission is asked outside a turn as well, and answered there", async () => {
  const words: PersonsWord[] = [];
  const hooks = scriptedHooks({
    async "message.received"(_event, context) {
      words.push(await context.ask(QUESTION));
      return PASS;
    },
  });
  const house = await openHouse({ replies: [{ text: "ok" }], hooks });
  const id = await open(house);
  const heard = listen(house, id, PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked") {
      expect(news.event.body.value.turnId).toBe("");
      await house.sessions.answer(id, news.event.body.value.approvalId, true, "once");
    }
    return isEnd(news);
  });
  await say(house, id);
  const events = eventsOf(await heard);
  expect(words).toEqual([{ said: "yes", scope: "once" }]);
  expect(events.find(({ body }) => body.case === "approvalAnswered")?.body.value).toMatchObject({
    scope: ApprovalScope.ONCE,
  });
  expect(events.at(-1)?.body.value).toMatchObject({ outcome: TurnOutcome.DONE });
});

test.for(["hooks", "plugins"])("the journal of %s is no session, whatever it holds", async (kept) => {
  const house = await openHouse({ replies: [] });
  await house.journal.create(kept);
  await house.journal.append(kept, 0, [{ case: "hookSwitched", value: { hook: "x", enabled: false } }]);
  const gone = { ok: false, failure: { code: "not_found" } };
  await house.sessions.resumeOpenTurns();
  expect(await house.sessions.list(10)).toEqual([]);
  expect(await house.sessions.subscribe(kept, NOBODY, new AbortController().signal)).toMatchObject(gone);
  expect(await house.sessions.fork(kept, 0)).toMatchObject(gone);
  await writeFile(join(house.dir, "memory.jsonl"), "broken\n");
  for (const id of [kept, "memory"]) {
    expect(await house.sessions.remove(id)).toMatchObject(gone);
    await access(join(house.dir, `${id}.jsonl`));
  }
});
