import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventually, processesWith } from "../kit/claw.ts";
import { type CallEnd, type McpBench, openMcpBench } from "../mcp/mcp-house.ts";

// Servers of MCP that mean harm, through a daemon and claw as people have them.

vi.setConfig({ testTimeout: 180_000 });

const SERVER = join(import.meta.dirname, "hostile-server.mjs");
const KIB = 1024;

let bench: McpBench;
beforeEach(async () => {
  bench = await openMcpBench({ HOUSE_SECRET: "sk-house-secret" });
});
afterEach(() => bench.close());

const hostile = (mode: string, ...more: readonly string[]) => ({ command: "node", args: [SERVER, mode, ...more] });
const act = (server: string): Promise<CallEnd> => bench.call(`mcp_${server}_act`);

/** Resident memory of the daemon, MiB. */
async function daemonMib(): Promise<number> {
  const status = readFileSync(`/proc/${await bench.pid()}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / KIB);
}

async function begin(servers: Readonly<Record<string, object>>): Promise<{ pid: number; mib: number }> {
  await bench.servers(servers);
  for (const name of Object.keys(servers)) await bench.heard(name);
  return { pid: await bench.pid(), mib: await daemonMib() };
}

/** The same daemon lives, and is not much larger than before. */
async function isUnharmed(before: { pid: number; mib: number }): Promise<void> {
  expect(await bench.pid()).toBe(before.pid);
  expect((await daemonMib()) - before.mib).toBeLessThan(150);
}

test("ten thousand tools, a description of a mebibyte and a schema of two thousand floors take nothing from others", async () => {
  const before = await begin({
    many: hostile("many"),
    wordy: hostile("wordy"),
    deep: hostile("deep"),
    good: hostile("good"),
  });
  expect((await bench.tools("many")).length).toBe(512);
  expect(await bench.tools("wordy")).toEqual(["mcp_wordy_fine"]);
  expect(await bench.tools("deep")).toEqual(["mcp_deep_fine"]);
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("no tool takes the name of another's, and nothing in its words acts on a terminal", async () => {
  await begin({ odd: hostile("names"), other: hostile("good") });
  const names = await bench.tools("odd");
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^mcp_odd_[A-Za-z0-9_-]{1,56}$/);
  const { stdout } = await bench.claw("mcp", "show", "odd");
  const logs = await bench.claw("plugin", "logs", "mcp_odd");
  // Control characters, and the marks that turn the direction of what follows.
  for (const shown of [stdout, logs.stdout]) expect(shown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_C}]/u);
  expect((await act("other")).output).toBe("done");
});

test("storms of changed lists and of progress end, and so do the calls in them", async () => {
  const before = await begin({ storm: hostile("storm"), steady: hostile("progress") });
  expect((await act("storm")).output).toBe("stormed");
  expect((await act("storm")).output).toBe("stormed");
  const steady = (await act("steady")).output;
  if (steady !== "progressed") console.info((await bench.claw("plugin", "logs", "mcp_steady")).stdout);
  expect(steady).toBe("progressed");
  await isUnharmed(before);
});

test("who never answers, or exits at once, is named, and the others' first turn does not wait for it for long", async () => {
  await bench.servers({ mute: hostile("mute"), exit: hostile("exit"), good: hostile("good") });
  await bench.heard("good");
  expect((await act("good")).output).toBe("done");
  const said = await eventually(
    () => bench.claw("mcp", "list"),
    ({ stdout }) => /^exit\tbroken/m.test(stdout) && /^mute\tbroken/m.test(stdout),
    "what is wrong",
  );
  expect(said.code).toBe(0);
});

test("answers of two hundred thousand blocks and of five thousand images are cut, and say so", async () => {
  const before = await begin({ blocks: hostile("blocks"), images: hostile("images"), good: hostile("good") });
  const blocks = await act("blocks");
  expect(blocks).toMatchObject({ status: "TOOL_CALL_STATUS_DONE", output: expect.stringContaining("199488 × text") });
  const images = await act("images");
  expect(images).toMatchObject({ status: "TOOL_CALL_STATUS_DONE", output: expect.stringContaining("4968 × image") });
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("a line of eleven mebibytes and one that never ends cost their server its life, and nobody else", async () => {
  const before = await begin({ line: hostile("line"), endless: hostile("endless"), good: hostile("good") });
  for (const server of ["line", "endless"]) {
    expect(await act(server)).toMatchObject({ status: "TOOL_CALL_STATUS_FAILED", failure: { retryable: true } });
    expect((await bench.claw("plugin", "logs", `mcp_${server}`)).stdout).toContain("exceeded maximum size");
  }
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("a shout on standard error is heard in part, and memory without end ends the server alone", async () => {
  const before = await begin({
    shout: { ...hostile("shout"), timeout: 60_000 },
    memory: hostile("memory"),
    good: hostile("good"),
  });
  expect((await act("shout")).output).toBe("shouted");
  expect((await act("memory")).failure).toMatchObject({ retryable: true });
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("six hundred children are not to be had, and who is deaf to signals ends all the same, with all of them", async () => {
  const before = await begin({ fork: hostile("fork"), deaf: hostile("deafen") });
  const { output } = await act("fork");
  expect(Number(/born (\d+)/.exec(output)?.[1])).toBeLessThan(300);
  expect((await act("deaf")).output).toBe("deaf");
  await isUnharmed(before);
  await bench.claw("down");
  await expect.poll(() => processesWith(bench.home).map(({ command }) => command), { timeout: 20_000 }).toEqual([]);
});

test("the house's files, other servers' data and its variables are out of reach", async () => {
  const files = ["config.toml", "mcp.json", "clawd.sock", "sessions", "mcp/mcp_good", "mcp/mcp_good/data/secret"].map(
    (name) => join(bench.home, name),
  );
  await writeFile(join(bench.home, "config.toml"), "");
  const before = await begin({
    good: hostile("good"),
    thief: {
      ...hostile("read"),
      env: { PATHS: JSON.stringify([...files, "/proc/1/environ", `/proc/${process.pid}/environ`]) },
    },
  });
  const read = JSON.parse((await act("thief")).output) as readonly string[];
  expect(read.length).toBe(files.length + 2);
  expect(read.join("\n")).not.toContain("sk-house-secret");
  for (const one of read.slice(0, 6)) expect(one).toMatch(/^refused: \w+refused: \w+$/);
  await isUnharmed(before);
});

test("a server that is started dials nobody", async () => {
  const met: unknown[] = [];
  const listener = createServer((socket) => {
    met.push(socket.remoteAddress);
    socket.destroy();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await begin({ dial: hostile("dial", "127.0.0.1", String(port)) });
  expect((await act("dial")).output).toMatch(/^refused/);
  expect(met).toEqual([]);
  listener.close();
});
