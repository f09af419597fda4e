import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { eventually, processesWith } from "../kit/claw.ts";
import { timesOf } from "../kit/thoroughness.ts";
import { type CallEnd, type McpBench, openMcpBench } from "../mcp/mcp-house.ts";

// Servers of MCP that mean harm, through a daemon and claw as people have them: all of them at once behind one daemon.

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const SERVER = join(import.meta.dirname, "hostile-server.mjs");
const KIB = 1024;

const hostile = (mode: string, ...more: readonly string[]) => ({ command: "node", args: [SERVER, mode, ...more] });
const CHANGES = timesOf("changed lists in a storm", { whole: 20_000, share: 4_000 });
const PROGRESSES = timesOf("lines of progress of a call", { whole: 50_000, share: 10_000 });

let bench: McpBench;
let met: unknown[];
let listener: Server;
beforeAll(async () => {
  bench = await openMcpBench({ HOUSE_SECRET: "sk-house-secret" });
  await writeFile(join(bench.home, "config.toml"), "");
  met = [];
  listener = createServer((socket) => {
    met.push(socket.remoteAddress);
    socket.destroy();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const modes = ["good", "many", "wordy", "deep", "blocks", "images", "line", "endless", "memory", "shout", "fork"];
  await bench.servers({
    ...Object.fromEntries(modes.map((mode) => [mode, hostile(mode)])),
    ...{ odd: hostile("names"), other: hostile("good"), deaf: hostile("deafen") },
    ...{ storm: hostile("storm", String(CHANGES)), steady: hostile("progress", String(PROGRESSES)) },
    thief: { ...hostile("read"), env: { PATHS: JSON.stringify([...houseFiles(), "/proc/1/environ", ownEnvironment]) } },
    dial: hostile("dial", "127.0.0.1", String(port)),
  });
  await bench.heard("good");
});
afterAll(async () => {
  listener.close();
  await bench.close();
});

const ownEnvironment = `/proc/${process.pid}/environ`;
const houseFiles = () =>
  ["config.toml", "mcp.json", "clawd.sock", "sessions", "mcp/mcp_good", "mcp/mcp_good/data/secret"].map((name) =>
    join(bench.home, name),
  );
const act = (server: string): Promise<CallEnd> => bench.call(`mcp_${server}_act`);

/** Resident memory of the daemon, MiB. */
async function daemonMib(): Promise<number> {
  const status = readFileSync(`/proc/${await bench.pid()}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / KIB);
}

/** Waits until the servers have been heard. */
async function begin(...servers: readonly string[]): Promise<{ pid: number; mib: number }> {
  for (const name of servers) await bench.heard(name);
  return { pid: await bench.pid(), mib: await daemonMib() };
}

/** The same daemon lives, and is not much larger than before. */
async function isUnharmed(before: { pid: number; mib: number }): Promise<void> {
  expect(await bench.pid()).toBe(before.pid);
  expect((await daemonMib()) - before.mib).toBeLessThan(150);
}

test("ten thousand tools, a description of a mebibyte and a schema of two thousand floors take nothing from others", async () => {
  const before = await begin("many", "wordy", "deep");
  expect((await bench.tools("many")).length).toBe(512);
  expect(await bench.tools("wordy")).toEqual(["mcp_wordy_fine"]);
  expect(await bench.tools("deep")).toEqual(["mcp_deep_fine"]);
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("no tool takes the name of another's, and nothing in its words acts on a terminal", async () => {
  await begin("odd", "other");
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
  const before = await begin("storm", "steady");
  expect((await act("storm")).output).toBe("stormed");
  expect((await act("storm")).output).toBe("stormed");
  const steady = (await act("steady")).output;
  if (steady !== "progressed") console.info((await bench.claw("plugin", "logs", "mcp_steady")).stdout);
  expect(steady).toBe("progressed");
  await isUnharmed(before);
});

test("who never answers, or exits at once, is named, and the others' first turn does not wait for it for long", async () => {
  const house = await openMcpBench();
  await house.servers({ mute: hostile("mute"), exit: hostile("exit"), good: hostile("good") });
  try {
    await house.heard("good");
    expect((await house.call("mcp_good_act")).output).toBe("done");
    const said = await eventually(
      () => house.claw("mcp", "list"),
      ({ stdout }) => /^exit\tbroken/m.test(stdout) && /^mute\tbroken/m.test(stdout),
      "what is wrong",
    );
    expect(said.code).toBe(0);
  } finally {
    await house.close();
  }
});

test("answers of two hundred thousand blocks and of five thousand images are cut, and say so", async () => {
  const before = await begin("blocks", "images");
  const blocks = await act("blocks");
  expect(blocks).toMatchObject({ status: "TOOL_CALL_STATUS_DONE", output: expect.stringContaining("199488 × text") });
  const images = await act("images");
  expect(images).toMatchObject({ status: "TOOL_CALL_STATUS_DONE", output: expect.stringContaining("4968 × image") });
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("a line of eleven mebibytes and one that never ends cost their server its life, and nobody else", async () => {
  const before = await begin("line", "endless");
  for (const server of ["line", "endless"]) {
    expect(await act(server)).toMatchObject({ status: "TOOL_CALL_STATUS_FAILED", failure: { retryable: true } });
    expect((await bench.claw("plugin", "logs", `mcp_${server}`)).stdout).toContain("exceeded maximum size");
  }
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("a shout on standard error is heard in part, and memory without end ends the server alone", async () => {
  const before = await begin("shout", "memory");
  expect((await act("shout")).output).toBe("shouted");
  expect((await act("memory")).failure).toMatchObject({ retryable: true });
  expect((await act("good")).output).toBe("done");
  await isUnharmed(before);
});

test("the house's files, other servers' data and its variables are out of reach", async () => {
  const before = await begin("thief");
  const read = JSON.parse((await act("thief")).output) as readonly string[];
  expect(read.length).toBe(houseFiles().length + 2);
  expect(read.join("\n")).not.toContain("sk-house-secret");
  for (const one of read.slice(0, 6)) expect(one).toMatch(/^refused: \w+refused: \w+$/);
  await isUnharmed(before);
});

test("a server that is started dials nobody", async () => {
  await begin("dial");
  expect((await act("dial")).output).toMatch(/^refused/);
  expect(met).toEqual([]);
});

test("six hundred children are not to be had, and who is deaf to signals ends all the same, with all of them", async () => {
  const before = await begin("fork", "deaf");
  const { output } = await act("fork");
  expect(Number(/born (\d+)/.exec(output)?.[1])).toBeLessThan(300);
  expect((await act("deaf")).output).toBe("deaf");
  await isUnharmed(before);
  await bench.claw("down");
  await expect.poll(() => processesWith(bench.home).map(({ command }) => command), { timeout: 20_000 }).toEqual([]);
});
