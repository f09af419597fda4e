import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Bench, eventually, openBench, processesWith, type Ran } from "../kit/claw.ts";
import { type ModelReply, type ModelServer, startModelServer } from "../kit/model-server.ts";
import { type LegacyScript, writeScript } from "./legacy-script.ts";

/*
 * Legacy plugins: executables that speak JSON-RPC on their standard input and output, through the bins and the daemon,
 * with a model whose requests are read.
 */

let bench: Bench;
let model: ModelServer;
let replies: ModelReply[] = [];
let asked: JsonObject[] = [];
const installed: string[] = [];

beforeAll(async () => {
  model = await startModelServer((request) => {
    asked.push(request.json());
    return replies.shift() ?? { blocks: [{ text: "Done." }] };
  });
  bench = await openBench({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url });
  await mkdir(join(bench.workspace, "scripts"));
  await writeFile(join(bench.workspace, "notes.md"), "the engine weaves patterns\n");
});

afterAll(async () => {
  await bench.close();
  await model.close();
  await eventually(
    () => processesWith(bench.home),
    (left) => left.length === 0,
    "the end of every process",
  );
});

beforeEach(() => {
  replies = [];
  asked = [];
});
afterEach(async () => {
  for (const name of installed.splice(0)) await bench.claw("plugin", "remove", name);
});

async function install(script: LegacyScript): Promise<Ran> {
  const file = await writeScript(join(bench.workspace, "scripts"), script);
  const ran = await bench.claw("plugin", "install", file, "--yes", "--trust");
  if (ran.code === 0) installed.push(script.name);
  return ran;
}

async function installAll(...scripts: readonly LegacyScript[]): Promise<void> {
  for (const script of scripts) expect(await install(script)).toMatchObject({ code: 0, stderr: expect.anything() });
}

const say = (text: string, ...more: readonly string[]) => bench.claw("say", text, ...more);
const call = (tool: string, args: JsonObject = {}): ModelReply => ({ blocks: [{ call: tool, args }] });

/** The requests that a plugin got, without the handshake. */
async function heardBy(name: string): Promise<{ method: string; params: JsonObject; id: number }[]> {
  const { stdout } = await bench.claw("plugin", "logs", name);
  return stdout
    .split("\n")
    .filter((line) => line.includes("got {"))
    .map((line) => JSON.parse(line.slice(line.indexOf("got ") + 4)))
    .filter(({ method }) => method !== "initialize");
}

/** What the model got back for its tools. */
function resultsSeen(): string {
  return JSON.stringify(asked.at(-1)?.messages ?? []);
}

const TOOL = { tools: [{ name: "act", description: "Acts.", parameters: [{ name: "text", required: true }] }] };

test("a plugin that says only its name is listed with the defaults", async () => {
  await installAll({ name: "minimal" });
  const { stdout } = await bench.claw("plugin", "list", "--json");
  expect(JSON.parse(stdout.trim().split("\n")[0] ?? "")).toMatchObject({ name: "minimal", version: "0.0.0" });
});

test.each([["my_plug"], ["9x"], ["x".repeat(65)]])("the name %s is refused, and no process stays", async (name) => {
  expect(await install({ name })).toMatchObject({ code: expect.not.stringContaining("0") });
  expect((await bench.claw("plugin", "list")).stdout).not.toContain(name);
  expect(processesWith(join(bench.workspace, "scripts"))).toEqual([]);
});

test("a broken one is refused, and a good one works beside it", { timeout: 30_000 }, async () => {
  const broken = await install({ name: "broken", on: { initialize: "echo '{broken'" } });
  expect(broken.code).not.toBe(0);
  expect(broken.stderr).toContain('it did not answer "initialize" within 5000 ms');
  await installAll({ name: "good", manifest: TOOL, on: { "tool/execute": `reply '{"success":true,"result":"ok"}'` } });
  replies = [call("plugin_good_act", { text: "a" })];
  await say("go", "--yolo");
  expect(resultsSeen()).toContain('"ok"');
});

