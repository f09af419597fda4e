import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { type Bench, openBench } from "../kit/claw.ts";

/** Two programs start one after the other, behind all others: seconds where the machine is busy. */
const HEARD_LIMIT_MS = 90_000;
/** What a server may be silent for: much longer than it is where the machine is not busy. */
const BUSY_TIMEOUT_MS = 60_000;

export function transportTo(home: string) {
  const nodeOptions = { socketPath: join(home, "clawd.sock") };
  return createConnectTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions });
}

export const FAKE_SERVER = join(import.meta.dirname, "fake-server.mjs");

/** The end of one call as a client sees it. */
export type CallEnd = {
  readonly status: string;
  readonly output: string;
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly category: string;
    readonly retryable: boolean;
  };
};

export type McpBench = Bench & {
  /** Writes $CLAWD_HOME/mcp.json; the servers run also where there is no sandbox. */
  servers(servers: Readonly<Record<string, object>>): Promise<void>;
  /** Resolves when a server has said which tools it has: on a busy machine a turn may be over before. */
  heard(server: string): Promise<void>;
  /** Says "call TOOL ARGS" with everything of MCP allowed; the end of the call, or what the model said when there was none. */
  call(tool: string, args?: object, ...flags: readonly string[]): Promise<CallEnd>;
  /** The tools that a server brings, as models know them. */
  tools(server: string): Promise<readonly string[]>;
};

export async function openMcpBench(extraEnv: Readonly<Record<string, string>> = {}): Promise<McpBench> {
  const bench = await openBench(extraEnv);
  const mcp: McpBench = {
    ...bench,
    servers: (servers) => {
      const trusted = Object.entries(servers).map(([name, entry]) => [
        name,
        { trust: true, timeout: BUSY_TIMEOUT_MS, ...entry },
      ]);
      return writeFile(join(bench.home, "mcp.json"), JSON.stringify({ mcpServers: Object.fromEntries(trusted) }));
    },
    async heard(server) {
      await bench.claw("status");
      const client = createClient(McpService, transportTo(bench.home));
      const startedMs = performance.now();
      while (performance.now() - startedMs < HEARD_LIMIT_MS) {
        const { servers } = await client.listServers({ workspace: "" });
        if (servers.some(({ name, tools }) => name === server && tools.length > 0)) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error((await bench.claw("plugin", "logs", `mcp_${server}`)).stdout);
    },
    async call(tool, args = {}, ...flags) {
      const said = flags.length === 0 ? ["--allow", "mcp_*"] : flags;
      const { stdout, stderr } = await bench.claw("say", "--json", ...said, `call ${tool} ${JSON.stringify(args)}`);
      let words = "";
      for (const line of stdout.split("\n")) {
        if (line === "") continue;
        const event = JSON.parse(line);
        if (event.toolCallEnded !== undefined) return event.toolCallEnded;
        words += event.blockEnded?.content?.text?.text ?? "";
      }
      if (words === "") throw new Error(`no call of ${tool} ended: ${stdout}${stderr}`);
      return { status: "none", output: words };
    },
    async tools(server) {
      const { stdout } = await bench.claw("mcp", "show", server, "--json");
      return JSON.parse(stdout).tools.map(({ name }: { name: string }) => name);
    },
  };
  return mcp;
}
