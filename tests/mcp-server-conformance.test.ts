import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Bench } from "./kit/claw.ts";
import { openMcpBench } from "./mcp/mcp-house.ts";
import { type HttpServe, serveHttp } from "./mcp-server/mcp-visitor.ts";

const SUITE = join(import.meta.dirname, "../node_modules/@modelcontextprotocol/conformance/dist/index.js");
const PLUGIN = join(import.meta.dirname, "mcp-server/conformance-plugin");

/** The suite calls tools by names of its own; a plugin behind the daemon has them. */
const TOOLS = {
  test_simple_text: "simple_text",
  test_error_handling: "failing",
  test_tool_with_progress: "progress",
  test_tool_with_logging: "progress",
  json_schema_2020_12_tool: "schema",
  test_image_content: "image",
  test_audio_content: "audio",
  test_embedded_resource: "resource",
  test_multiple_content_types: "mixed",
  test_elicitation: "ask",
  test_elicitation_sep1034_defaults: "ask_defaults",
  test_elicitation_sep1330_enums: "ask_choices",
};

/** And a server behind the daemon has what no plugin has. */
const SUITE_SERVER = join(import.meta.dirname, "mcp-server/suite-server.mjs");

const PROMPTS = {
  test_simple_prompt: "conformance-greet",
  test_prompt_with_arguments: "conformance-greet",
  test_prompt_with_embedded_resource: "mcp_suite_with-resource",
  test_prompt_with_image: "mcp_suite_with-image",
};

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The suite knows no tokens: a go-between adds ours and changes nothing else. */
async function withToken({ url, token }: HttpServe): Promise<string> {
  const { hostname, port } = new URL(url);
  const between = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const sent = request({ host: hostname, port, path: asked.url, method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    sent.once("error", () => answer.destroy());
    answer.once("close", () => sent.destroy());
    asked.pipe(sent);
  });
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  closers.push(async () => {
    between.closeAllConnections();
    between.close();
  });
  return `http://127.0.0.1:${(between.address() as AddressInfo).port}/mcp`;
}

function runSuite(bench: Bench, url: string, ...more: readonly string[]): Promise<string> {
  const args = [SUITE, "server", "--url", url, "-o", join(bench.home, "conformance"), ...more];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: bench.env, maxBuffer: 16 * 1024 * 1024 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}

test("every conformance scenario passes, over tools of a plugin and a server behind the daemon", {
  timeout: 180_000,
}, async () => {
  const bench = await openMcpBench();
  closers.push(() => bench.close());
  const offered = Object.entries(TOOLS).flatMap(([name, tool]) => ["--tool", `${name}=plugin_conformance_${tool}`]);
  offered.push("--tool", "test_sampling=mcp_suite_sample");
  const prompts = Object.entries(PROMPTS).flatMap(([name, command]) => ["--prompt", `${name}=${command}`]);
  const suite = { command: process.execPath, args: [SUITE_SERVER], sampling_tokens: 10_000, sampling_ask: false };
  await bench.servers({ suite });
  expect((await bench.claw("plugin", "install", PLUGIN, "--yes", "--trust")).code).toBe(0);
  await bench.heard("suite");
  const allowed = ["plugin_conformance_*", "mcp_suite_*"].flatMap((tools) => ["--allow", tools]);
  const served = await serveHttp(bench, ...allowed, ...offered, ...prompts, "--resources", "suite", "--client-model");
  closers.push(async () => {
    const ended = once(served.child, "exit");
    if (served.child.kill("SIGTERM")) await ended;
  });
  const url = await withToken(served);
  const said = await runSuite(bench, url);
  const rows = [...said.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed/gm)];
  const failed = rows.filter(([, mark]) => mark === "✗").map(([, , name]) => name);
  console.info(`conformance server: ${rows.length - failed.length} of ${rows.length} scenarios pass`);
  expect(rows.length).toBeGreaterThan(29);
  expect(failed).toEqual([]);
  expect(await runSuite(bench, url, "--scenario", "json-schema-2020-12")).toMatch(/Passed: \d+\/\d+, 0 failed/);
});