test("a second one of the same name is no second entry", async () => {
  await installAll({ name: "twin" });
  await install({ name: "twin", manifest: { description: "another" } });
  const { stdout } = await bench.claw("plugin", "list", "--json");
  expect(
    stdout
      .trim()
      .split("\n")
      .filter((line) => line.includes('"twin"')),
  ).toHaveLength(1);
});

test("an unknown hook is a warning", async () => {
  await installAll({ name: "strange", manifest: { hooks: ["foo", "post_user_input"] } });
  await say("hello");
  expect((await heardBy("strange")).map(({ method }) => method)).toEqual(["hook/post_user_input"]);
});

test("its environment is the few names of a plain program, and it holds no descriptor but the three", async () => {
  const dump = `names=$(env | cut -d= -f1 | tr '\\n' ' '); open=
      for fd in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && open="$open $fd"; done
      reply "{\\"success\\":true,\\"result\\":\\"names: $names open:$open.\\"}"`;
  await installAll({ name: "dump", manifest: TOOL, on: { "tool/execute": dump } });
  replies = [call("plugin_dump_act", { text: "a" })];
  await say("go", "--yolo");
  const [, names = "", open] = /names: ([^:]*) open:([^.]*)\./.exec(resultsSeen()) ?? [];
  const allowed = ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "USER", "LOGNAME", "TMPDIR", "TZ", "PWD", "_"];
  expect(names.split(" ").filter((name) => name !== "" && !allowed.includes(name))).toEqual([]);
  expect(open).toBe("");
});

test("its tools are shown to the model, ask before they run, and get their arguments", async () => {
  await installAll({
    name: "worker",
    manifest: TOOL,
    on: { "tool/execute": `reply '{"success":true,"result":{"a":1}}'` },
  });
  replies = [call("plugin_worker_act", { text: "hi" })];
  await say("go");
  expect(JSON.stringify(asked[0]?.tools)).toContain("plugin_worker_act");
  expect(await heardBy("worker")).toEqual([]);
  replies = [call("plugin_worker_act", { text: "hi" })];
  await say("go", "--yolo");
  expect(await heardBy("worker")).toMatchObject([
    { method: "tool/execute", params: { name: "act", arguments: { text: "hi" } } },
  ]);
  expect(resultsSeen()).toContain('{\\"a\\":1}');
});

test.each([
  ["a refusal", `reply '{"success":false,"result":"no such thing"}'`, "no such thing"],
  ["an error", `printf '{"id":%s,"error":{"code":1,"message":"went wrong"}}\\n' "$id"`, "went wrong"],
  ["its death", "exit 7", "ended with code 7"],
])("%s is a failed call", async (_what, shell, words) => {
  await installAll({ name: "failing", manifest: TOOL, on: { "tool/execute": shell } });
  replies = [call("plugin_failing_act", { text: "a" })];
  expect(await say("go", "--yolo")).toMatchObject({ code: 0 });
  expect(resultsSeen()).toContain(words);
});

test("hooks run by priority, each with what the one before made of it", async () => {
  const letter = (name: string, priority: number): LegacyScript => ({
    name,
    manifest: { priority, hooks: ["post_user_input"] },
    on: { "hook/post_user_input": `reply "{\\"message\\":\\"$(field message)-${name}\\"}"` },
  });
  await installAll(letter("c", 900), letter("a", 100), letter("b", 500));
  await say("x");
  expect(resultsSeen()).toContain("x-a-b-c");
});

test("after a stop nobody else is asked, and its data counts", async () => {
  await installAll(
    {
      name: "first",
      manifest: { priority: 100, hooks: ["post_llm_response"] },
      on: { "hook/post_llm_response": `reply '{"action":"stop","text":"edited"}'` },
    },
    { name: "second", manifest: { priority: 200, hooks: ["post_llm_response"] } },
  );
  expect((await say("x")).stdout).toContain("edited");
  expect(await heardBy("second")).toEqual([]);
});

