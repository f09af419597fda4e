import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findPython } from "../plugin-host/mcp/python-program.ts";
import { THOROUGH } from "./kit/thoroughness.ts";
import { type McpBench, openMcpBench } from "./mcp/mcp-house.ts";
import { openPythonIndex, type PythonIndex } from "./mcp/python-index.ts";

/** pip, a bridge and a server start one after the other, behind all others. */
vi.setConfig({ testTimeout: 240_000 });

const FAKE_SERVER = join(import.meta.dirname, "mcp/fake_server.py");
const hasPip = (() => {
  try {
    const python = findPython(process.env.PATH ?? "", homedir());
    execFileSync(python?.binary ?? "python3", ["-m", "pip", "install", "--help"], { stdio: "ignore" });
    return true;
  } catch {
    console.log("skipped: no python3 with pip here, by which packages are fetched");
    return false;
  }
})();

let bench: McpBench;
let index: PythonIndex;

beforeEach(async () => {
  index = await openPythonIndex();
  const login = index.url.replace("//", "//me:s3cret@");
  bench = await openMcpBench({
    PIP_INDEX_URL: login,
    UV_DEFAULT_INDEX: login,
    UV_EXTRA_INDEX_URL: "",
    PIP_FIND_LINKS: "",
  });
});
afterEach(async () => {
  await bench.close();
  await index.close();
});

const fetchedOf = async (name: string) =>
  (await readdir(join(bench.home, "mcp", `mcp_${name}`))).filter((one) => one.startsWith("fetched-"));
const publish = async (version: string) =>
  index.publish({
    ...{ name: "fake-mcp", version, programs: { "fake-mcp": "fake_mcp.server:main" } },
    files: { "fake_mcp/__init__.py": "", "fake_mcp/server.py": await readFile(FAKE_SERVER, "utf8") },
  });

test.skipIf(!hasPip)("a uvx entry is fetched once, pinned, renewed on request, and runs without uvx", async () => {
  await publish("1.0.0");
  const words = ["uvx", "fake-mcp", "--flag", "word"];
  const added = await bench.claw("mcp", "add", "it", "--trust", "--timeout", "60000", "--", ...words);
  expect(added.stderr).toContain("fake-mcp by uv or pip from your index, wheels alone");
  expect(added.stderr).toContain("it: fake-mcp 1.0.0");
  expect(added.code).toBe(0);
  expect(index.lastLogin()).toBe(`Basic ${Buffer.from("me:s3cret").toString("base64")}`);
  await bench.heard("it");
  const printed = JSON.parse((await bench.call("mcp_it_print")).output);
  expect(printed).toMatchObject({ argv: ["fake-mcp", "--flag", "word"], isolated: 1, child: "seen" });
  expect(printed.env).not.toContain("PIP_INDEX_URL");

  await publish("1.1.0");
  await bench.claw("mcp", "reload");
  expect((await bench.claw("mcp", "show", "it")).stdout).toContain("fake-mcp 1.0.0");
  const [before = ""] = await fetchedOf("it");
  expect((await bench.claw("mcp", "update", "it")).stderr).toContain("fake-mcp 1.1.0, 1.0.0 before");
  expect(await fetchedOf("it")).toHaveLength(1);
  expect(await fetchedOf("it")).not.toContain(before);
  await bench.claw("mcp", "remove", "it");
  expect(await fetchedOf("it")).toEqual([]);
});

test.skipIf(!hasPip)(
  "what is not there, has no wheel or no such program says so, stays in the file, and is retried",
  async () => {
    index.publishSource("of-source", "1.0.0");
    const add = (name: string, ...words: readonly string[]) =>
      bench.claw("mcp", "add", name, "--trust", "--", ...words);
    const missing = await add("missing", "uvx", "fake-mcp");
    expect(missing.code).toBe(3);
    expect(missing.stderr).toContain("the package fake-mcp could not be fetched");
    expect(missing.stderr).toMatch(/missing stays in .*mcp\.json, not fetched/);
    expect(missing.stderr).toContain("claw mcp update missing");
    expect(missing.stderr).toContain("claw mcp add --replace missing -- uvx PACKAGE");
    expect((await bench.claw("mcp", "list")).stdout).toContain("not fetched");
    const built = await add("built", "pipx", "run", "of-source==1.0.0");
    expect(built.stderr).toContain("it would have to be built, which runs its code");
    expect([...(await fetchedOf("missing")), ...(await fetchedOf("built"))]).toEqual([]);

    await publish("1.0.0");
    const other = await add("other", "uvx", "--from", "fake-mcp@1.0.0", "elsewhere");
    expect(other.stderr).toContain('has no program "elsewhere"');
    expect(other.stderr).toContain("it has fake-mcp");
    const again = await bench.claw("mcp", "update", "missing");
    expect(again.stderr).toContain("missing: fake-mcp 1.0.0");
    expect(again.code).toBe(0);
  },
);

test.skipIf(!hasPip)("what a package would have from an address of its own is not fetched", async () => {
  const visits: string[] = [];
  const canary = createServer((request, response) => {
    visits.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(canary.address() as AddressInfo).port}`;
  const metadata = [`Requires-Dist: d @ http://${address}/d-1.0-py3-none-any.whl`];
  index.publish({ name: "fake-mcp", version: "1.0.0", programs: { "fake-mcp": "it:main" }, files: {}, metadata });
  const added = await bench.claw("mcp", "add", "it", "--trust", "--", "uvx", "fake-mcp");
  expect(added.code).not.toBe(0);
  expect(added.stderr).toContain("the package fake-mcp could not be fetched");
  expect(visits).toEqual([]);
  expect(await fetchedOf("it")).toEqual([]);
  canary.closeAllConnections();
  await new Promise((resolve) => canary.close(resolve));
});

test.skipIf(!hasPip || !THOROUGH)("a published server comes from the index that pip is set to here", async () => {
  await bench.close();
  bench = await openMcpBench();
  const words = ["uvx", "mcp-server-time", "--local-timezone", "Europe/Rome"];
  await bench.claw("mcp", "add", "time", "--trust", "--timeout", "60000", "--", ...words);
  await bench.heard("time");
  const said = await bench.call("mcp_time_get_current_time", { timezone: "Asia/Tokyo" });
  expect(said.output).toContain("Asia/Tokyo");
});

test("a uvx entry that names no package of an index is there, and says why it does not run", async () => {
  await writeFile(
    join(bench.home, "mcp.json"),
    JSON.stringify({ mcpServers: { git: { command: "uvx", args: ["--from", "git+https://host/it", "it"] } } }),
  );
  expect((await bench.claw("mcp", "list")).stdout).toContain("which is no package of a registry");
  const update = await bench.claw("mcp", "update", "git");
  expect(update.stderr).toContain("which is no package of a registry");
  expect(update.stderr).toContain("write uvx PACKAGE");
});
