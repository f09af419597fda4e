import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { madeFor, openToolBench, type ToolBench } from "./fixtures/tool-bench.ts";

const SECRET = "the secret outside";
let bench: ToolBench;
beforeEach(() => {
  bench = openToolBench();
  writeFileSync(join(bench.outside, "secret.txt"), SECRET);
});
afterEach(() => bench.close());

const inside = (path: string) => join(bench.workspace, path);
const denied = { status: "failed", failure: { code: "denied" } };

test.each(["../outside/secret.txt", "/etc/hostname", "a/../../outside/secret.txt", "/proc/self/environ"])(
  "%s is outside by its spelling",
  async (path) => {
    expect(await bench.call("read", { path })).toMatchObject(denied);
    expect(await bench.call("write", { path, content: "" })).toMatchObject(denied);
    expect(await bench.call("edit", { path, old_text: "a", new_text: "b" })).toMatchObject(denied);
    expect(await bench.call("list", { path })).toMatchObject(denied);
    expect(await bench.call("grep", { pattern: ".", path })).toMatchObject(denied);
  },
);

test("links out of the workspace lead nowhere, whether last or on the way; links inside are read", async () => {
  symlinkSync(bench.outside, inside("way"));
  symlinkSync(join(bench.outside, "secret.txt"), inside("last"));
  symlinkSync(join(bench.outside, "new.txt"), inside("dangling"));
  writeFileSync(inside("real.txt"), "fine");
  symlinkSync("real.txt", inside("good"));
  for (const path of ["way/secret.txt", "last"]) {
    expect(await bench.call("read", { path })).toMatchObject(denied);
    expect(await bench.call("write", { path, content: "x" })).toMatchObject(denied);
    expect(await bench.call("edit", { path, old_text: "the", new_text: "x" })).toMatchObject(denied);
  }
  expect(await bench.call("list", { path: "way" })).toMatchObject(denied);
  expect(await bench.call("write", { path: "way/deep/new.txt", content: "x" })).toMatchObject(denied);
  expect(await bench.call("write", { path: "dangling", content: "x" })).toMatchObject(denied);
  expect(await bench.call("write", { path: "dangling/x", content: "x" })).toMatchObject({ status: "failed" });
  expect(await bench.call("read", { path: "good" })).toEqual({ status: "done", output: "fine" });
  expect((await bench.call("grep", { pattern: "secret" })).output).toBe("[no match in 1 file]");
  expect((await bench.call("list", { recursive: true })).output).not.toContain("secret.txt/");
  expect(readdirSync(bench.outside)).toEqual(["secret.txt"]);
  expect(readFileSync(join(bench.outside, "secret.txt"), "utf8")).toBe(SECRET);
});

test("a workspace that is named through a link works by both names", async () => {
  symlinkSync(bench.workspace, join(bench.root, "alias"));
  const workspace = join(bench.root, "alias");
  expect(await bench.call("write", { path: "a.txt", content: "x" }, { workspace })).toMatchObject({ status: "done" });
  expect(await bench.call("read", { path: join(workspace, "a.txt") }, { workspace })).toMatchObject({ output: "x" });
  expect(await bench.call("read", { path: inside("a.txt") }, { workspace })).toMatchObject({ output: "x" });
  expect(await bench.call("read", { path: "../outside/secret.txt" }, { workspace })).toMatchObject(denied);
});

test("with the whole machine as workspace the kernel's files stay closed", async () => {
  const workspace = "/";
  expect(await bench.call("read", { path: "/proc/self/environ" }, { workspace })).toMatchObject(denied);
  expect(await bench.call("list", { path: "/proc/self/fd" }, { workspace })).toMatchObject(denied);
  expect(await bench.call("read", { path: join(bench.outside, "secret.txt") }, { workspace })).toMatchObject({
    output: SECRET,
  });
});

test("a FIFO does not hold up a call", async () => {
  execFileSync("mkfifo", [inside("pipe")]);
  expect(await bench.call("read", { path: "pipe" })).toMatchObject({ failure: { code: "invalid" } });
  expect(await bench.call("write", { path: "pipe", content: "x" })).toMatchObject({ failure: { code: "invalid" } });
  expect(await bench.call("grep", { pattern: "x" })).toMatchObject({ status: "done" });
  expect(await bench.call("list", {})).toMatchObject({ output: "pipe (not a regular file)" });
});

