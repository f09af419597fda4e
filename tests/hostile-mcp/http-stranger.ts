import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { type Bench, CLAW } from "../kit/claw.ts";
import { seededBelow } from "../kit/seeded.ts";
import { type ClientMessages, type Era, INITIALIZE, openClientMessages } from "./client-messages.ts";
import { type HeapProbe, openHeapProbe, PROBED } from "./heap-probe.ts";
import { isReadable, parsed } from "./request-ledger.ts";

/** Clients at once, every other one without sessions; each has so many requests under way. */
const CLIENTS = 6;
const AT_ONCE = 4;
/** A request that is complete and has no answer after that is a defect, milliseconds. */
const ANSWER_LIMIT_MS = 60_000;
const PIPELINED = 8;

type Heard = { readonly status: number; readonly text: string; readonly session: string | undefined };
type Headers = Record<string, string>;
type Client = {
  readonly messages: ClientMessages;
  readonly era: Era;
  readonly underWay: Map<string, ClientRequest>;
  session: string | undefined;
};

/** Clients of `claw mcp serve --http` that know no library. */
export type HttpStranger = {
  readonly child: ChildProcess;
  readonly probe: HeapProbe;
  /** What was complete and had no answer. */
  readonly unanswered: readonly string[];
  readonly statuses: ReadonlyMap<string, number>;
  slowest(): { readonly ms: number; readonly body: string };
  say(messages: number): Promise<void>;
  /** Throws unless a good request has its good answer. */
  isServed(): Promise<void>;
  /** Ends the server in order; exit code and signal. */
  close(): Promise<readonly unknown[]>;
};

