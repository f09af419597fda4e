import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ApprovalAsked, ToolCallEnded } from "../proto/gen/clawd/v1/event_pb.ts";
import { dial, eventually } from "./kit/claw.ts";
import { type ModelReply, type ModelRequest, type ModelServer, startModelServer } from "./kit/model-server.ts";
import { type McpBench, openMcpBench } from "./mcp/mcp-house.ts";

/** Programs that stand back behind all others start slowly where the machine is busy. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const command = { command: "node", args: [join(import.meta.dirname, "mcp/asking-server.mjs")] };
/** "hello" and "sampled" in bytes, and 16 for what stands around each. */
const HELLO_PROMPT = 5 + 7 + 32;
let bench: McpBench;
let model: ModelServer;
/** What the model was asked by servers. */
const sampled: JsonObject[] = [];
let silent = Promise.withResolvers<ModelRequest>();

beforeAll(async () => {
  model = await startModelServer(answer);
  bench = await openMcpBench({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url });
  await bench.servers({
    asks: { ...command, sampling_tokens: 1000 },
    none: command,
    tight: { ...command, sampling_tokens: 100, sampling_ask: false },
    daily: { ...command, sampling_tokens: 200, sampling_ask: false },
    hung: { ...command, sampling_tokens: 500, sampling_ask: false },
  });
  for (const server of ["asks", "none", "tight", "daily", "hung"]) await bench.heard(server);
});
afterAll(async () => {
  await bench.close();
  await model.close();
});

/** In conversations it calls what it is told to; for servers it uses all that it may answer. */
async function answer(request: ModelRequest): Promise<ModelReply> {
  const body = request.json();
  const text = JSON.stringify(body.messages);
  if (!JSON.stringify(body.system ?? "").includes('"sampled"')) {
    const [, tool = "", args = "{}"] = /call (\S+) (\{.*?\})"/.exec(text.replaceAll("\\", "")) ?? [];
    if (text.includes("tool_result") || tool === "") return { blocks: [{ text: "done" }] };
    return { blocks: [{ call: tool, args: JSON.parse(args) }] };
  }
  sampled.push(body);
  if (text.includes("silence")) {
    silent.resolve(request);
    return { silence: true };
  }
  // Until the other one was judged.
  if (/"(?:one|two)"/.test(text))
    await eventually(
      () => log("tight"),
      (lines) => lines.includes("are left"),
      "the no",
    );
  return { blocks: [{ text: "words" }], usage: { input_tokens: 20, output_tokens: Number(body.max_tokens) } };
}

async function log(server: string): Promise<string> {
  return (await bench.claw("plugin", "logs", `mcp_${server}`)).stdout;
}

/** Calls a tool in a conversation where somebody is there, who answers what the server asks. */
async function callAttended(text: string, allowed: boolean, onStart = (_sessionId: string) => {}) {
  const { sessions } = dial(bench.home);
  const { sessionId } = await sessions.openSession({ workspace: bench.workspace });
  const news = sessions.subscribe({ sessionId, follow: true, canAnswer: true });
  const said = sessions.say({ sessionId, text: `call ${text}`, allow: ["mcp_*"] });
  const asked: ApprovalAsked[] = [];
  let ended: ToolCallEnded | undefined;
  for await (const { news: one } of news) {
    if (one.case !== "event") continue;
    const { body } = one.value;
    if (body.case === "toolCallStarted") onStart(sessionId);
    if (body.case === "toolCallEnded") ended = body.value;
    if (body.case === "turnEnded") break;
    if (body.case !== "approvalAsked") continue;
    asked.push(body.value);
    await sessions.answer({ sessionId, approvalId: body.value.approvalId, allowed });
  }
  await said;
  return { output: ended?.output ?? "", asked };
}

async function once(server: string): Promise<JsonObject> {
  return JSON.parse((await bench.call(`mcp_${server}_once`)).output);
}

