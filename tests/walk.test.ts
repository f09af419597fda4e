import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, eventually, openBench, processesWith } from "./kit/claw.ts";
import { type ModelServer, startModelServer } from "./kit/model-server.ts";

/*
 * The walk of docs/ARCHITECTURE.md, end to end through real processes: the `claw` bin, the daemon, the vendor's SDK against a
 * server that speaks its wire, a hook in its isolate, a plugin behind its socket, the memory index, the journal on disk.
 */

const HELLO = join(import.meta.dirname, "../plugins-examples/hello");
const GUARD = `/** @hook at=tool.before priority=100 timeout=2s on-error=deny */
export default async (event) => {
  if (event.value.tool === "shell" && /rm\\s+-rf/.test(event.value.args.command)) return { block: "rm -rf is not for agents" };
};
`;

let model: ModelServer;
let bench: Bench;

beforeAll(async () => {
  model = await startModelServer([
    {
      blocks: [
        { text: "Let me look.", pieces: ["Let ", "me ", "look."] },
        { call: "read_file", args: { path: "notes.md" }, id: "c-read" },
        { call: "plugin_hello_greet", args: { name: "Ada" }, id: "c-hello" },
        { call: "memory_search", args: { query: "engine" }, id: "c-memory" },
      ],
    },
    { blocks: [{ call: "bash", args: { command: "rm -rf ." }, id: "c-shell" }] },
    { blocks: [{ text: "Done as far as I may.", pieces: ["Done as ", "far as I may."] }] },
  ]);
  bench = await openBench({ ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: model.url });
  await writeFile(join(bench.workspace, "notes.md"), "# Notes\n\nThe analytical engine weaves algebraic patterns.\n");
  await mkdir(join(bench.home, "hooks"), { recursive: true });
  await writeFile(join(bench.home, "hooks/guard.ts"), GUARD);
});

afterAll(async () => {
  await bench.close();
  await model.close();
  const left = await eventually(
    () => processesWith(bench.home),
    (found) => found.length === 0,
    "the end of every process",
  );
  expect(left).toEqual([]);
});

test("one message through the whole house", async () => {
  const installed = await bench.claw("plugin", "install", HELLO, "--yes", "--trust");
  expect(installed).toMatchObject({ code: 0 });
  expect(await bench.claw("memory", "index", bench.workspace)).toMatchObject({ code: 0 });

  const said = await bench.claw("say", "what is in notes.md?", "--yolo");
  expect(said.stderr).not.toContain("warning");
  expect(said.stdout).toContain("Let me look.");
  expect(said.stdout.trimEnd().endsWith("Done as far as I may.")).toBe(true);
  expect(said.code).toBe(0);

  // The model saw results in the order of its calls, and the refusal with its reason.
  const second = JSON.stringify(model.requests()[1]?.json());
  expect(second.indexOf("analytical engine")).toBeGreaterThan(0);
  expect(second.indexOf("c-read")).toBeLessThan(second.indexOf("Ada"));
  expect(JSON.stringify(model.requests()[2]?.json())).toContain("rm -rf is not for agents");
  expect(await readFile(join(bench.workspace, "notes.md"), "utf8")).toContain("analytical");

  const [file] = (await readdir(join(bench.home, "sessions"))).filter((name) => name !== "memory.jsonl");
  const id = (file ?? "").replace(".jsonl", "");
  const lines = (await readFile(join(bench.home, "sessions", `${id}.jsonl`), "utf8")).trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line));
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  const kinds = events.map((event) => Object.keys(event).find((key) => !["seq", "atMs", "hash"].includes(key)));
  expect(kinds[0]).toBe("sessionOpened");
  expect(kinds.at(-1)).toBe("turnEnded");

  // Intent before effect, for each call that ran; and the blocked one never started.
  const at = (kind: string, callId: string) => events.findIndex((event) => event[kind]?.callId === callId);
  for (const callId of ["c-read", "c-hello", "c-memory"]) {
    expect(at("toolCallStarted", callId)).toBeGreaterThan(0);
    expect(at("toolCallEnded", callId)).toBeGreaterThan(at("toolCallStarted", callId));
    expect(events[at("toolCallEnded", callId)].toolCallEnded.status).toBe("TOOL_CALL_STATUS_DONE");
  }
  expect(at("toolCallStarted", "c-shell")).toBe(-1);
  expect(events[at("toolCallEnded", "c-shell")].toolCallEnded).toMatchObject({
    tool: "shell",
    status: "TOOL_CALL_STATUS_DENIED",
  });
  expect(events.find((event) => event.hookRan?.verdict === "HOOK_VERDICT_BLOCK").hookRan).toMatchObject({
    hook: "guard",
    point: "tool.before",
    callId: "c-shell",
    because: "rm -rf is not for agents",
    ran: true,
  });
  expect(events[at("toolCallEnded", "c-hello")].toolCallEnded.output).toContain("Ada");
  expect(events[at("toolCallEnded", "c-memory")].toolCallEnded.output).toContain("notes.md");

  // What was told can be had again, proven, and asked.
  const attached = await bench.claw("attach", id, "--json");
  expect(attached.code).toBe(0);
  expect(
    attached.stdout
      .trimEnd()
      .split("\n")
      .filter((line) => line.includes("turnEnded")),
  ).toHaveLength(1);
  expect(await bench.claw("audit", "verify", id)).toMatchObject({ code: 0 });
  const asked = await bench.claw("sql", "select tool, status from calls order by tool", "--json");
  expect(
    asked.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { tool: "memory_search", status: "done" },
    { tool: "plugin_hello_greet", status: "done" },
    { tool: "read", status: "done" },
    { tool: "shell", status: "denied" },
  ]);

  const status = JSON.parse((await bench.claw("status", "--json")).stdout);
  expect(status).toMatchObject({ home: bench.home, plugins: [{ name: "hello" }], hooks: [{ name: "guard" }] });
  expect(status.provider).toMatch(/^anthropic\//);
});

test("a flipped byte in a journal is found and named", async () => {
  await bench.claw("down");
  const folder = join(bench.home, "sessions");
  const [file = ""] = (await readdir(folder)).filter((name) => name !== "memory.jsonl");
  const path = join(folder, file);
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace("analytical engine", "analytical enginf"));
  const verified = await bench.claw("audit", "verify");
  expect(verified.code).toBe(1);
  expect(`${verified.stdout}${verified.stderr}`).toContain(file.replace(".jsonl", ""));
  await writeFile(path, text);
  expect(await bench.claw("audit", "verify")).toMatchObject({ code: 0 });
});
