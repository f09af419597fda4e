import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Bench, CLAW, openBench } from "../kit/claw.ts";
import { type HttpServe, overHttp, serveHttp } from "../mcp-server/mcp-visitor.ts";

// Clients of `claw mcp serve` that mean harm.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const KIB = 1024;
const MIB = 1024 * KIB;
const REQUESTS = 1_000;
/** What a server may grow by under all of this, MiB. */
const GROWTH_LIMIT_MIB = 400;
const DEEP = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "h", version: "1" } },
};

let bench: Bench;
const children: ChildProcess[] = [];
/** A server to which a hundred bodies drip while the others have their turn: it takes half a minute until they are cut. */
let dripped: HttpServe;
let dripping: readonly Promise<string>[];
beforeAll(async () => {
  bench = await openBench();
  await writeFile(join(bench.workspace, "notes.md"), "the blue house");
  await bench.claw("status");
  dripped = await serveHttp(bench);
  children.push(dripped.child);
  dripping = Array.from({ length: 100 }, () => drip(dripped, dripped.token));
});
afterAll(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
  await bench.close();
});

function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / KIB);
}

/** A client without any library: whatever it says goes out as it is. */
function openStdio() {
  const child = spawn(process.execPath, [CLAW, "mcp", "serve"], {
    ...{ env: bench.env, cwd: bench.workspace, stdio: ["pipe", "pipe", "pipe"] as const },
  });
  children.push(child);
  child.stdin.on("error", () => {});
  child.stderr.resume();
  const waiting = new Map<number, (answer: Record<string, unknown>) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as { id?: number };
    if (typeof answer.id === "number") waiting.get(answer.id)?.(answer);
  });
  let ids = 0;
  return {
    child,
    say: (text: string) => void child.stdin.write(text),
    ask(message: object): Promise<Record<string, unknown>> {
      ids += 1;
      const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(ids, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ids, ...message })}\n`);
      return promise;
    },
  };
}

const read = { method: "tools/call", params: { name: "read", arguments: { path: "notes.md" } } };

test("over stdio, lines that are garbage, deep or no messages are passed over, and the next request is answered", async () => {
  const { child, say, ask } = openStdio();
  expect(await ask(INITIALIZE)).toHaveProperty("result");
  const before = residentMib(child.pid ?? 0);
  say("garbage\n\n\u0000\u0001\n{\n[]\nnull\n7\n{}\n[[1,2],{}]\n");
  say(`{"jsonrpc":"2.0","id":{},"method":"tools/list"}\n{"jsonrpc":"2.0","id":1e400,"method":7}\n`);
  say(`{"jsonrpc":"2.0","id":"__proto__","method":"__proto__","params":{"__proto__":{"a":1}}}\n`);
  say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}\n`);
  say(`${DEEP}\n{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"read","arguments":${DEEP}}}\n`);
  say(`{"jsonrpc":"2.0","id":"deep2","method":"tools/call","params":{"name":"read","arguments":{"path":${DEEP}}}}\n`);
  say(`${"x\n".repeat(20_000)}`);
  say(`{"jsonrpc":"2.0","id":99,"result":{"content":[]}}\n`);
  expect(JSON.stringify(await ask(read))).toContain("the blue house");
  expect(residentMib(child.pid ?? 0) - before).toBeLessThan(GROWTH_LIMIT_MIB);
});

test("over stdio, a line of ten mebibytes and more ends the connection in order, and the daemon goes on", async () => {
  const { child, say, ask } = openStdio();
  expect(await ask(INITIALIZE)).toHaveProperty("result");
  const pid = await bench.pid();
  const ended = once(child, "exit");
  say(`{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(11 * MIB)}`);
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
  expect(await bench.pid()).toBe(pid);
});

test("over stdio, a thousand requests at once are all answered", async () => {
  const { child, ask } = openStdio();
  expect(await ask(INITIALIZE)).toHaveProperty("result");
  const before = residentMib(child.pid ?? 0);
  const calls = Array.from({ length: REQUESTS }, (_, at) => ask(at % 4 === 0 ? read : { method: "tools/list" }));
  const answers = await Promise.all(calls);
  expect(answers.filter((answer) => "result" in answer || "error" in answer).length).toBe(REQUESTS);
  expect(residentMib(child.pid ?? 0) - before).toBeLessThan(GROWTH_LIMIT_MIB);
  expect(JSON.stringify(await ask(read))).toContain("the blue house");
});

const post = ({ url, token }: HttpServe, body: string) =>
  fetch(url, {
    method: "POST",
    body,
    headers: {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
      accept: "application/json, text/event-stream",
    },
  });

/** What a body gets for an answer; "cut" when the connection ended without one. */
async function statusOf(served: HttpServe, body: string): Promise<number | "cut"> {
  const sent = await post(served, body).catch(() => undefined);
  await sent?.body?.cancel();
  return sent?.status ?? "cut";
}

/** An honest client is served. */
async function isServed(served: HttpServe): Promise<void> {
  const client = await overHttp(served, {});
  const { content } = await client.callTool({ name: "read", arguments: { path: "notes.md" } });
  expect(JSON.stringify(content)).toContain("the blue house");
  await client.close();
}

test("over HTTP, garbage, deep JSON and bodies of ten mebibytes are refused, and honest clients are served", async () => {
  const served = await serveHttp(bench);
  children.push(served.child);
  await isServed(served);
  const before = residentMib(served.child.pid ?? 0);
  for (const body of ["", "garbage", "\u0000", "[]", "null", "{}", "[[1]]", DEEP, `{"method":${DEEP}}`]) {
    expect({ body: body.slice(0, 20), status: await statusOf(served, body) }).toMatchObject({ status: 400 });
  }
  const large = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { x: "x".repeat(10 * MIB) } });
  expect([413, "cut"]).toContain(await statusOf(served, large));
  await isServed(served);
  expect(residentMib(served.child.pid ?? 0) - before).toBeLessThan(GROWTH_LIMIT_MIB);
});

test("over HTTP, a thousand requests at once do no harm", async () => {
  const served = await serveHttp(bench);
  children.push(served.child);
  const before = residentMib(served.child.pid ?? 0);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...INITIALIZE });
  const statuses = await Promise.all(Array.from({ length: REQUESTS }, () => statusOf(served, body)));
  expect(statuses).toContain(200);
  for (const status of new Set(statuses)) expect([200, 503, "cut"]).toContain(status);
  await isServed(served);
  expect(residentMib(served.child.pid ?? 0) - before).toBeLessThan(GROWTH_LIMIT_MIB);
});

/** A request that says its body is long, and lets it drip. */
async function drip({ url }: HttpServe, token: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  let heard = "";
  socket.on("data", (bytes) => {
    heard += bytes;
  });
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 1000000\r\n\r\n{`,
  );
  const timer = setInterval(() => socket.write(" "), 500);
  await new Promise((done) => socket.once("close", done));
  clearInterval(timer);
  return heard;
}

test("over HTTP, bodies that drip are refused without the token and cut in time with it, and nobody waits for them", async () => {
  await isServed(dripped);
  expect(await drip(dripped, "a guess")).toMatch(/^HTTP\/1.1 401 /);
  await Promise.all(dripping);
  await isServed(dripped);
});