test.each(["skip", "stop"])("%s of a message discards the turn, and the command ends well", async (action) => {
  await installAll({
    name: "doorkeeper",
    manifest: { hooks: ["post_user_input"] },
    on: { "hook/post_user_input": `reply '{"action":"${action}"}'` },
  });
  expect(await say("x")).toMatchObject({ code: 0 });
  expect(asked).toEqual([]);
});

test("what two plugins add to the context is all there, also when the first says stop", async () => {
  const add = (name: string, priority: number): LegacyScript => ({
    name,
    manifest: { priority, hooks: ["context_enhance"] },
    on: {
      "hook/context_enhance": `reply "{\\"action\\":\\"stop\\",\\"dynamic_context\\":\\"$(field dynamic_context) from-${name}\\"}"`,
    },
  });
  await installAll(add("one", 100), add("two", 200));
  await say("x");
  expect(JSON.stringify(asked[0])).toContain("from-one from-two");
  expect(await heardBy("one")).toMatchObject([{ params: { user_message: "x", dynamic_context: "" } }]);
});

test("the prompt can be edited, once a request", async () => {
  await installAll({
    name: "prompter",
    manifest: { hooks: ["pre_llm_send"] },
    on: { "hook/pre_llm_send": `reply '{"base_prompt":"Be brief.","dynamic_context":"It is late."}'` },
  });
  replies = [call("read", { path: "notes.md" })];
  await say("x");
  expect(asked).toHaveLength(2);
  for (const request of asked) {
    expect(JSON.stringify(request.system)).toContain("Be brief.");
    expect(JSON.stringify(request)).toContain("It is late.");
  }
  expect(await heardBy("prompter")).toHaveLength(2);
});

test("the words of the model can be edited before anybody reads them", async () => {
  await installAll({
    name: "editor",
    manifest: { hooks: ["post_llm_response"] },
    on: { "hook/post_llm_response": `reply '{"text":"edited"}'` },
  });
  replies = [{ blocks: [{ text: "raw words" }] }];
  const { stdout } = await say("x");
  expect(stdout).toContain("edited");
  expect(stdout).not.toContain("raw words");
  expect(await heardBy("editor")).toMatchObject([{ params: { text: "raw words", tool_calls: [] } }]);
});

test("a tool that is stopped does not run, and its plugin's words are its result; nobody hears of it afterwards", async () => {
  await installAll({
    name: "guard",
    manifest: { hooks: ["pre_tool_execute", "post_tool_execute"] },
    on: { "hook/pre_tool_execute": `reply '{"action":"stop","result":"not on my watch"}'` },
  });
  replies = [call("write", { path: "new.txt", content: "x" })];
  await say("x", "--yolo");
  expect(existsSync(join(bench.workspace, "new.txt"))).toBe(false);
  expect(resultsSeen()).toContain("not on my watch");
  expect((await heardBy("guard")).map(({ method }) => method)).toEqual(["hook/pre_tool_execute"]);
});

test("the result of a tool can be edited", async () => {
  await installAll({
    name: "after",
    manifest: { hooks: ["post_tool_execute"] },
    on: { "hook/post_tool_execute": `reply '{"result":"something else"}'` },
  });
  replies = [call("read", { path: "notes.md" })];
  await say("x");
  expect(resultsSeen()).toContain("something else");
  expect(resultsSeen()).not.toContain("weaves");
  expect(await heardBy("after")).toMatchObject([{ params: { tool_name: "read", success: true } }]);
});

test("a hook that sleeps too long is passed over, the next one is asked, and its late answer harms nobody", {
  timeout: 40_000,
}, async () => {
  await installAll(
    {
      name: "sleeper",
      manifest: { priority: 100, hooks: ["post_user_input", "post_llm_response"] },
      on: {
        "hook/post_user_input": `sleep 6; reply '{"message":"too late"}'`,
        "hook/post_llm_response": `reply '{"text":"its own answer"}'`,
      },
    },
    { name: "wakeful", manifest: { priority: 200, hooks: ["post_user_input"] } },
  );
  replies = [{ blocks: [{ text: "hello" }], endDelayMs: 3000 }];
  const { code, stdout } = await say("on time");
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("its own answer") });
  expect(resultsSeen()).toContain("on time");
  expect(await heardBy("wakeful")).toHaveLength(1);
});

