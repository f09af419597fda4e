import { afterEach, expect, test } from "vitest";
import { ToolCallStatus, TurnOutcome } from "../../../proto/gen/clawd/v1/event_pb.ts";
import { scriptedHooks } from "../../../tests/kit/scripted-hooks.ts";
import {
  cases,
  closeHouses,
  complaints,
  echo,
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
} from "../../../tests/kit/session-house.ts";
import type { ToolOutcome } from "../../domain/tool.ts";
import type { CallNews } from "../call-news.ts";
import type { CallOptions } from "../program-calls.ts";

afterEach(closeHouses);

const CALL: CallOptions = {
  tool: "echo",
  args: {},
  caller: "mcp:test",
  allow: [],
  yolo: false,
  canAnswer: false,
  lenderId: "",
};

async function begin(house: House, id: string, options: Partial<CallOptions>, signal = new AbortController().signal) {
  const called = await house.sessions.callTool(id, { ...CALL, ...options }, signal);
  if (!called.ok) throw new Error(called.failure.message);
  return called.value;
}

async function heardOf(news: AsyncIterable<CallNews>): Promise<readonly CallNews[]> {
  const heard: CallNews[] = [];
  for await (const one of news) heard.push(one);
  return heard;
}

async function call(house: House, id: string, options: Partial<CallOptions>) {
  const heard = await heardOf(await begin(house, id, options));
  const last = heard.at(-1);
  if (last?.kind !== "event" || last.event.body.case !== "toolCallEnded") throw new Error("the call did not end");
  return last.event.body.value;
}

/** All events of a session, once no turn of it is open. */
async function journalOf(house: House, id: string) {
  let caughtUp = false;
  let last: string | undefined;
  const news = await listen(house, id, NOBODY, (one) => {
    if (one.kind === "caughtUp") caughtUp = true;
    if (one.kind === "event") last = one.event.body.case;
    return caughtUp && last === "turnEnded";
  });
  return eventsOf(news);
}

/** A tool that says that it began and then waits until it is let go, or told to stop. */
function waiting(rerun: "safe" | "unsafe" = "safe") {
  const began = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const wait = tool(
    "wait",
    async (_args, { signal, progress }): Promise<ToolOutcome> => {
      progress("waits");
      began.resolve();
      signal.addEventListener("abort", () => stopped.resolve(), { once: true });
      await Promise.race([release.promise, stopped.promise]);
      return signal.aborted
        ? { status: "failed", output: "", failure: { code: "cancelled", message: "stopped" } }
        : { status: "done", output: "waited" };
    },
    { rerun },
  );
  return { wait, began: began.promise, release: release.resolve, stopped: stopped.promise };
}

test("a program's call is a turn of its own, and no model hears of it", async () => {
  const house = await openHouse({ replies: [{ text: "hello" }], tools: [echo] });
  const id = await open(house);
  expect(await call(house, id, { args: { path: "a" } })).toMatchObject({
    status: ToolCallStatus.DONE,
    output: 'echo {"path":"a"}',
  });
  const events = await journalOf(house, id);
  expect(cases(events)).toEqual([
    ...["sessionOpened", "turnStarted", "toolCallAsked", "toolCallStarted", "toolCallEnded", "turnEnded"],
  ]);
  expect(events[1]?.body.value).toMatchObject({ caller: "mcp:test", model: "" });
  expect(events.at(-1)?.body.value).toMatchObject({ outcome: TurnOutcome.DONE });
  const heard = listen(house, id, { ...NOBODY, after: events.length }, isEnd);
  await say(house, id);
  await heard;
  expect(JSON.stringify(house.prompts[0]?.messages)).not.toContain("echo");
});

