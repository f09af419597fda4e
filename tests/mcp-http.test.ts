import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type HttpMcpServer, openHttpServer } from "./mcp/http-server.ts";
import { type McpBench, openMcpBench } from "./mcp/mcp-house.ts";

/** Programs that stand back behind all others start slowly where the machine is busy. */
vi.setConfig({ testTimeout: 180_000 });

let bench: McpBench;
let server: HttpMcpServer;

beforeEach(async () => {
  bench = await openMcpBench({ FAKE_TOKEN: "secret-token" });
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

test("a server over HTTP gets its headers, and what it cannot answer at first is asked again", async () => {
  server = await openHttpServer("json");
  await bench.servers({ h: { url: server.url, headers: { authorization: "Bearer ${FAKE_TOKEN}" } } });
  await bench.heard("h");
  server.failWith(503, 503);
  expect((await bench.call("mcp_h_ask")).output).toBe("answer of ask");
  const calls = server.heard.filter(({ rpc }) => rpc === "tools/call");
  expect(calls.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill("Bearer secret-token"));
  expect((await bench.claw("plugin", "logs", "mcp_h")).stdout).not.toContain("secret-token");
});

test("each status has its class", async () => {
  server = await openHttpServer("json");
  await bench.servers({ h: { url: server.url } });
  await bench.heard("h");
  const failure = async (...statuses: readonly number[]) => {
    server.failWith(...statuses);
    return (await bench.call("mcp_h_ask")).failure;
  };
  expect(await failure(400)).toMatchObject({ category: "invalid_input", retryable: false });
  expect(await failure(401)).toMatchObject({ category: "auth_failure", retryable: false });
  expect(await failure(410)).toMatchObject({ category: "not_found", retryable: false });
  expect(await failure(429, 429, 429, 429)).toMatchObject({ category: "rate_limited", retryable: true });
  expect(await failure(500, 500, 500, 500)).toMatchObject({ category: "server_error", retryable: true });
});

test("answers as an event stream are read, and so are servers that know only the older way", async () => {
  server = await openHttpServer("stream");
  const older = await openHttpServer("old");
  try {
    await bench.servers({ s: { type: "sse", url: server.url }, o: { type: "sse", url: older.url } });
    await bench.heard("s");
    await bench.heard("o");
    expect((await bench.call("mcp_s_ask")).output).toBe("answer of ask");
    expect((await bench.call("mcp_o_ask")).output).toBe("answer of ask");
  } finally {
    await older.close();
  }
});

test("a server that is dialled reaches its own address and nothing else", async () => {
  server = await openHttpServer("json");
  await bench.servers({ h: { url: server.url } });
  await bench.heard("h");
  const { stdout } = await bench.claw("mcp", "show", "h");
  expect(stdout).toContain(`may       net=${new URL(server.url).host}\n`);
});
