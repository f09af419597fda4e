import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Bench, eventually, openBench, processesWith } from "../kit/claw.ts";

// An agent and a daemon as people have them, and kill -9 of either.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const PROGRAM = `
  import { servePlugin, tool } from "clawd/plugin";
  const act = tool<{ what: string }>({
    name: "act",
    run: async ({ what }, { progress, signal }) => {
      if (what !== "wait") return "acted";
      progress("waiting");
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return "never";
    },
  });
  await servePlugin({ name: "far", version: "1.0.0", tools: [act] });
`;
const MANIFEST = {
  ...{ manifestVersion: 1, name: "far", version: "1.0.0", protocolMajors: [2] },
  launch: { command: ["node", "main.ts"] },
  tools: [{ name: "act", description: "Acts.", inputSchema: { type: "object" }, timeoutMs: 60_000 }],
};

let bench: Bench;
let state: string;
let sockets: string;
const agents: { child: ChildProcess; said: string }[] = [];
beforeEach(async () => {
  bench = await openBench();
  // Of the agent alone; short, for it holds sockets.
  sockets = join(bench.workspace, "x");
  mkdirSync(sockets);
  state = join(bench.workspace, "state");
  await writeFile(join(bench.home, "config.toml"), `[remote]\nlisten = "127.0.0.1:${await freePort()}"\n`);
  const folder = join(bench.workspace, "far");
  mkdirSync(folder);
  await writeFile(join(folder, "main.ts"), PROGRAM);
  await writeFile(join(folder, "plugin.json"), JSON.stringify(MANIFEST));
});
afterEach(async () => {
  for (const { child } of agents.splice(0)) await end(child, "SIGTERM");
  await bench.close();
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

/** `claw plugin agent`, left running. */
function startAgent(...flags: readonly string[]) {
  const child = bench.clawStarted("plugin", "agent", "far", "--state", state, "--trust", ...flags);
  const agent = { child, said: "" };
  child.stderr?.on("data", (bytes) => {
    agent.said += bytes;
  });
  agents.push(agent);
  return agent;
}

/** The agent itself, and whatever it started: the path of its state stands in all of them. */
const agentPid = () => processesWith(state).find(({ command }) => command.includes("plugin-agent.js"))?.pid ?? 0;
const pluginProcesses = () => processesWith(join(state, "plugins")).map(({ command }) => command);
const act = async (what: string) =>
  (await bench.claw("say", "--json", "--allow", "plugin_far_act", `call plugin_far_act {"what":"${what}"}`)).stdout;
const list = async () => (await bench.claw("plugin", "list")).stdout;

/** Enrolled, connected, granted, and in the middle of a call; the value is what the client hears in the end. */
async function beginCall(): Promise<{ over: Promise<string> }> {
  bench.env.XDG_RUNTIME_DIR = sockets;
  const token = (await bench.claw("plugin", "enrol", "far")).stdout.trim();
  const agent = startAgent("--token", token);
  await eventually(
    () => agent.said,
    (said) => said.includes("connected to"),
    "the connection",
  );
  await eventually(
    () => bench.claw("plugin", "install", "remote:far", "--yes"),
    ({ code }) => code === 0,
    "the grant",
  );
  expect(await act("quick")).toContain("acted");
  const client = bench.clawStarted("say", "--json", "--allow", "plugin_far_act", 'call plugin_far_act {"what":"wait"}');
  let heard = "";
  client.stdout?.on("data", (bytes) => {
    heard += bytes;
  });
  const over = once(client, "close").then(() => heard);
  await eventually(
    () => heard,
    (text) => text.includes("toolCallStarted"),
    "the call",
  );
  await eventually(pluginProcesses, (commands) => commands.length > 0, "the plugin");
  return { over };
}

test("an agent that is killed takes its plugin along, its calls end as lost, and the next one finds a clean house", async () => {
  const { over } = await beginCall();
  const [agent] = agents;
  const second = startAgent();
  await once(second.child, "exit");
  expect(second.said).toContain("another agent runs with its state in");
  expect(second.child.exitCode).toBe(1);
  const ours = () => readdirSync(sockets).filter((name) => name.startsWith("clawd-agent-"));
  expect(ours().length).toBe(1);
  const [left] = ours();

  process.kill(agentPid(), "SIGKILL");
  const heard = await over;
  expect(heard).toContain("was lost with the connection to its machine");
  expect(heard).not.toContain("SIG");
  await eventually(list, (text) => text.includes("not connected"), "the end of the connection");
  await eventually(pluginProcesses, (commands) => commands.length === 0, "the end of the plugin");
  if (agent !== undefined) await end(agent.child, "SIGTERM");
  expect(ours()).toEqual([left]);

  const next = startAgent();
  await eventually(
    () => next.said,
    (said) => said.includes("connected to"),
    "the next agent",
  );
  expect(ours().length).toBe(1);
  expect(ours()).not.toEqual([left]);
  await eventually(
    () => act("quick"),
    (text) => text.includes("acted"),
    "the plugin again",
  );
  await end(next.child, "SIGTERM");
  expect(ours()).toEqual([]);
});

test("a daemon that is killed takes the plugin along, and the agent finds the next one by itself", async () => {
  const { over } = await beginCall();
  const pid = agentPid();
  process.kill(await bench.pid(), "SIGKILL");
  await over;
  await eventually(pluginProcesses, (commands) => commands.length === 0, "the end of the plugin");
  expect(agents[0]?.said).toContain("not connected: the connection is lost");
  expect((await bench.claw("status")).code).toBe(0);
  await eventually(
    () => act("quick"),
    (text) => text.includes("acted"),
    "the plugin again",
  );
  expect(agentPid()).toBe(pid);
});
