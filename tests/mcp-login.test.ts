import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { McpService } from "../proto/gen/clawd/v1/mcp_pb.ts";
import { CLAW } from "./kit/claw.ts";
import { type LoginServer, openLoginServer } from "./mcp/login-server.ts";
import { type McpBench, openMcpBench, transportTo } from "./mcp/mcp-house.ts";

/** Programs that stand back behind all others start slowly where the machine is busy. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const WISH_LIMIT_MS = 90_000;

let bench: McpBench;
let server: LoginServer;

beforeEach(async () => {
  [bench, server] = await Promise.all([openMcpBench(), openLoginServer()]);
  await bench.servers({ s: { url: server.url } });
  await bench.claw("status");
  await wished();
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

/** Resolves when the server has turned the bridge away. */
async function wished(): Promise<void> {
  const startedMs = performance.now();
  while ((await waitsFor()) !== "login") {
    if (performance.now() - startedMs > WISH_LIMIT_MS)
      throw new Error((await bench.claw("plugin", "logs", "mcp_s")).stdout);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function waitsFor(): Promise<string> {
  const { servers } = await createClient(McpService, transportTo(bench.home)).listServers({});
  return servers[0]?.waitsFor ?? "";
}

/** `claw mcp login`, with a browser that says yes at once. */
async function logIn(): Promise<number> {
  const child = spawn(process.execPath, [CLAW, "mcp", "login", "s", "--json"], {
    ...{ env: bench.env, cwd: bench.workspace },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    const { authorizationUrl } = JSON.parse(line);
    if (authorizationUrl === undefined) continue;
    // What another page sends to the same port is no answer.
    const { origin } = new URL(new URL(authorizationUrl).searchParams.get("redirect_uri") ?? "");
    expect((await fetch(`${origin}/callback?code=evil&state=evil`)).status).toBe(404);
    expect((await fetch(authorizationUrl)).status).toBe(200);
  }
  const [code] = await ended;
  return code;
}

/** The files under a folder that hold a text. */
async function filesWith(folder: string, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const content = await readFile(join(folder, name), "latin1").catch(() => "");
    if (texts.some((text) => content.includes(text))) found.push(name);
  }
  return found;
}

test("a person logs in once; the tokens lie in one file of the owner's alone, are renewed, and are gone after a logout", async () => {
  const listed = await bench.claw("mcp", "list");
  expect(listed.stdout).toContain("wants a login");
  expect(listed.stderr).toContain("claw mcp login s");
  expect(await logIn()).toBe(0);
  await bench.heard("s");
  expect((await bench.call("mcp_s_look")).output).toBe("seen");
  expect(await waitsFor()).toBe("");

  server.expire();
  expect((await bench.call("mcp_s_look")).output).toBe("seen");
  expect(server.grants).toEqual(["authorization_code", "refresh_token"]);

  expect(await filesWith(bench.home, server.given)).toEqual(["secrets/mcp_s.json"]);
  expect((await stat(join(bench.home, "secrets/mcp_s.json"))).mode & 0o777).toBe(0o600);
  const { stdout } = await bench.claw("plugin", "logs", "mcp_s");
  for (const token of server.given) expect(stdout).not.toContain(token);

  expect((await bench.claw("mcp", "logout", "s")).code).toBe(0);
  expect(await filesWith(bench.home, server.given)).toEqual([]);
  expect((await bench.call("mcp_s_look")).failure).toMatchObject({ category: "auth_failure", retryable: false });
});

test("a call without a login that counts fails, and says how to log in", async () => {
  expect(await logIn()).toBe(0);
  await bench.heard("s");
  server.revoke();
  const refused = await bench.call("mcp_s_look");
  expect(refused.failure).toMatchObject({ category: "auth_failure", retryable: false });
  expect(refused.output).toContain("claw mcp login s");
  expect(await waitsFor()).toBe("login");
  expect(await logIn()).toBe(0);
  expect((await bench.call("mcp_s_look")).output).toBe("seen");
});

test("an answer that is not the one to the login that was begun is refused", async () => {
  const mcp = createClient(McpService, transportTo(bench.home));
  await expect(mcp.finishLogin({ name: "s", query: "code=x&state=y" })).rejects.toThrow("no login under way");
  await mcp.beginLogin({ name: "s", redirectUrl: "http://127.0.0.1:7/callback" });
  await expect(mcp.finishLogin({ name: "s", query: "code=x&state=y" })).rejects.toThrow("not the answer to the login");
  expect(server.grants).toEqual([]);
  await expect(mcp.beginLogin({ name: "nobody", redirectUrl: "" })).rejects.toThrow('no MCP server "nobody"');
});
