import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Bench, CLAW } from "../kit/claw.ts";

/** What the person at a client says to a question, and the questions they read. */
export type Person = {
  says:
    | { action: "accept"; content?: Record<string, boolean | string> }
    | { action: "decline" }
    | { action: "cancel" }
    | "nothing";
  readonly read: string[];
};

export type VisitorOptions = {
  readonly name?: string;
  /** Undefined for a client that has nobody to ask. */
  readonly person?: Person;
  /** `modern` speaks the revision of 2026-07-28, without sessions. */
  readonly era?: "legacy" | "modern";
  /** What its own model answers to words; undefined for a client without one. */
  readonly model?: (words: string) => Promise<string>;
  /** The tokens that it says its answers take; undefined for a client that does not say. */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
};

function newClient({ name = "tester", person, era = "legacy", model, usage }: VisitorOptions): Client {
  const client = new Client(
    { name, version: "1.0" },
    {
      capabilities: {
        ...(person === undefined ? {} : { elicitation: {} }),
        ...(model === undefined ? {} : { sampling: {} }),
      },
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  if (model !== undefined) {
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const text = await model(JSON.stringify(params.messages));
      const answer = { role: "assistant" as const, content: { type: "text" as const, text }, model: "theirs" };
      return { ...answer, stopReason: "endTurn", ...(usage === undefined ? {} : { _meta: { usage } }) };
    });
  }
  if (person !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
      person.read.push(params.message);
      if (person.says !== "nothing") return person.says;
      await once(mcpReq.signal, "abort");
      return { action: "cancel" };
    });
  }
  return client;
}

/** `claw mcp serve` as a client starts it, spoken to by the official library. */
export async function overStdio(bench: Bench, options: VisitorOptions, ...flags: readonly string[]) {
  const client = newClient(options);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLAW, "mcp", "serve", ...flags],
    cwd: bench.workspace,
    env: Object.fromEntries(Object.entries(bench.env).map(([key, value]) => [key, value ?? ""])),
    stderr: "ignore",
  });
  await client.connect(transport);
  return { client, pid: () => transport.pid ?? 0 };
}

export type HttpServe = { readonly url: string; readonly token: string; readonly child: ChildProcess };

/** `claw mcp serve --http`, once it says where it listens. */
export async function serveHttp(bench: Bench, ...flags: readonly string[]): Promise<HttpServe> {
  const args = [CLAW, "mcp", "serve", "--http", "0", "--json", ...flags];
  const child = spawn(process.execPath, args, {
    env: bench.env,
    cwd: bench.workspace,
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface({ input: child.stdout })) return { ...JSON.parse(line), child };
  throw new Error("claw mcp serve --http said nothing");
}

export async function overHttp({ url, token }: HttpServe, options: VisitorOptions): Promise<Client> {
  const client = newClient(options);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

/** The text of a result, and how its call ended. */
export function readResult(result: unknown) {
  const { content, isError, _meta } = result as {
    content: { text: string }[];
    isError?: boolean;
    _meta?: Record<string, string>;
  };
  return {
    text: content.map(({ text }) => text).join("\n"),
    isError: isError === true,
    status: _meta?.["clawd/status"],
    session: _meta?.["clawd/session"] ?? "",
  };
}
