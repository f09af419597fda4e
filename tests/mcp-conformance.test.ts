import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, openBench } from "./kit/claw.ts";
import { behaveAsClient } from "./mcp/conformance-client.ts";

/** Two dozen servers, a process each, one after the other. */
const SUITE_LIMIT_MS = 15 * 60_000;
const SUITE = join(import.meta.dirname, "../node_modules/@modelcontextprotocol/conformance/dist/index.js");
/** A way to log in that clawd does not offer: by the word of another identity provider. */
const NOT_OFFERED = /^auth\/cross-app-access/;
/** Its authorization server calls itself otherwise than where it is found, which RFC 8414 wants refused; clawd does refuse it. */
const RIGHTLY_REFUSED = "auth/2025-03-26-oauth-metadata-backcompat";

let bench: Bench;
let results: string;
let door: Server;
const troubles = new Map<string, string>();

/** The suite starts a program for each scenario: `curl`, which asks here, so that one daemon serves all. */
beforeAll(async () => {
  bench = await openBench();
  results = await mkdtemp(join(tmpdir(), "clawd-conformance-"));
  await bench.claw("status");
  let last: Promise<unknown> = Promise.resolve();
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const asked = new URLSearchParams(body);
    const scenario = asked.get("scenario") ?? "";
    const wanted = { scenario, url: asked.get("url") ?? "", context: JSON.parse(asked.get("context") || "{}") };
    const mine = last.then(async () => {
      if (NOT_OFFERED.test(scenario)) throw new Error("clawd does not offer this");
      await behaveAsClient(bench.home, wanted);
    });
    last = mine.catch((cause: unknown) => troubles.set(scenario, String(cause)));
    const status = await mine.then(
      () => 200,
      () => 500,
    );
    response.writeHead(status).end();
  }
  door = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
}, SUITE_LIMIT_MS);

afterAll(async () => {
  door.close();
  await bench.close();
  await rm(results, { recursive: true, force: true });
});

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

/** Runs all scenarios of a suite; gives the checks of each. */
async function run(suite: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const { port } = door.address() as AddressInfo;
  // The address of the server follows as the last word.
  const said = "-d scenario=$MCP_CONFORMANCE_SCENARIO --data-urlencode context=$MCP_CONFORMANCE_CONTEXT";
  const command = `bash -c 'set -f; IFS=; curl -sf ${said} --data-urlencode url=$0 http://127.0.0.1:${port}/'`;
  const args = [SUITE, "client", "--suite", suite, "--command", command, "--timeout", String(SUITE_LIMIT_MS)];
  const out = join(results, suite);
  await new Promise<void>((resolve) => {
    execFile(process.execPath, [...args, "-o", out], { cwd: results, maxBuffer: 64 * 1024 * 1024 }, () => resolve());
  });
  return readChecks(out);
}

async function readChecks(folder: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const found = new Map<string, readonly Check[]>();
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith("checks.json")) continue;
    const scenario = name.replace(/\/checks\.json$/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    found.set(scenario, JSON.parse(await readFile(join(folder, name), "utf8")));
  }
  return found;
}

/** A machine that is busy wakes late: that is no word about whether the server's wish was heard. */
function isLateness({ id, errorMessage = "" }: Check): boolean {
  return id === "client-sse-retry-timing" && errorMessage.includes("very late");
}

test(
  "the official suite finds nothing wrong with clawd as a client of MCP",
  async () => {
    const checks = await run("all");
    const bad: string[] = [];
    let passed = 0;
    for (const [scenario, list] of checks) {
      if (NOT_OFFERED.test(scenario)) continue;
      if (scenario === RIGHTLY_REFUSED) {
        expect(troubles.get(scenario)).toContain("Issuer mismatch");
        continue;
      }
      for (const check of list) {
        if (check.status === "SUCCESS") passed += 1;
        if (check.status === "FAILURE" && !isLateness(check))
          bad.push(`${scenario}: ${check.id}: ${check.errorMessage ?? ""} ${troubles.get(scenario) ?? ""}`);
      }
    }
    console.log(`conformance: ${checks.size} scenarios, ${passed} checks passed, ${bad.length} failed`);
    expect(bad).toEqual([]);
    expect(checks.size).toBeGreaterThanOrEqual(23);
  },
  SUITE_LIMIT_MS,
);
