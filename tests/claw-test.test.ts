import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, CLAW, openBench, type Ran } from "./kit/claw.ts";
import { runIn } from "./kit/deno-corpus.ts";

let bench: Bench;
let folder: string;

beforeAll(async () => {
  bench = await openBench();
  folder = await realpath(await mkdtemp(join(tmpdir(), "clawd-tests-")));
  await bench.claw("up");
});

afterAll(async () => {
  await bench.close();
  await rm(folder, { recursive: true, force: true });
});

async function clawTest(files: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Ran> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return runIn(folder, process.execPath, [CLAW, "test", ...flags, ...Object.keys(files)], bench.env, "");
}

const lines = (text: string) =>
  text
    .replaceAll(/ \(\d+ms\)/g, "")
    .trim()
    .split("\n");

test("tests of several files pass, their steps and what they print stand in their place", async () => {
  const ran = await clawTest({
    "a.test.ts": `Deno.test("adds", () => console.log("printed"));
      Deno.test("steps", async (t) => { await t.step("one", () => {}); await t.step({ name: "two", ignore: true, fn() {} }); });
      Deno.test({ name: "left out", ignore: true, fn() { throw new Error("ran"); } });`,
    "b.test.ts": `Deno.test(async function named() { await new Promise((resolve) => setTimeout(resolve, 1)); });`,
  });
  expect(lines(ran.stdout)).toEqual([
    ...["running 3 tests from ./a.test.ts", "printed", "adds ... ok", "  one ... ok", "  two ... ignored"],
    ...["steps ... ok", "left out ... ignored", "running 1 test from ./b.test.ts", "named ... ok", ""],
    "ok | 3 passed (1 step) | 0 failed | 1 ignored (1 step)",
  ]);
  expect(ran.code).toBe(0);
});

test("a failure is shown with its place, the others run, and the exit code is 1", async () => {
  const ran = await clawTest(
    {
      "fails.test.ts": `import assert from "node:assert";
Deno.test("wrong", () => { assert.strictEqual(1, 2); });
Deno.test("leaves", () => { Deno.exit(0); });
Deno.test("leaks", { sanitizeOps: true }, () => { setTimeout(() => {}, 60_000); Deno.exit; });
Deno.test("keeps", { sanitizeResources: true }, async () => { await Deno.open("fails.test.ts"); });
Deno.test("right", () => {});
`,
    },
    "--allow-read=.",
    "--time-limit=20s",
    "--filter",
    "/^(wrong|leaves|keeps|right)$/",
  );
  expect(ran.code).toBe(1);
  expect(lines(ran.stdout).filter((line) => line.includes(" ... "))).toEqual([
    ...["wrong ... FAILED", "leaves ... FAILED", "keeps ... FAILED", "right ... ok"],
  ]);
  expect(ran.stdout).toContain("fails.test.ts:2:");
  expect(ran.stdout).toContain("Test case attempted to exit with exit code: 0");
  expect(ran.stdout).toContain("Leaks detected");
  expect(ran.stdout).toContain("FAILED | 1 passed | 3 failed | 1 filtered out");
});

test("the filter, fail-fast and --json", async () => {
  const ran = await clawTest(
    { "c.test.ts": `Deno.test("one", () => { throw 1; }); Deno.test("two", () => {}); Deno.test("other", () => {});` },
    ...["--filter", "o", "--fail-fast", "--json"],
  );
  const news = ran.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(news.map(({ kind }) => kind)).toEqual(["plan", "begun", "ended", "total"]);
  expect(news[2]).toMatchObject({ path: ["one"], outcome: "failed", error: "1" });
  expect(news[3]).toMatchObject({ passed: false, tests: { passed: 0, failed: 1, ignored: 0 } });
  expect(ran.code).toBe(1);
});

test("a run of only some tests has not passed", async () => {
  const ran = await clawTest({ "d.test.ts": `Deno.test.only("a", () => {}); Deno.test("b", () => { throw 1; });` });
  expect(lines(ran.stdout).slice(0, 2)).toEqual(["running 1 test from ./d.test.ts", "a ... ok"]);
  expect(ran.stdout).toContain('the "only" option was used');
  expect(ran.code).toBe(1);
});

test("a file that fails before its tests counts as failed, and the next one is run", async () => {
  const ran = await clawTest({
    "e.test.ts": `throw new Error("at the top");`,
    "f.test.ts": `Deno.test("f", () => {});`,
  });
  expect(ran.stderr).toContain("at the top");
  expect(ran.stdout).toContain("FAILED | 1 passed | 1 failed");
  expect(ran.code).toBe(1);
});

test("tests hold the grant of the command line, and hooks around them run", async () => {
  const ran = await clawTest({
    "g.test.ts": `const seen: string[] = [];
      Deno.test.beforeAll(() => { seen.push("all"); }); Deno.test.beforeEach(() => { seen.push("each"); });
      Deno.test.afterEach(() => { seen.push("after"); });
      Deno.test("refused", async () => { await Deno.readTextFile("/etc/hosts").then(() => { throw 1; }, (error) => { if (error.name !== "NotCapable") throw error; }); });
      Deno.test("order", () => { if (seen.join() !== "all,each,after,each") throw seen.join(); });`,
  });
  expect(ran.stdout).toContain("ok | 2 passed | 0 failed");
  expect(ran.code).toBe(0);
});

test("a signal that a script listens to does not end it", async () => {
  await writeFile(
    join(folder, "signals.ts"),
    `Deno.addSignalListener("SIGINT", () => { console.log("heard"); Deno.exit(7); });
     console.log("ready"); await Deno.stdin.read(new Uint8Array(1)); await new Promise((resolve) => setTimeout(resolve, 20_000));`,
  );
  const { spawn } = await import("node:child_process");
  const child = spawn(process.execPath, [CLAW, "run", "signals.ts"], { env: bench.env, cwd: folder });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (text.includes("ready")) child.kill("SIGINT");
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect([said, code]).toEqual(["ready\nheard\n", 7]);
});
