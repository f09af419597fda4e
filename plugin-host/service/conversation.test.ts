import { once } from "node:events";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Event } from "../../core/domain/event.ts";
import type { Tool } from "../../core/domain/tool.ts";
import type { News } from "../../core/session/news.ts";
import { ToolCallStatus, TurnOutcome } from "../../proto/gen/clawd/v1/event_pb.ts";
import {
  cases,
  closeHouses,
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
} from "../../tests/kit/session-house.ts";
import type { Asking } from "../fixtures/asking.ts";
import { bundleFixture, closeLab, type Lab, manifestOf, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("asking.ts");
});
beforeEach(async () => {
  lab = await openLab();
});
afterEach(async () => {
  await closeHouses();
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const ask = (question: string): Asking => ({ steps: [{ rpc: "ask", request: { callId: "$call", question } }] });
const callTool = (tool: string): Asking => ({
  steps: [{ rpc: "callTool", request: { callId: "$call", tool, args: { path: "x" } } }],
});

/** A house whose model calls the plugin once. */
async function converseWith(
  asking: Asking,
  permissions: readonly string[] = [],
  always: Asking | string = lab.dir,
  others: readonly Tool[] = [],
): Promise<{ readonly house: House; readonly id: string }> {
  const manifest = manifestOf("asker", {
    launch: { command: ["node", "main.mjs", typeof always === "string" ? always : JSON.stringify(always)] },
    permissions: permissions.map((permission) => ({ permission, reason: "a test" })),
    limits: { concurrentCalls: 16 },
  });
  const installed = await lab.host.admin.install(lab.author(manifest, { "main.mjs": program }), true);
  if (!installed.ok) throw new Error(installed.failure.message);
  const house = await openHouse({
    replies: [{ calls: [{ tool: "plugin_asker_act", args: asking as JsonObject }] }, { text: "done" }],
    tools: [echo, ...others, ...lab.host.tools()],
  });
  return { house, id: await open(house) };
}

function bodiesOf<Case extends Event["body"]["case"]>(events: readonly Event[], wanted: Case) {
  return events.flatMap(({ body }) =>
    body.case === wanted ? [body.value as Extract<Event["body"], { case: Case }>["value"]] : [],
  );
}

const isAsked = (news: News) => news.kind === "event" && news.event.body.case === "approvalAsked";
const outputs = (events: readonly Event[]) => bodiesOf(events, "toolCallEnded").map(({ output }) => output);

test.for([
  ["yes", true],
  ["no", false],
] as const)("a plugin's question is an approval in its name, and any client answers it: %s", async ([, allowed]) => {
  const { house, id } = await converseWith(ask("Send it?"));
  const heard = listen(house, id, PERSON, async (news) => {
    if (news.kind === "event" && news.event.body.case === "approvalAsked")
      // Even a client that says "always" answers this time only.
      await house.sessions.answer(id, news.event.body.value.approvalId, allowed, "always");
    return isEnd(news);
  });
  await say(house, id, "go", { yolo: true });
  const events = eventsOf(await heard);
  expect(bodiesOf(events, "approvalAsked")).toMatchObject([
    { principal: "plugin:asker", because: "Send it?", tool: "", permission: "" },
  ]);
  expect(outputs(events)).toEqual([JSON.stringify([{ ok: { ...(allowed ? { yes: true } : {}), answered: true } }])]);
});

test("where nobody is, a question is not answered, and nothing of it is written", async () => {
  const { house, id } = await converseWith(ask("Anybody?"));
  const heard = listen(house, id, NOBODY, isEnd);
  await say(house, id, "go", { yolo: true });
  const events = eventsOf(await heard);
  expect(outputs(events)).toEqual(['[{"ok":{}}]']);
  expect(cases(events)).not.toContain("approvalAsked");
});

test("a stop takes the question back, ends the plugin's call, and the turn", async () => {
  const { house, id } = await converseWith(ask("Well?"));
  const heard = listen(house, id, PERSON, async (news) => {
    if (isAsked(news)) await house.sessions.interrupt(id);
    return isEnd(news);
  });
  await say(house, id, "go", { yolo: true });
  const events = eventsOf(await heard);
  expect(cases(events)).toEqual(expect.arrayContaining(["approvalAsked", "approvalExpired", "toolCallEnded"]));
  expect(bodiesOf(events, "turnEnded")).toMatchObject([{ outcome: TurnOutcome.CANCELLED }]);
});

test("a tool is called through the gates, in the plugin's name, after the decision is in the journal", async () => {
  const { house, id } = await converseWith(callTool("echo"), ["tool=echo"]);
  const heard = listen(house, id, NOBODY, isEnd);
  await say(house, id, "go", { yolo: true });
  const events = eventsOf(await heard);
  const order = cases(events).filter((one) =>
    ["permissionDecided", "toolCallStarted", "toolCallEnded"].includes(one ?? ""),
  );
  expect(order).toEqual(["toolCallStarted", "permissionDecided", "toolCallStarted", "toolCallEnded", "toolCallEnded"]);
  expect(bodiesOf(events, "permissionDecided")).toMatchObject([
    { principal: "plugin:asker", permission: "tool=echo", allowed: true, sessionId: id },
  ]);
  expect(bodiesOf(events, "toolCallStarted")[1]).toMatchObject({ callId: "plugin:asker:1", tool: "echo" });
  expect(outputs(events)[0]).toBe('echo {"path":"x"}');
});

test("a stop ends what the plugin has called as well", async () => {
  const slow = tool("slow", async (_args, { signal }) => {
    await once(signal, "abort");
    return { status: "failed", output: "stopped", failure: { code: "cancelled", message: "stopped" } };
  });
  const { house, id } = await converseWith(callTool("slow"), ["tool=slow"], lab.dir, [slow]);
  const heard = listen(house, id, NOBODY, async (news) => {
    const begun = news.kind === "event" && news.event.body.case === "toolCallStarted" ? news.event.body.value.tool : "";
    if (begun === "slow") await house.sessions.interrupt(id);
    return isEnd(news);
  });
  await say(house, id, "go", { yolo: true });
  const events = eventsOf(await heard);
  const ends = bodiesOf(events, "toolCallEnded").map(({ tool: name, status }) => [name, status]);
  expect(ends).toEqual(
    expect.arrayContaining([
      ["slow", ToolCallStatus.CANCELLED],
      ["plugin_asker_act", ToolCallStatus.CANCELLED],
    ]),
  );
  expect(bodiesOf(events, "turnEnded")).toMatchObject([{ outcome: TurnOutcome.CANCELLED }]);
});

test("a plugin that calls itself comes to an end", async () => {
  const itself = "plugin_asker_act";
  const always: Asking = { steps: [{ rpc: "callTool", request: { callId: "$call", tool: itself } }] };
  const { house, id } = await converseWith({}, [`tool=${itself}`], always);
  const heard = listen(house, id, NOBODY, isEnd);
  await say(house, id, "go", { yolo: true });
  const events = eventsOf(await heard);
  expect(bodiesOf(events, "toolCallStarted")).toHaveLength(8);
  expect(outputs(events)).toHaveLength(8);
  expect(outputs(events)[0]).toContain("calls stand inside one another");
  expect(bodiesOf(events, "turnEnded")).toMatchObject([{ outcome: TurnOutcome.DONE }]);
});
