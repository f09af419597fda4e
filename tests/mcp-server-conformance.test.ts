import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Bench, openBench } from "./kit/claw.ts";
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

const PROMPTS = { test_simple_prompt: "conformance-greet", test_prompt_with_arguments: "conformance-greet" };

/** What a server that offers just what clawd has cannot show; docs/mcp.md says why of each. */
const NOT_OFFERED = [
  "tools-call-sampling",
  ...["resources-read-text", "resources-read-binary", "resources-templates-read"],
  ...["resources-subscribe", "resources-unsubscribe"],
  ...["prompts-get-embedded-resource", "prompts-get-with-image"],
];

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

test("every conformance scenario passes but those about what clawd does not offer", { timeout: 180_000 }, async () => {
  const bench = await openBench();
  closers.push(() => bench.close());
  expect((await bench.claw("plugin", "install", PLUGIN, "--yes", "--trust")).code).toBe(0);
  const offered = Object.entries(TOOLS).flatMap(([name, tool]) => ["--tool", `${name}=plugin_conformance_${tool}`]);
  const prompts = Object.entries(PROMPTS).flatMap(([name, command]) => ["--prompt", `${name}=${command}`]);
  const served = await serveHttp(bench, "--allow", "plugin_conformance_*", ...offered, ...prompts);
  closers.push(async () => {
    const ended = once(served.child, "exit");
    if (served.child.kill("SIGTERM")) await ended;
  });
  const url = await withToken(served);
  const said = await runSuite(bench, url);
  const rows = [...said.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed/gm)];
  const failed = rows.filter(([, mark]) => mark === "✗").map(([, , name]) => name);
  console.info(`conformance server: ${rows.length - failed.length} of ${rows.length} scenarios pass`);
  expect(rows.length).toBeGreaterThan(25);
  expect(failed.sort()).toEqual([...NOT_OFFERED].sort());
  expect(await runSuite(bench, url, "--scenario", "json-schema-2020-12")).toMatch(/Passed: \d+\/\d+, 0 failed/);
});
