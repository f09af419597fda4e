import { spawn } from "node:child_process";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import type { Exit } from "../../sandbox/os/launcher.ts";
import { openJsonRpcLink } from "./json-rpc-link.ts";
import { createLogRing, type LogRing } from "./log-ring.ts";
import type { LinkError, PluginLink, ToolResult } from "./plugin-link.ts";

type Opened = { readonly link: PluginLink; readonly log: LogRing; readonly exited: Promise<Exit>; kill(): void };

const opened: Opened[] = [];
afterEach(async () => {
  for (const { link, kill, exited } of opened.splice(0)) {
    link.close();
    kill();
    await exited;
  }
});

/** A process that runs `answer(message, say)` for each line of its input; `say` writes raw text. */
function open(answer: string): Opened {
  const program = `
    const say = (text) => process.stdout.write(text);
    const reply = (id, result) => say(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
    let heard = 0;
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      process.stderr.write(line + "\\n");
      const message = JSON.parse(line);
      heard++;
      ${answer}
    });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "pipe"] });
  const exited = new Promise<Exit>((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  const log = createLogRing(() => 0);
  void log.drain("stderr", child.stderr);
  const link = openJsonRpcLink({ stdin: child.stdin, stdout: child.stdout, exited }, log);
  const one = { link, log, exited, kill: () => child.kill("SIGKILL") };
  opened.push(one);
  return one;
}

const never = new AbortController().signal;
const CALL = { callId: "c1", sessionId: "s1", workspace: "/w", tool: "act", args: { x: 1 }, timeLimitMs: 1000 };

async function call(link: PluginLink, signal = never): Promise<ToolResult> {
  for await (const news of link.callTool(CALL, signal)) if (news.kind === "result") return news.result;
  throw new Error("no result");
}

function hook(link: PluginLink, at: string, value: JsonObject, signal = never) {
  return link.runHook({ at, value }, signal);
}

const text = (words: string) => [{ kind: "text", text: words }];

test("initialize asks with the version of the protocol and fills the gaps of the answer", async () => {
  const { link, log } = open(`reply(message.id, { name: "old", version: "1.2", tools: [{ name: "act" }] });`);
  expect(await link.initialize({}, never)).toEqual({ version: "1.2.0", tools: ["act"], features: [] });
  await expect
    .poll(() => log.lines())
    .toEqual(['stderr: {"jsonrpc":"2.0","method":"initialize","params":{"protocol_version":1},"id":1}']);
});

test.each([
  ["a text", { success: true, result: "fine" }, { parts: text("fine") }],
  ["what is no text, as JSON", { success: true, result: { a: [1] } }, { parts: text('{"a":[1]}') }],
  ["a refusal", { success: false, result: "no" }, { parts: text("no"), failure: { code: "invalid", message: "no" } }],
  ["no object", "fine", { failure: { message: "the plugin answered fine, which is no result" } }],
])("the result of a tool may be %s", async (_what, result, expected) => {
  const { link } = open(`reply(message.id, ${JSON.stringify(result)});`);
  expect(await call(link)).toMatchObject(expected);
});

test("an error of the protocol is a failed result in its words", async () => {
  const { link } = open(`say(JSON.stringify({ id: message.id, error: { code: -1, message: "not today" } }) + "\\n");`);
  expect(await call(link)).toMatchObject({ parts: text("not today"), failure: { message: "not today" } });
});

test("noise, broken JSON and answers to nobody are passed over, and logged", async () => {
  const { link, log } = open(`
    say("starting up\\n{broken\\n[1]\\n\\n" + JSON.stringify({ jsonrpc: "2.0", method: "note" }) + "\\n");
    reply(77, { success: true, result: "wrong" });
    reply(message.id, { success: true, result: "right" });`);
  expect(await call(link)).toMatchObject({ parts: text("right") });
  expect(log.lines()).toEqual(expect.arrayContaining(["stdout: starting up", "stdout: {broken", "stdout: [1]"]));
});

test("requests go out one at a time, in order, with ids from 1 up", async () => {
  const { link, log } = open(`setImmediate(() => reply(message.id, { success: true, result: String(message.id) }));`);
  const results = await Promise.all([call(link), call(link), call(link)]);
  expect(results.map(({ parts }) => parts)).toEqual([text("1"), text("2"), text("3")]);
  const ids = () => log.lines().map((line) => JSON.parse(line.slice("stderr: ".length)).id as number);
  await expect.poll(ids).toEqual([1, 2, 3]);
});

test("a late answer never becomes the answer to the next request", async () => {
  const { link } = open(`
    if (heard === 1) globalThis.first = message.id;
    else { reply(first, { success: true, result: "late" }); reply(message.id, { success: true, result: "own" }); }`);
  const giveUp = new AbortController();
  const first = call(link, giveUp.signal);
  giveUp.abort();
  await expect(first).rejects.toMatchObject({ kind: "cancelled" } satisfies Partial<LinkError>);
  expect(await call(link)).toMatchObject({ parts: text("own") });
});

test("a line over 10 MiB fails its request only", async () => {
  const { link } = open(`
    if (heard === 1) reply(message.id, { success: true, result: "x".repeat(11 * 1024 * 1024) });
    else reply(message.id, { success: true, result: "small" });`);
  await expect(call(link)).rejects.toMatchObject({ kind: "too large" });
  expect(await call(link)).toMatchObject({ parts: text("small") });
});

test("what waits when the process dies is broken, and so is what comes after", async () => {
  const { link, exited } = open(`process.kill(process.pid, "SIGKILL");`);
  const calls = [call(link), call(link)].map((one) => expect(one).rejects.toMatchObject({ kind: "broken" }));
  await Promise.all(calls);
  await exited;
  await expect(call(link)).rejects.toMatchObject({ kind: "broken" });
  expect(await link.answers(1000)).toBe(false);
});

test("a process that closed its pipes and lives is broken, too", async () => {
  const { link } = open(`require("node:fs").closeSync(1);`);
  await expect(call(link)).rejects.toMatchObject({ kind: "broken" });
});

test("one that does not read gets no more than the limit, and the host stays small", async () => {
  const { link } = open(`process.stdin.pause(); require("node:child_process").execSync("sleep 60");`);
  const args = { x: "x".repeat(6 * 1024 * 1024) };
  const kinds: string[] = [];
  for (let count = 0; count < 6; count++) {
    const giveUp = new AbortController();
    const news = link.callTool({ ...CALL, args }, giveUp.signal)[Symbol.asyncIterator]();
    const over = news.next().catch((cause: LinkError) => kinds.push(cause.message));
    giveUp.abort();
    await over;
  }
  expect(kinds.at(-1)).toBe("it does not read its input");
});

const EVENTS: readonly [string, string, JsonObject, JsonValue, object][] = [
  [
    "message.received",
    "a message is replaced",
    { text: "a" },
    { action: "continue", message: "b" },
    { case: "modify", value: { text: "b" } },
  ],
  ["message.received", "skip discards", { text: "a" }, { action: "skip", message: "b" }, { case: "skip" }],
  ["message.received", "stop discards", { text: "a" }, { action: "stop" }, { case: "skip" }],
  ["message.received", "an unknown action goes on", { text: "a" }, { action: "dance" }, { case: "pass" }],
  ["message.received", "no object is a failure", { text: "a" }, [1], { case: "failure" }],
  ["message.received", "data of a wrong type is left out", { text: "a" }, { message: 7 }, { case: "pass" }],
  [
    "context.build",
    "a stop adds all the same",
    { text: "a", context: "" },
    { action: "stop", dynamic_context: "c" },
    { case: "modify", value: { text: "a", context: "c" } },
  ],
  [
    "model.before",
    "both parts are replaced",
    { model: "m", system: "s", context: "" },
    { base_prompt: "S", dynamic_context: "C" },
    { case: "modify", value: { model: "m", system: "S", context: "C" } },
  ],
  ["model.before", "skip leaves its data out", { system: "s" }, { action: "skip", base_prompt: "S" }, { case: "skip" }],
  [
    "model.after",
    "the text is replaced",
    { text: "a", calls: [] },
    { text: "b" },
    { case: "modify", value: { text: "b", calls: [] } },
  ],
  ["tool.before", "stop blocks", { tool: "write" }, { action: "stop", result: "no" }, { case: "block", value: "no" }],
  ["tool.before", "and has words of its own", { tool: "write" }, { action: "stop" }, { case: "block" }],
  [
    "tool.after",
    "the output is replaced",
    { output: "a", status: "done" },
    { result: "b" },
    { case: "modify", value: { output: "b", status: "done" } },
  ],
];

test.each(EVENTS)("%s: %s", async (at, _what, value, answer, verdict) => {
  const { link } = open(`reply(message.id, ${JSON.stringify(answer)});`);
  expect((await hook(link, at, value)).verdict).toMatchObject(verdict);
});

test("stop applies its data and asks nobody after it", async () => {
  const { link } = open(`reply(message.id, { action: "stop", text: "b" });`);
  expect(await hook(link, "model.after", { text: "a" })).toMatchObject({ verdict: { case: "modify" }, last: true });
});

test("each point has the parameters of its legacy hook", async () => {
  const { link, log } = open(`reply(message.id, {});`);
  await hook(link, "message.received", { text: "hi" });
  await hook(link, "context.build", { text: "hi", context: "c" });
  await hook(link, "model.before", { model: "m", step: 1, system: "s", context: "c" });
  await hook(link, "model.after", { text: "t", calls: [{ tool: "read", args: { path: "a" } }], stop: "calls" });
  await hook(link, "tool.before", { tool: "read", args: { path: "a" } });
  await hook(link, "tool.after", { tool: "read", args: {}, status: "failed", output: "o" });
  const asked = () =>
    log.lines().map((line) => {
      const { method, params } = JSON.parse(line.slice("stderr: ".length));
      return [method, params];
    });
  await expect.poll(asked).toEqual([
    ["hook/post_user_input", { message: "hi" }],
    ["hook/context_enhance", { user_message: "hi", dynamic_context: "c" }],
    ["hook/pre_llm_send", { base_prompt: "s", dynamic_context: "c" }],
    ["hook/post_llm_response", { text: "t", tool_calls: [{ name: "read", arguments: { path: "a" } }] }],
    ["hook/pre_tool_execute", { tool_name: "read", arguments: { path: "a" } }],
    ["hook/post_tool_execute", { tool_name: "read", arguments: {}, result: "o", success: false }],
  ]);
});

test("a point that has no legacy hook is passed without asking", async () => {
  const { link } = open(`process.exit(1);`);
  expect((await hook(link, "step.before", { step: 1 })).verdict).toMatchObject({ case: "pass" });
  expect(await link.answers(1000)).toBe(true);
});

test("a hook that answers with an error has failed, in its words", async () => {
  const { link } = open(`say(JSON.stringify({ id: message.id, error: { message: "oh" } }) + "\\n");`);
  expect((await hook(link, "model.after", { text: "a" })).verdict).toEqual({ case: "failure", value: "oh" });
});
