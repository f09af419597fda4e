import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type McpBench, openMcpBench } from "./mcp/mcp-house.ts";

/** Servers that anybody may install, as they are published. */
const PACKAGES = join(import.meta.dirname, "../node_modules");
const official = (name: string) => join(PACKAGES, "@modelcontextprotocol", `server-${name}`, "dist/index.js");

/** Programs that stand back behind all others start slowly where the machine is busy. */
vi.setConfig({ testTimeout: 180_000 });

let bench: McpBench;

beforeAll(async () => {
  bench = await openMcpBench();
  await writeFile(join(bench.workspace, "notes.txt"), "bread and cheese");
  await bench.servers({
    everything: { command: "node", args: [official("everything")] },
    filesystem: { command: "node", args: [official("filesystem"), bench.workspace] },
    memory: {
      command: "node",
      args: [official("memory")],
      env: { MEMORY_FILE_PATH: "${CLAWD_HOME}/mcp/mcp_memory/data/memory.jsonl" },
    },
    thinking: { command: "node", args: [official("sequential-thinking")] },
    time: { command: "node", args: [join(PACKAGES, "time-mcp/dist/index.js")] },
  });
});
afterAll(() => bench.close());

test("the server of everything echoes, adds, shows progress and gives an image", async () => {
  await bench.heard("everything");
  expect((await bench.call("mcp_everything_echo", { message: "hi" })).output).toBe("Echo: hi");
  expect((await bench.call("mcp_everything_get-sum", { a: 2, b: 3 })).output).toContain("5");
  expect((await bench.call("mcp_everything_get-tiny-image")).output).toMatch(/\[artifact [^ ]+ image\/png/);
});

const hasWalls = spawnSync("bwrap", ["--version"]).error === undefined;
if (!hasWalls) console.log("skipped: no bubblewrap here, so nothing keeps a server from writing");

test.skipIf(!hasWalls)(
  "the server of files reads the folder that it was given, and its walls let it write nothing",
  async () => {
    await bench.heard("filesystem");
    const path = join(bench.workspace, "notes.txt");
    expect((await bench.call("mcp_filesystem_read_text_file", { path })).output).toContain("bread and cheese");
    const written = await bench.call("mcp_filesystem_write_file", { path, content: "gone" });
    expect(written.status).toBe("TOOL_CALL_STATUS_FAILED");
    expect((await bench.call("mcp_filesystem_read_text_file", { path })).output).toContain("bread and cheese");
  },
);

test("the server of memories keeps what it is told in a folder of its own, also after the daemon ended", async () => {
  await bench.heard("memory");
  const entities = [{ name: "Ada", entityType: "person", observations: ["likes engines"] }];
  expect((await bench.call("mcp_memory_create_entities", { entities })).failure).toBeUndefined();
  await bench.claw("down");
  expect((await bench.call("mcp_memory_read_graph")).output).toContain("likes engines");
});

test("the server of thoughts takes one", async () => {
  await bench.heard("thinking");
  const thought = { thought: "all is well", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  expect((await bench.call("mcp_thinking_sequentialthinking", thought)).output).toContain('"thoughtNumber": 1');
});

test("the server of time knows it", async () => {
  await bench.heard("time");
  expect((await bench.call("mcp_time_current_time", { format: "YYYY-MM-DD" })).output).toMatch(/\d{4}-\d{2}-\d{2}/);
});