test("a call passes the same gates as a model's: schema, rules, protected paths, hooks", async () => {
  const hooks = scriptedHooks({
    "tool.before": ({ value }) =>
      JSON.stringify(value).includes("secret") ? { do: "block", because: "secret" } : { do: "pass" },
    "tool.after": () => ({ do: "modify", value: { output: "redacted" } }),
  });
  const keys = tool("keys", async () => ({ status: "done", output: "" }), {
    needs: () => [{ kind: "write", path: "/home/me/.ssh/id" }],
  });
  const forbidden = tool("forbidden", async () => ({ status: "done", output: "" }));
  const house = await openHouse({ replies: [], tools: [echo, keys, forbidden], hooks });
  const id = await open(house);
  expect((await call(house, id, { args: { path: 7 } })).status).toBe(ToolCallStatus.FAILED);
  expect((await call(house, id, { tool: "forbidden", yolo: true })).status).toBe(ToolCallStatus.DENIED);
  expect((await call(house, id, { tool: "keys", yolo: true })).output).toContain("keys lie there");
  expect((await call(house, id, { args: { path: "secret" } })).output).toContain('hook "guard" blocked echo: secret');
  expect(await call(house, id, { tool: "echo_alias" })).toMatchObject({ tool: "echo", output: "redacted" });
  expect((await call(house, id, { tool: "nothing" })).output).toContain('there is no tool "nothing"');
});

test("a call that needs a yes is refused with nobody there, allowed in advance, or answered by any client", async () => {
  const act = tool("act", async () => ({ status: "done", output: "acted" }), { category: "shell" });
  const house = await openHouse({ replies: [], tools: [act] });
  const id = await open(house);
  expect(await call(house, id, { tool: "act" })).toMatchObject({
    status: ToolCallStatus.DENIED,
    output: expect.stringContaining("nobody is there to give it"),
  });
  expect((await call(house, id, { tool: "act", allow: ["act"] })).output).toBe("acted");
  let allowed = false;
  void listen(house, id, PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked")
      await house.sessions.answer(id, news.event.body.value.approvalId, allowed, "once");
    return false;
  });
  expect((await call(house, id, { tool: "act" })).status).toBe(ToolCallStatus.DENIED);
  allowed = true;
  const heard = await heardOf(await begin(house, id, { tool: "act" }));
  const kinds = heard.map((one) => (one.kind === "event" ? one.event.body.case : one.kind));
  expect(kinds).toEqual(["accepted", "approvalAsked", "approvalAnswered", "toolCallStarted", "toolCallEnded"]);
});

test("whoever waits for one call answers no question about another, of which they never hear", async () => {
  const act = tool("act", async () => ({ status: "done", output: "acted" }), { category: "shell" });
  const house = await openHouse({ replies: [], tools: [act] });
  const id = await open(house);
  const news = await begin(house, id, { tool: "act", canAnswer: true });
  for await (const one of news) {
    if (one.kind !== "event" || one.event.body.case !== "approvalAsked") continue;
    expect(await call(house, id, { tool: "act" })).toMatchObject({
      status: ToolCallStatus.DENIED,
      output: expect.stringContaining("nobody is there to give it"),
    });
    await house.sessions.answer(id, one.event.body.value.approvalId, false, "once");
  }
});

test("calls of one program go side by side in one turn, and those that are not safe to rerun one by one", async () => {
  const { wait, began, release } = waiting();
  const order: string[] = [];
  const step = tool(
    "step",
    async ({ path }) => {
      order.push(`${String(path)} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${String(path)} ends`);
      return { status: "done", output: "" };
    },
    { rerun: "unsafe" },
  );
  const house = await openHouse({ replies: [], tools: [echo, wait, step] });
  const id = await open(house);
  const slow = call(house, id, { tool: "wait" });
  await began;
  expect((await call(house, id, {})).status).toBe(ToolCallStatus.DONE);
  await Promise.all(["a", "b"].map((path) => call(house, id, { tool: "step", args: { path } })));
  expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  release();
  expect((await slow).output).toBe("waited");
  const events = await journalOf(house, id);
  expect(cases(events).filter((name) => name === "turnStarted")).toHaveLength(1);
});

test("whoever hangs up takes the call with them, and no other call", async () => {
  const { wait, began, stopped } = waiting();
  const house = await openHouse({ replies: [], tools: [echo, wait] });
  const id = await open(house);
  const hangUp = new AbortController();
  const news = await begin(house, id, { tool: "wait" }, hangUp.signal);
  const heard = heardOf(news);
  await began;
  const other = call(house, id, {});
  hangUp.abort();
  await stopped;
  expect((await heard).some((one) => one.kind === "event" && one.event.body.case === "toolCallEnded")).toBe(false);
  expect((await other).status).toBe(ToolCallStatus.DONE);
  const ends = (await journalOf(house, id)).flatMap(({ body }) => (body.case === "toolCallEnded" ? [body.value] : []));
  expect(ends.map(({ tool: name, status }) => [name, status])).toEqual(
    expect.arrayContaining([
      ["wait", ToolCallStatus.CANCELLED],
      ["echo", ToolCallStatus.DONE],
    ]),
  );
  expect(complaints).toEqual([]);
});