test("a write never goes into the other name of a file that lies outside", async () => {
  linkSync(join(bench.outside, "secret.txt"), inside("hard"));
  expect(await bench.call("write", { path: "hard", content: "mine" })).toMatchObject({ status: "done" });
  expect(readFileSync(join(bench.outside, "secret.txt"), "utf8")).toBe(SECRET);
});

test("protected paths are never written, also through a link that hides their name", async () => {
  mkdirSync(inside(".git/hooks"), { recursive: true });
  symlinkSync(".git/hooks", inside("innocent"));
  symlinkSync("data", inside("also"));
  for (const path of [
    ".git/hooks/pre-commit",
    "innocent/pre-commit",
    "data/x",
    "also/x",
    ".claude/settings.json",
    "a/.bashrc",
  ]) {
    expect(await bench.call("write", { path, content: "rm -rf ~" })).toMatchObject(denied);
  }
  expect(existsSync(inside(".claude"))).toBe(false);
  expect(existsSync(inside("a"))).toBe(false);
  expect([readdirSync(inside(".git/hooks")), readdirSync(inside("data"))]).toEqual([[], []]);
});

test("the daemon's own data is never read, by whatever name, and searches pass it by", async () => {
  writeFileSync(inside("data/config.toml"), 'api_key = "sk-secret"');
  writeFileSync(inside("mine.txt"), "api_key of mine");
  symlinkSync("data", inside("also"));
  for (const path of ["data/config.toml", "also/config.toml", "data", "also"]) {
    expect(await bench.call("read", { path })).toMatchObject({ status: "failed" });
    expect(await bench.call("list", { path })).toMatchObject({ status: "failed" });
    expect(JSON.stringify(await bench.call("grep", { pattern: "api_key", path }))).not.toContain("sk-secret");
  }
  const found = await bench.call("grep", { pattern: "api_key" });
  expect(found.output).toContain("mine.txt");
  expect(found.output).not.toContain("sk-secret");
  expect((await bench.call("list", { recursive: true })).output).not.toContain("config.toml");
});

/** A process that turns one link from inside to outside and back, as fast as it can; the link is never gone. */
async function startSwapper(): Promise<() => void> {
  writeFileSync(madeFor(inside("good/secret.txt")), "harmless");
  symlinkSync("good", inside("spot"));
  const script = `
    const { renameSync, symlinkSync } = require("node:fs");
    process.chdir(process.argv[1]);
    console.log("swapping");
    for (;;) for (const target of ["../outside", "good"]) {
      symlinkSync(target, "next");
      renameSync("next", "spot");
    }`;
  const child = spawn(process.execPath, ["-e", script, bench.workspace], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return () => child.kill("SIGKILL");
}

test("whatever is renamed meanwhile, nothing from outside is read and nothing outside is written", async () => {
  const stop = await startSwapper();
  const outputs = new Set<string>();
  let reads = 0;
  try {
    // Until both sides of the race were seen often enough to mean something.
    for (let good = 0, refused = 0; (good < 100 || refused < 100) && reads < 20_000; reads += 1) {
      const outcome = await bench.call("read", { path: "spot/secret.txt" });
      if (outcome.status === "done") good += 1;
      else if (outcome.failure.code === "denied") refused += 1;
      outputs.add(outcome.status === "done" ? outcome.output : outcome.failure.code);
      if (reads % 4 === 0) await bench.call("write", { path: "spot/mine.txt", content: "x" });
      if (reads % 8 === 0) outputs.add((await bench.call("grep", { pattern: "secret", path: "spot" })).status);
    }
  } finally {
    stop();
  }
  expect([...outputs].filter((output) => output.includes(SECRET))).toEqual([]);
  expect(outputs).toContain("harmless");
  expect(outputs).toContain("denied");
  expect(readdirSync(bench.outside)).toEqual(["secret.txt"]);
}, 60_000);
