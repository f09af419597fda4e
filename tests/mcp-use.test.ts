import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventually } from "./kit/claw.ts";
import { type ModelServer, startModelServer } from "./kit/model-server.ts";
import { openHttpServer } from "./mcp/http-server.ts";
import { FAKE_SERVER, type McpBench, openMcpBench } from "./mcp/mcp-house.ts";

/** What a person meets who adds servers, looks at them and names them wrongly. */
vi.setConfig({ testTimeout: 180_000 });

const fake = { command: "node", args: [FAKE_SERVER] };
let bench: McpBench;
let model: ModelServer;

beforeEach(async () => {
  model = await startModelServer([
    { blocks: [1, 2].map(() => ({ call: "mcp_s_busy", args: {} })) },
    { blocks: [{ text: "both are here" }] },
  ]);
  bench = await openMcpBench({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.url });
});
afterEach(async () => {
  await bench.close();
  await model.close();
});

test("a list of servers tells one that is off, one that was never heard and one that is ready apart", async () => {
  const unreachable = await closedPort();
  await bench.servers({
    off: { ...fake, disabled: true },
    s: fake,
    gone: { url: `http://127.0.0.1:${unreachable}/mcp` },
  });
  await bench.heard("s");
  const { stdout } = await eventually(
    () => bench.claw("mcp", "list"),
    (ran) => ran.stdout.includes("cannot be reached"),
    "what became of the server that is not there",
  );
  const [, gone = "", off = "", ready = ""] = stdout.split("\n");
  expect(gone).toContain(`127.0.0.1:${unreachable} cannot be reached: `);
  expect(gone).toContain("ECONNREFUSED");
  expect(off).toMatch(/^off\s+off\s/);
  expect(ready).toMatch(/^s\s+ready\s/);
});

test("a server that knows only the older way is added by --transport sse, and one more word is too much", async () => {
  const older = await openHttpServer("old");
  try {
    const flags = ["--transport", "sse", "--timeout", "60000", "--trust"];
    expect((await bench.claw("mcp", "add", ...flags, "o", older.url)).code).toBe(0);
    await bench.heard("o");
    expect((await bench.claw("mcp", "show", "o")).stdout).toContain(`${older.url} (sse)`);
    expect((await bench.claw("mcp", "add", ...flags, "p", older.url, "word")).code).toBe(2);
    expect((await bench.claw("mcp", "add", "--transport", "pigeon", "p", older.url)).code).toBe(2);
  } finally {
    await older.close();
  }
});

test("two calls in one reply come to a server one after the other", async () => {
  await bench.servers({ s: fake });
  await bench.heard("s");
  const { stdout } = await bench.claw("say", "--json", "--allow", "mcp_*", "see who is here");
  const ends = stdout.split("\n").filter((line) => line.includes('"toolCallEnded"'));
  expect(ends.map((line) => JSON.parse(line).toolCallEnded.output)).toEqual(["1 here", "1 here"]);
});

test("what is done to a server's plugin by the name of a plugin says where it is done, and changes nothing", async () => {
  await bench.servers({ s: fake });
  await bench.heard("s");
  for (const verb of ["enable", "disable", "grant", "revoke", "remove"]) {
    const { code, stderr } = await bench.claw("plugin", verb, "mcp_s");
    expect(code).toBe(3);
    expect(stderr).toContain("was not installed: it stands in");
    expect(stderr).toContain("then claw mcp reload; claw mcp remove takes it out");
  }
  expect((await bench.claw("plugin", "reload", "mcp_s")).code).toBe(0);
  expect((await bench.claw("plugin", "list")).stdout).toMatch(/^mcp_s\s+\S+\s+(?:ready|idle)/m);
});

test("a plugin of another machine that nobody let in is named as it was written", async () => {
  const { stderr } = await bench.claw("plugin", "install", "remote:far");
  expect(stderr).toContain('no agent has offered the plugin "far" yet');
  expect(stderr).toContain("claw plugin enrol far");
  expect(stderr).not.toContain(bench.home);
});

/** A port of the loopback at which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