test("a person stops all calls of a program, and whatever it asks for then waits for the next turn", async () => {
  const { wait, began } = waiting();
  const house = await openHouse({ replies: [], tools: [echo, wait] });
  const id = await open(house);
  const slow = call(house, id, { tool: "wait" });
  await began;
  expect((await house.sessions.interrupt(id)).ok).toBe(true);
  expect((await slow).status).toBe(ToolCallStatus.CANCELLED);
  const events = await journalOf(house, id);
  expect(events.at(-1)?.body.value).toMatchObject({ outcome: TurnOutcome.CANCELLED });
  expect((await call(house, id, {})).status).toBe(ToolCallStatus.DONE);
});

test("words and calls of others are refused while a program's calls run, and a program's while a model works", async () => {
  const { wait, began, release } = waiting();
  const house = await openHouse({ replies: [{ calls: [{ tool: "wait" }] }, { text: "done" }], tools: [echo, wait] });
  const id = await open(house);
  const slow = call(house, id, { tool: "wait" });
  await began;
  const words = { text: "go", model: "", allow: [], yolo: false };
  expect(await house.sessions.say(id, words)).toMatchObject({ ok: false, failure: { code: "conflict" } });
  const never = new AbortController().signal;
  for (const other of [{ caller: "mcp:other" }, { yolo: true }, { allow: ["echo"] }]) {
    const refused = await house.sessions.callTool(id, { ...CALL, ...other }, never);
    expect(refused).toMatchObject({ ok: false, failure: { code: "conflict" } });
  }
  release();
  await slow;
  await journalOf(house, id);
  const heard = listen(house, id, { ...NOBODY, after: 7 }, isEnd);
  await say(house, id);
  expect(await house.sessions.callTool(id, CALL, never)).toMatchObject({ ok: false, failure: { code: "conflict" } });
  await heard;
});

test("a call that names nothing, or a pattern that is none, is refused before anything is written", async () => {
  const house = await openHouse({ replies: [], tools: [echo] });
  const id = await open(house);
  const never = new AbortController().signal;
  for (const wrong of [{ tool: " " }, { caller: "" }, { tool: "x".repeat(201) }, { allow: ["a b"] }]) {
    const refused = await house.sessions.callTool(id, { ...CALL, ...wrong }, never);
    expect(refused).toMatchObject({ ok: false, failure: { code: "invalid" } });
  }
  expect(house.commits).toEqual([1]);
});

test("a daemon that is killed leaves a lost call and a closed turn, and nothing runs again", async () => {
  let runs = 0;
  const hang = tool("hang", async (_args, { signal }) => {
    runs += 1;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return { status: "done", output: "" };
  });
  const house = await openHouse({ replies: [], tools: [hang] });
  const id = await open(house);
  const started = listen(
    house,
    id,
    NOBODY,
    (news) => news.kind === "event" && news.event.body.case === "toolCallStarted",
  );
  void heardOf(await begin(house, id, { tool: "hang" }));
  const events = eventsOf(await started);
  // The journal as a kill left it, taken up by the next daemon.
  const copy = await openHouse({ replies: [], tools: [hang] });
  await copy.journal.create(id);
  await copy.journal.append(
    id,
    0,
    events.flatMap(({ body }) => (body.case === undefined ? [] : [body])),
  );
  await copy.sessions.resumeOpenTurns();
  const after = await journalOf(copy, id);
  const [lost, end] = after.slice(-2).map(({ body }) => body.value);
  expect(lost).toMatchObject({ tool: "hang", status: ToolCallStatus.LOST });
  expect(end).toMatchObject({ outcome: TurnOutcome.FAILED });
  expect(runs).toBe(1);
});