export async function openHttpStranger(bench: Bench, seed: number): Promise<HttpStranger> {
  const child = spawn(process.execPath, [PROBED, CLAW, "mcp", "serve", "--http", "0", "--json"], {
    ...{ env: bench.env, cwd: bench.workspace, stdio: ["ignore", "pipe", "pipe"] as const },
  });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [[line], probe] = await Promise.all([once(lines, "line"), openHeapProbe(child)]);
  const { url, token } = JSON.parse(String(line)) as { url: string; token: string };
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS * AT_ONCE });
  const below = seededBelow(seed);
  const statuses = new Map<string, number>();
  const unanswered: string[] = [];
  let slowest = { ms: 0, body: "" };
  let piped = 0;
  const count = (what: string) => void statuses.set(what, (statuses.get(what) ?? 0) + 1);
  const usual: Headers = {
    ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
    accept: "application/json, text/event-stream",
  };

  /** One request and its answer to the end; "cut" when the connection went away, or was let go of by `onStart`. */
  async function post(
    body: Buffer,
    headers: Headers,
    { method = "POST", onStart, onData }: Partial<Post> = {},
  ): Promise<Heard | "cut" | "late"> {
    const { promise, resolve } = Promise.withResolvers<Heard | "cut" | "late">();
    const sent = request(url, { agent, method, headers }, (response: IncomingMessage) => {
      let text = "";
      const session = response.headers["mcp-session-id"];
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        onData?.(text);
      });
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, text, session: typeof session === "string" ? session : undefined }),
      );
      response.once("error", () => resolve("cut"));
      if (method === "GET") sent.destroy();
    });
    const late = setTimeout(() => {
      resolve("late");
      sent.destroy();
    }, ANSWER_LIMIT_MS);
    sent.once("error", () => resolve("cut"));
    sent.end(body);
    onStart?.(sent);
    const heard = await promise;
    clearTimeout(late);
    return heard;
  }

  async function open(era: Era, at: number): Promise<Client> {
    const messages = openClientMessages(seed * 1_000_003 + at, era);
    const client: Client = { messages, era, underWay: new Map(), session: undefined };
    if (era === "legacy") await begin(client);
    return client;
  }
  async function begin(client: Client): Promise<void> {
    const heard = await post(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "open", ...INITIALIZE })), usual);
    if (typeof heard === "object") client.session = heard.session;
  }

  function headersFor({ era, session }: Client, body: Buffer): Headers {
    const headers: Headers = { ...usual };
    if (session !== undefined) headers["mcp-session-id"] = session;
    const { method, params } = parsed(body.toString()) ?? {};
    if (era === "modern" && typeof method === "string" && /^[\w/.-]{1,100}$/.test(method)) {
      headers["mcp-protocol-version"] = "2026-07-28";
      headers["mcp-method"] = method;
      const { name, uri }: { name?: unknown; uri?: unknown } = params ?? {};
      const named = name ?? uri;
      if (typeof named === "string" && /^[\x20-\x7e]{0,1000}$/.test(named)) headers["mcp-name"] = named;
    }
    return headers;
  }

  async function sayOne(client: Client): Promise<void> {
    const bytes = client.messages.next();
    const body = bytes.subarray(0, bytes.byteLength - 1);
    const headers = headersFor(client, body);
    switch (below(24)) {
      case 0:
        delete headers["mcp-session-id"];
        break;
      case 1:
        headers["mcp-session-id"] = "0".repeat(below(100));
        break;
      case 2:
        headers.authorization = "Bearer guess";
        break;
      case 3:
        headers.accept = "application/json";
        break;
      case 4:
        headers["content-type"] = ["text/plain", "application/json; charset=latin1", ""][below(3)] ?? "";
        break;
      case 5:
        headers["mcp-protocol-version"] = ["2025-06-18", "2026-07-28", "1999-01-01", ""][below(4)] ?? "";
        break;
      case 6:
        headers["last-event-id"] = "x".repeat(below(2_000));
        break;
      case 7:
        count(String(statusOf(await post(Buffer.alloc(0), headers, { method: "GET" }))));
        return;
      case 8:
        headers["mcp-session-id"] = "nobody";
        count(String(statusOf(await post(body, headers, { method: below(2) === 0 ? "DELETE" : "PUT" }))));
        return;
      case 9:
        await cut(headers, body);
        return;
      case 10:
        await pipeline(client);
        return;
    }
    await sayWhole(client, body, headers);
  }

  async function sayWhole(client: Client, body: Buffer, headers: Headers): Promise<void> {
    const said = parsed(body.toString()) ?? {};
    const key = JSON.stringify(said.id) ?? "";
    const startedMs = performance.now();
    const answered = new Set<string>();
    const heard = await post(body, headers, {
      onStart: (sent) => void client.underWay.set(key, sent),
      onData: (text) => decline(client, text, answered, headers),
    });
    client.underWay.delete(key);
    if (typeof heard === "object") await comeBack(client, heard.text);
    // Whoever cancels hangs up, too: no answer is to come.
    if (said.method === "notifications/cancelled") {
      const cancelled = JSON.stringify((said.params as { requestId?: unknown } | undefined)?.requestId) ?? "";
      client.underWay.get(cancelled)?.destroy();
    }
    const ms = performance.now() - startedMs;
    if (ms > slowest.ms) slowest = { ms, body: body.toString("utf8", 0, 300) };
    count(String(statusOf(heard)));
    const isUnheard = heard === "late" || (typeof heard === "object" && heard.status === 200 && heard.text === "");
    if (isUnheard && isReadable(said)) unanswered.push(`${statusOf(heard)}: ${body.toString("utf8", 0, 300)}`);
    if (typeof heard === "object" && heard.status === 404 && client.era === "legacy" && headers === usual)
      await begin(client);
  }

  /** What waits for its client is not left waiting: the calls behind it would, too. */
  async function comeBack(client: Client, text: string): Promise<void> {
    const requestState = /"requestState":"(\w+)"/.exec(text)?.[1];
    if (requestState === undefined) return;
    piped += 1;
    const body = client.messages.comeBack(`back${piped}`, requestState);
    await post(body, headersFor(client, body));
  }

  /** Says no to what the server asks meanwhile, once. */
  function decline(client: Client, text: string, answered: Set<string>, headers: Headers): void {
    if (!text.includes("elicitation/create")) return;
    for (const [, data = ""] of text.matchAll(/^data: (.+)$/gm)) {
      const { id, method } = parsed(data) ?? {};
      const key = JSON.stringify(id) ?? "";
      if (method !== "elicitation/create" || answered.has(key)) continue;
      answered.add(key);
      const reply = client.messages.answer(id);
      void post(reply, { ...headers, ...(client.session === undefined ? {} : { "mcp-session-id": client.session }) });
    }
  }

  /** Half a request, and away. */
  async function cut(headers: Headers, body: Buffer): Promise<void> {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    const half = body.subarray(0, below(body.byteLength + 1));
    socket.write(head(headers, body.byteLength + 1));
    socket.write(half);
    await once(socket, "ready").catch(() => undefined);
    socket.destroy();
    count("half");
  }

  /** Several at once in one connection, which is closed behind them: there are as many answers. */
  async function pipeline(client: Client): Promise<void> {
    const bodies = Array.from({ length: PIPELINED }, (_, at) =>
      at % 2 === 0 ? client.messages.good(`piped${piped + at}`, "ping") : client.messages.next(),
    );
    piped += PIPELINED;
    const socket = connect(Number(port), hostname);
    let heard = "";
    socket.on("error", () => {});
    const declined = new Set<string>();
    const usualHeaders = headersFor(client, Buffer.alloc(0));
    socket.on("data", (chunk) => {
      heard += chunk;
      decline(client, heard, declined, usualHeaders);
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (const [at, body] of bodies.entries()) {
      const isLast = at === bodies.length - 1;
      const headers = { ...headersFor(client, body), ...(isLast ? { connection: "close" } : {}) };
      socket.write(Buffer.concat([head(headers, body.byteLength), body]));
    }
    const late = setTimeout(() => socket.destroy(), ANSWER_LIMIT_MS);
    await closed;
    clearTimeout(late);
    const answers = heard.split("HTTP/1.1 ").length - 1;
    count(`piped ${answers}`);
    if (answers < PIPELINED) unanswered.push(`${answers} of ${PIPELINED} in one connection: ${heard.slice(-300)}`);
  }

  const head = (headers: Headers, bytes: number) =>
    Buffer.from(
      `POST /mcp HTTP/1.1\r\nhost: ${hostname}\r\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("")}content-length: ${bytes}\r\n\r\n`,
    );
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) => open(at % 2 === 0 ? "legacy" : "modern", at)),
  );
  return {
    ...{ child, probe, unanswered, statuses },
    slowest: () => slowest,
    async say(messages) {
      let left = messages;
      const strand = async (client: Client) => {
        while (left > 0) {
          left -= 1;
          await sayOne(client);
        }
      };
      await Promise.all(clients.flatMap((client) => Array.from({ length: AT_ONCE }, () => strand(client))));
    },
    async isServed() {
      for (const client of clients) {
        await begin(client);
        const body = client.messages.good("after all");
        const heard = await post(body, headersFor(client, body));
        if (typeof heard !== "object" || !heard.text.includes("the blue house"))
          throw new Error(`a good request had no good answer: ${JSON.stringify(heard)}`);
      }
    },
    close() {
      agent.destroy();
      probe.close();
      child.kill("SIGTERM");
      return ended;
    },
  };
}

type Post = {
  readonly method: string;
  readonly onStart: (sent: ClientRequest) => void;
  readonly onData: (text: string) => void;
};

const statusOf = (heard: Heard | "cut" | "late") => (typeof heard === "object" ? heard.status : heard);