test("a server without a budget is told of no model, and has none", async () => {
  expect(JSON.parse((await bench.call("mcp_none_capabilities")).output)).not.toHaveProperty("sampling");
  expect(await once("none")).toMatchObject({ code: -32601 });
  expect(JSON.parse((await bench.call("mcp_asks_capabilities")).output)).toMatchObject({ sampling: {} });
});

test("with a yes a server gets the words of the conversation's model, which hears nothing else and has no tools", async () => {
  const before = sampled.length;
  const { output, asked } = await callAttended("mcp_asks_once {}", true);
  expect(JSON.parse(output)).toEqual({
    ...{ role: "assistant", content: { type: "text", text: "words" }, stopReason: "endTurn" },
    model: expect.stringMatching(/^anthropic\//),
  });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({
    principal: "plugin:mcp_asks",
    because: String.raw`may it ask your model for up to 50 tokens, in its own words: "system: sampled\nuser: hello"`,
  });
  const [body, ...more] = sampled.slice(before);
  expect(more).toEqual([]);
  expect(body).toMatchObject({ max_tokens: 50 });
  expect(body).not.toHaveProperty("tools");
  expect(body).not.toHaveProperty("thinking");
  expect(JSON.stringify(body?.messages)).not.toContain("mcp_asks_once");
  expect(await log("asks")).toContain("for 70 tokens; 930 are left today");
});

test("a no, and nobody there, are a no with its class, and cost nothing", async () => {
  const before = sampled.length;
  const { output } = await callAttended("mcp_asks_once {}", false);
  expect(JSON.parse(output)).toMatchObject({ code: -1, data: { category: "policy_blocked" } });
  expect(JSON.parse(output).message).toContain("the person did not let it");
  expect((await once("asks")).message).toContain("nobody was there");
  expect(sampled).toHaveLength(before);
});

test("what is no text, and tools, are refused before anybody is asked", async () => {
  for (const tool of ["picture", "tools"]) {
    const { output, asked } = await callAttended(`mcp_asks_${tool} {}`, true);
    expect(JSON.parse(output)).toMatchObject({ code: -32602, data: { category: "invalid_input" } });
    expect(asked).toEqual([]);
  }
});

test("two at once cannot overdraw a budget: what the first may take is set aside", async () => {
  const answers = JSON.parse((await bench.call("mcp_tight_twice")).output) as JsonObject[];
  expect(answers.filter(({ role }) => role === "assistant")).toHaveLength(1);
  expect(answers.filter(({ code }) => code !== undefined)).toEqual([
    expect.objectContaining({ code: -32603, data: { category: "rate_limited" } }),
  ]);
});

test("a budget holds over a stop of the daemon, its last answer is as long as it reaches, and then there is none", async () => {
  expect(await once("daily")).toMatchObject({ stopReason: "endTurn" });
  expect(await once("daily")).toMatchObject({ stopReason: "endTurn" });
  await bench.claw("down");
  await once("daily");
  expect(sampled.at(-1)).toMatchObject({ max_tokens: 200 - 70 - 70 - HELLO_PROMPT });
  await bench.claw("down");
  const before = sampled.length;
  expect((await once("daily")).message).toContain("24 of the 200 tokens a day");
  expect(sampled).toHaveLength(before);
});

test("with its call a model's answer is stopped, and counts as far as it might have gone", async () => {
  silent = Promise.withResolvers();
  const { sessions } = dial(bench.home);
  let stopped: Promise<unknown> | undefined;
  await callAttended('mcp_hung_once {"said":"silence"}', true, (sessionId) => {
    stopped = silent.promise.then(() => sessions.interrupt({ sessionId }));
  });
  await stopped;
  await (await silent.promise).closed;
  const { output } = await callAttended("mcp_hung_once {}", true);
  expect(JSON.parse(output)).toMatchObject({ role: "assistant" });
  const reserved = HELLO_PROMPT + 2 + 50;
  expect(await log("hung")).toContain(`${500 - reserved - 70} are left today`);
});