test.each([
  ["too large a line", "head -c 11534336 /dev/zero | tr '\\0' x; echo"],
  ["broken JSON", "echo '{broken'; reply '{}'"],
  ["an error", `printf '{"id":%s,"error":{"message":"oh"}}\\n' "$id"`],
  ["no object", "reply '[1]'"],
])("a hook that answers with %s is ignored", async (_what, shell) => {
  await installAll({ name: "odd", manifest: { hooks: ["post_user_input"] }, on: { "hook/post_user_input": shell } });
  expect(await say("as it was")).toMatchObject({ code: 0, stdout: expect.stringContaining("Done.") });
  expect(resultsSeen()).toContain("as it was");
});

test("a folder with a manifest of one's own makes a guard that fails closed", async () => {
  const script = { name: "closed", on: { "hook/pre_tool_execute": "exit 1" } };
  const file = await writeScript(join(bench.workspace, "scripts"), script);
  const folder = join(bench.workspace, "closed");
  await mkdir(folder);
  await rename(file, join(folder, "guard.sh"));
  const launch = { command: ["./guard.sh"], protocol: "PROTOCOL_JSON_RPC" };
  const hooks = [{ at: "pre_tool_execute", onError: "deny" }];
  const manifest = { manifestVersion: 1, name: "closed", version: "0.0.0", protocolMajors: [1], launch, hooks };
  await writeFile(join(folder, "plugin.json"), JSON.stringify(manifest));
  expect(await bench.claw("plugin", "install", folder, "--yes", "--trust")).toMatchObject({ code: 0 });
  installed.push("closed");
  replies = [call("write", { path: "closed.txt", content: "x" })];
  await say("x", "--yolo");
  expect(existsSync(join(bench.workspace, "closed.txt"))).toBe(false);
});

test("kill -9 between two turns costs nothing", async () => {
  await installAll({ name: "mortal", manifest: { hooks: ["post_user_input"] } });
  await say("one");
  const { stdout } = await bench.claw("plugin", "list", "--json");
  const { pid } = JSON.parse(stdout.trim().split("\n")[0] ?? "") as { pid: number };
  process.kill(pid, "SIGKILL");
  expect(await say("two")).toMatchObject({ code: 0, stdout: expect.stringContaining("Done.") });
});

test("requests are one at a time, with ids that only grow", async () => {
  await installAll({
    name: "counter",
    manifest: { ...TOOL, hooks: ["post_user_input", "pre_tool_execute"] },
    on: { "tool/execute": `reply '{"success":true,"result":"ok"}'` },
  });
  replies = [
    { blocks: [1, 2, 3].map((n) => ({ call: "plugin_counter_act", args: { text: `${n}` }, id: `toolu_${n}` })) },
  ];
  await Promise.all([say("a", "--yolo"), say("b", "--yolo")]);
  const ids = (await heardBy("counter")).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(4);
  expect(ids).toEqual(ids.map((_, index) => index + 2));
});

test("at its end it is asked first; one that ignores all of it is gone soon after", { timeout: 30_000 }, async () => {
  await installAll({
    name: "stubborn",
    manifest: { hooks: ["post_user_input"] },
    on: {
      initialize: `trap '' TERM; reply '{"name":"stubborn","hooks":["post_user_input"]}'`,
      shutdown: "while :; do sleep 1; done",
    },
  });
  await say("x");
  expect(await bench.claw("plugin", "disable", "stubborn")).toMatchObject({ code: 0 });
  expect((await heardBy("stubborn")).map(({ method }) => method)).toEqual(["hook/post_user_input", "shutdown"]);
  expect(processesWith(join(bench.home, "plugins", "stubborn"))).toEqual([]);
});
