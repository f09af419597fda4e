import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ToolCallStatus } from "../../proto/gen/clawd/v1/event_pb.ts";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { dial, eventually, processesWith } from "../kit/claw.ts";
import { type McpBench, openMcpBench, transportTo } from "../mcp/mcp-house.ts";
import { FUZZ_LIMIT_MS, MESSAGES, SEED } from "./fuzz-size.ts";

// A server of MCP that says what none should, through its bridge, its sandbox and the daemon, beside one that behaves.

/** Before each answer: few enough that what a run says is spread over ten calls at least. */
const BEFORE_EACH_ANSWER = Math.min(500, MESSAGES / 10);
/** Of the calls of the server that behaves. */
const CALLS_BETWEEN = 5;
const KIB = 1024;
/** What may be resident beside what was before the first message, MiB; a heap does not give back what it once needed. */
const DAEMON_GROWTH_LIMIT_MIB = 150;
const BRIDGE_LIMIT_MIB = 400;

let bench: McpBench;
beforeAll(async () => {
  bench = await openMcpBench();
  const file = (name: string) => join(import.meta.dirname, name);
  await bench.servers({
    fuzz: {
      command: "node",
      args: [file("fuzz-server.mjs"), String(SEED), String(BEFORE_EACH_ANSWER), "calls"],
      timeout: 20_000,
    },
    good: { command: "node", args: [file("hostile-server.mjs"), "good"] },
  });
  await bench.heard("good");
  await bench.heard("fuzz");
}, FUZZ_LIMIT_MS);
afterAll(() => bench.close());

/** Resident memory of a process, MiB; 0 when it is gone. */
function residentMib(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / KIB);
  } catch {
    return 0;
  }
}

const bridgeMib = () =>
  Math.max(
    0,
    ...processesWith(join(bench.home, "mcp/mcp_fuzz"))
      .filter(({ command }) => command.includes("mcp-bridge"))
      .map(({ pid }) => residentMib(pid)),
  );

test(
  `${MESSAGES} messages that no server should say harm neither the daemon nor the calls of others`,
  async () => {
    const { sessions } = dial(bench.home);
    const mcp = createClient(McpService, transportTo(bench.home));
    const pid = await bench.pid();
    const before = residentMib(pid);
    const startedMs = performance.now();
    const [fuzz, good] = await Promise.all([open(), open()]);
    const ends = new Map<string, number>();
    let slowestMs = 0;
    let bridgeMost = 0;
    const others: Promise<string>[] = [];
    for (let said = 0, calls = 0; said < MESSAGES; calls += 1) {
      if (calls % CALLS_BETWEEN === 0) others.push(call(good, "mcp_good_act"));
      const callMs = performance.now();
      const end = await call(fuzz, "mcp_fuzz_act");
      slowestMs = Math.max(slowestMs, performance.now() - callMs);
      ends.set(end, (ends.get(end) ?? 0) + 1);
      // It said in the place of its list that its tool is another: its owner looks at it.
      if (end === "DENIED") await mcp.approveServer({ name: "fuzz", workspace: "" }).catch(() => undefined);
      if (end === "REFUSED") await bench.heard("fuzz");
      if (end === "DONE" || end === "FAILED") said += BEFORE_EACH_ANSWER;
      if (calls % CALLS_BETWEEN === 0) bridgeMost = Math.max(bridgeMost, bridgeMib());
    }
    const grown = residentMib(pid) - before;
    console.info(
      `fuzz of the daemon by a server: ${MESSAGES} in ${Math.round((performance.now() - startedMs) / 1_000)} s,`,
      Object.fromEntries(ends),
      `slowest call ${Math.round(slowestMs)} ms, daemon ${before} +${grown} MiB, bridge ${bridgeMost} MiB at most`,
    );
    expect(new Set(await Promise.all(others))).toEqual(new Set(["DONE"]));
    expect(ends.get("DONE") ?? 0).toBeGreaterThan(0);
    expect(await bench.pid()).toBe(pid);
    expect(grown).toBeLessThan(DAEMON_GROWTH_LIMIT_MIB);
    expect(bridgeMost).toBeLessThan(BRIDGE_LIMIT_MIB);
    expect((await bench.claw("audit", "verify")).code).toBe(0);
    await bench.claw("down");
    await eventually(
      () => processesWith(bench.home),
      (left) => left.length === 0,
      "no process is left",
    );

    async function open(): Promise<string> {
      return (await sessions.openSession({ workspace: bench.workspace })).sessionId;
    }
    /** How a call ended; "REFUSED" where there is no such tool, as for a moment while a bridge starts again. */
    async function call(sessionId: string, tool: string): Promise<string> {
      const wanted = { sessionId, tool, args: {}, caller: "test", yolo: true, canAnswer: false };
      for await (const { news } of sessions.callTool(wanted)) {
        if (news.case !== "event" || news.value.body.case !== "toolCallEnded") continue;
        const { status, output } = news.value.body.value;
        if (output.includes("there is no tool")) return "REFUSED";
        return Object.entries(ToolCallStatus).find(([, value]) => value === status)?.[0] ?? "none";
      }
      return "none";
    }
  },
  FUZZ_LIMIT_MS,
);
