import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { THOROUGH } from "./kit/thoroughness.ts";
import { FAKE_SERVER, type McpBench, openMcpBench } from "./mcp/mcp-house.ts";
import { type NpmRegistry, openNpmRegistry } from "./mcp/npm-registry.ts";

/** npm, a bridge and a server start one after the other, behind all others. */
vi.setConfig({ testTimeout: 240_000 });

const hasNpm = (() => {
  try {
    execFileSync("npm", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    console.log("skipped: no npm here, by which packages are fetched");
    return false;
  }
})();

let bench: McpBench;
let registry: NpmRegistry;

beforeEach(async () => {
  registry = await openNpmRegistry();
  bench = await openMcpBench({ TOKEN_OF_REGISTRY: "s3cret" });
  const authority = registry.url.replace(/^http:/, "");
  await writeFile(
    join(bench.home, ".npmrc"),
    `registry=${registry.url}\n${authority}:_authToken=\${TOKEN_OF_REGISTRY}\n`,
  );
});
afterEach(async () => {
  await bench.close();
  await registry.close();
});

const server = { bin: { "fake-mcp": "server.mjs" }, files: { "server.mjs": FAKE_SERVER } };
const packagesOf = async (name: string) =>
  (await readdir(join(bench.home, "mcp", `mcp_${name}`))).filter((one) => one.startsWith("fetched-"));

test.skipIf(!hasNpm)("an npx entry is fetched once, pinned, renewed on request, and runs without npx", async () => {
  const ran = join(bench.workspace, "ran");
  await registry.publish({
    ...{ name: "@scope/fake-mcp", version: "1.0.0", ...server },
    scripts: { postinstall: `touch ${ran}` },
  });
  const added = await bench.claw(
    "mcp",
    "add",
    "it",
    "--trust",
    "--timeout",
    "60000",
    "--",
    "npx",
    "-y",
    "@scope/fake-mcp",
    "word",
  );
  expect(added.stderr).toContain("@scope/fake-mcp by npm from your registry, without install scripts");
  expect(added.stderr).toContain("it: @scope/fake-mcp 1.0.0");
  expect(added.stderr).toContain("install scripts that did not run: @scope/fake-mcp");
  expect(added.code).toBe(0);
  expect(existsSync(ran)).toBe(false);
  expect(registry.lastToken()).toBe("Bearer s3cret");
  // It is asked right away, and whoever looks waits for that.
  expect((await bench.claw("mcp", "show", "it")).stdout).toContain("mcp_it_print");
  const printed = JSON.parse((await bench.call("mcp_it_print")).output);
  expect(printed.argv).toEqual(["word"]);
  expect(printed.env.TOKEN_OF_REGISTRY).toBeUndefined();

  await registry.publish({ name: "@scope/fake-mcp", version: "1.1.0", ...server });
  await bench.claw("mcp", "reload");
  expect((await bench.claw("mcp", "show", "it")).stdout).toContain("@scope/fake-mcp 1.0.0 (sha512-");
  const [before = ""] = await packagesOf("it");
  const updated = await bench.claw("mcp", "update", "it");
  expect(updated.stderr).toContain("@scope/fake-mcp 1.1.0, 1.0.0 before");
  expect(await packagesOf("it")).toHaveLength(1);
  expect(await packagesOf("it")).not.toContain(before);
  expect((await bench.call("mcp_it_shape", { as: "text" })).output).toBe("two\nlines");

  await bench.claw("mcp", "remove", "it");
  expect(await packagesOf("it")).toEqual([]);
});

test.skipIf(!hasNpm)("a package that is not there says what and what next, and leaves nothing half", async () => {
  const added = await bench.claw("mcp", "add", "it", "--trust", "--", "npx", "-y", "no-such-thing");
  expect(added.code).toBe(3);
  expect(added.stderr).toContain("the package no-such-thing could not be fetched: code E404");
  expect(added.stderr).toContain("claw mcp add --replace it -- npx -y PACKAGE");
  expect(added.stderr).toMatch(/it stays in .*mcp\.json, not fetched: claw mcp update it tries again/);
  expect(await packagesOf("it")).toEqual([]);
  expect((await bench.claw("mcp", "list")).stdout).toContain("not fetched");
  expect((await bench.claw("plugin", "list")).stdout).toContain("is not fetched yet");
});

test.skipIf(!hasNpm)("what a folder's file would fetch is said before the yes, and fetched after it", async () => {
  await registry.publish({ name: "fake-mcp", version: "2.0.0", ...server });
  const entry = { command: "npx", args: ["-y", "fake-mcp@^2"], trust: true, timeout: 60_000 };
  await writeFile(join(bench.workspace, ".mcp.json"), JSON.stringify({ mcpServers: { shared: entry } }));
  const approved = await bench.claw("mcp", "approve", "shared", "--yes");
  expect(approved.stdout).toContain(
    "fetches   fake-mcp@^2: by npm from your registry, without install scripts; not done",
  );
  expect(approved.stderr).toContain("shared: fake-mcp 2.0.0");
  // What it is granted is what was shown: the yes holds.
  await bench.claw("mcp", "reload");
  await bench.heard("shared");
  const file = join(bench.workspace, "other.json");
  await writeFile(file, JSON.stringify({ mcpServers: { brought: { ...entry, args: ["fake-mcp"] } } }));
  const brought = await bench.claw("mcp", "import", file);
  expect(brought.stderr).toContain("claw mcp update NAME fetches one");
});

test("an npx entry that names no package of a registry is there, and says why it does not run", async () => {
  await bench.servers({ git: { command: "npx", args: ["-y", "github:some/body"] } });
  const { stdout } = await bench.claw("mcp", "list");
  expect(stdout).toContain('"github:some/body", which is no package of a registry');
  const update = await bench.claw("mcp", "update", "git");
  expect(update.stderr).toContain("which is no package of a registry");
});

test.skipIf(!hasNpm || !THOROUGH)("a published server comes from the registry that npm is set to here", async () => {
  await writeFile(join(bench.home, ".npmrc"), await readFile(join(process.env.HOME ?? "", ".npmrc")).catch(() => ""));
  const words = ["npx", "-y", "@modelcontextprotocol/server-filesystem", bench.workspace];
  await bench.claw("mcp", "add", "files", "--trust", "--timeout", "60000", "--", ...words);
  await bench.heard("files");
  expect((await bench.call("mcp_files_list_allowed_directories")).output).toContain(bench.workspace);
});
