import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addApproval, entryDigest } from "../../plugin-host/mcp/approvals.ts";
import { readKnownServers, type ServerPlaces } from "../../plugin-host/mcp/known-servers.ts";
import { readServerEntry } from "../../plugin-host/mcp/server-entry.ts";
import { wholeGrant } from "../../plugin-host/mcp/usual-grant.ts";

// A folder that somebody else writes, with an .mcp.json in it, after a person said yes to it once.

let dir: string;
let workspace: string;
let places: ServerPlaces;
let env: Record<string, string>;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "approval-")));
  workspace = join(dir, "project");
  for (const folder of ["project", "home", "home/.ssh", "public"]) mkdirSync(join(dir, folder));
  env = { PATH: "/usr/bin:/bin", TOKEN: "one", TRACKER: "tracker.example" };
  places = {
    ...{ homeFile: join(dir, "mcp.json"), approvedFile: join(dir, "approved.json"), serversDir: join(dir, "mcp") },
    ...{ bridgeFile: "/bridge.js", homeDir: join(dir, "home"), env },
    configured: async () => ({ file: "config.toml", servers: new Map() }),
  };
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(text: string): void {
  writeFileSync(join(workspace, ".mcp.json"), text);
}

/** Says yes to what the file says now, as a person would who was shown it. */
async function approve(entry: JsonObject): Promise<void> {
  write(JSON.stringify({ mcpServers: { s: entry } }));
  const place = { file: "f", folder: workspace, homeDir: places.homeDir, searchPath: "/usr/bin:/bin", env };
  const read = readServerEntry("s", entry, place);
  if (!read.ok) throw new Error(read.failure.message);
  const sha256 = entryDigest(workspace, "s", entry, wholeGrant(read.value, place));
  await addApproval(places.approvedFile, { workspace, name: "s", sha256 });
  expect((await readKnownServers(places)).known).toHaveLength(1);
}

async function isAskedAgain(): Promise<void> {
  const { known, problems } = await readKnownServers(places);
  expect(known).toEqual([]);
  expect(problems).toMatchObject([
    { code: "denied", message: expect.stringContaining("is not the one that was approved") },
  ]);
}

test("a link among its arguments that leads elsewhere later grants nothing new without a yes", async () => {
  symlinkSync(join(dir, "public"), join(workspace, "data"));
  await approve({ command: "node", args: ["server.js", "./data"] });
  unlinkSync(join(workspace, "data"));
  symlinkSync(join(dir, "home/.ssh"), join(workspace, "data"));
  await isAskedAgain();
});

test("a package file that appears above its script grants nothing new without a yes", async () => {
  mkdirSync(join(workspace, "tools"));
  writeFileSync(join(workspace, "tools/server.js"), "");
  await approve({ command: "node", args: ["tools/server.js"] });
  writeFileSync(join(workspace, "package.json"), "{}");
  await isAskedAgain();
});

test("a variable that names another machine is asked about; one that is a secret in a header is not read by the question", async () => {
  await approve({ type: "http", url: "https://${TRACKER}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } });
  env.TOKEN = "two";
  expect((await readKnownServers(places)).known).toHaveLength(1);
  env.TRACKER = "evil.example";
  await isAskedAgain();
});

test("an entry that was changed, however little, is asked about", async () => {
  const entry = { command: "node", args: ["server.js"], env: { A: "1" } };
  for (const change of [
    { args: ["server.js", "x"] },
    { env: { A: "2" } },
    { allow: ["net"] },
    { trust: true },
    { cwd: "/" },
  ]) {
    await approve(entry);
    write(JSON.stringify({ mcpServers: { s: { ...entry, ...change } } }));
    await isAskedAgain();
  }
});

test("names and headers that are none are refused, and nothing of them becomes a prototype's", async () => {
  const wrong = ["__proto__", "constructor/../x", "", "a b", "-a", "é", "x".repeat(33)];
  writeFileSync(
    places.homeFile,
    `{"mcpServers":{${wrong.map((name) => `${JSON.stringify(name)}:{"command":"node"}`).join()}}}`,
  );
  expect((await readKnownServers(places)).problems).toHaveLength(wrong.length);
  for (const headers of [
    '{"A":"b\\r\\nC: d"}',
    '{"A\\nB":"c"}',
    '{"__proto__":"x","A":"${NEWLINES}"}',
    '{"A":["b"]}',
  ]) {
    env.NEWLINES = "a\r\nb";
    writeFileSync(places.homeFile, `{"mcpServers":{"s":{"url":"https://a.example","headers":${headers}}}}`);
    const { known, problems } = await readKnownServers(places);
    expect([known.length, problems.length]).toEqual([0, 1]);
  }
  expect(({} as Record<string, unknown>).command).toBeUndefined();
});

test("an .mcp.json that is a pipe, a device, a folder or endless holds nobody up", async () => {
  const file = join(workspace, ".mcp.json");
  await approve({ command: "node" });
  const put = [
    () => execFileSync("mkfifo", [file]),
    () => symlinkSync("/dev/zero", file),
    () => symlinkSync(file, file),
    () => mkdirSync(file),
    () => writeFileSync(file, Buffer.alloc(3 * 1024 * 1024, " ")),
    () => writeFileSync(file, `{"mcpServers":${"[".repeat(100_000)}`),
  ];
  for (const replace of put) {
    rmSync(file, { recursive: true, force: true });
    replace();
    expect((await readKnownServers(places)).known).toEqual([]);
  }
});
