import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, eventually, openBench, processesWith } from "./kit/claw.ts";
import { findPythonHome, vendorInto } from "./kit/python-home.ts";

/*
 * How a plugin comes into the house, by the bins themselves: written, shown, granted, upgraded, held, taken back, removed.
 */

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench.close();
  await eventually(
    () => processesWith(bench.home),
    (left) => left.length === 0,
    "the end of every process",
  );
});

const pythonHome = findPythonHome(process.env);
if (!pythonHome.ready) console.warn(`skipping the Python skeleton: ${pythonHome.missing}`);
const python = hasPython();
if (!python) console.warn("skipping the skeleton in plain Python: there is no python3");

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

const plugin = (...args: readonly string[]) => bench.claw("plugin", ...args);
const status = async (name: string) => {
  const { stdout } = await plugin("list", "--json");
  const rows = stdout.split("\n").filter((line) => line !== "");
  return rows.map((line) => JSON.parse(line)).find((row) => row.name === name);
};
const count = async (name: string) => {
  const words = `call plugin_${name}_count_words {"text":"one two three"}`;
  return (await bench.claw("say", words, "--yolo")).stdout;
};
const edit = (file: string, from: string | RegExp, to: string) => {
  const path = join(bench.workspace, file);
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
};

test("with none, the list says so, and where they would be", async () => {
  const { code, stdout } = await plugin("list");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `No plugins installed.\nPlugin directory: ${join(bench.home, "plugins")}\n`,
  });
});

test("a TypeScript skeleton passes its own test, is installed and called", async () => {
  expect(await plugin("new", "typescript", "wordy")).toMatchObject({ code: 0 });
  const folder = join(bench.workspace, "wordy");
  expect(execFileSync(process.execPath, ["--test"], { cwd: folder, encoding: "utf8" })).toContain("fail 0");
  expect(await plugin("install", "wordy", "--yes", "--trust")).toMatchObject({ code: 0 });
  expect(await count("wordy")).toContain("3 words");
});

test.skipIf(!pythonHome.ready)("so does one in Python, with its packages beside it", async () => {
  if (!pythonHome.ready) return;
  const made = await plugin("new", "py", "viper");
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("-m pip install --target vendor /") });
  const folder = join(bench.workspace, "viper");
  vendorInto(folder, pythonHome.packages);
  execFileSync(pythonHome.python, ["-m", "unittest"], { cwd: folder, stdio: "pipe" });
  expect(await plugin("install", "viper", "--yes", "--trust")).toMatchObject({ code: 0 });
  expect(await count("viper")).toContain("3 words");
});

test.skipIf(!python)(
  "one with nothing but Python itself does so too, from an archive, loaded by that word",
  async () => {
    expect(await plugin("new", "python-stdlib", "snake")).toMatchObject({ code: 0 });
    const folder = join(bench.workspace, "snake");
    execFileSync("python3", ["-m", "unittest"], { cwd: folder, stdio: "pipe" });
    execFileSync("tar", ["-czf", "snake.tgz", "--exclude=__pycache__", "snake"], { cwd: bench.workspace });
    expect(await plugin("load", "snake.tgz", "--yes", "--trust")).toMatchObject({ code: 0 });
    expect(await count("snake")).toContain("3 words");
  },
);

test("a skeleton replaces nothing, and knows its languages", async () => {
  expect(await plugin("new", "typescript", "wordy")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is there already"),
  });
  expect(await plugin("new", "cobol", "x")).toMatchObject({ code: 2, stderr: expect.stringContaining("typescript") });
  expect(await plugin("new", "ts", "../x")).toMatchObject({ code: 2, stderr: expect.stringContaining("is no name") });
});

test("nobody there grants nothing", async () => {
  await plugin("new", "ts", "lonely");
  expect(await plugin("install", "lonely")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("nobody is at a terminal"),
  });
  expect(existsSync(join(bench.home, "plugins", "lonely"))).toBe(false);
});

test("an upgrade that asks for nothing more needs nobody; one that asks for more waits for its grant", async () => {
  for (const file of ["wordy/plugin.json", "wordy/main.ts"]) edit(file, "0.1.0", "0.1.1");
  expect(await plugin("install", "wordy")).toMatchObject({ code: 0 });
  expect(await status("wordy")).toMatchObject({ version: "0.1.1" });
  for (const file of ["wordy/plugin.json", "wordy/main.ts"]) edit(file, "0.1.1", "0.2.0");
  const wants = '"permissions": [{ "permission": "write=./data", "reason": "keeps its counts" }]';
  edit("wordy/plugin.json", '"permissions": []', wants);
  const held = await plugin("install", "wordy");
  expect(held.code).toBe(3);
  expect(held.stderr).toContain("+ write=./data (keeps its counts)");
  expect(held.stderr).toContain("claw plugin grant wordy");
  const want = { permission: "write=./data", reason: "keeps its counts" };
  expect(await status("wordy")).toMatchObject({ version: "0.1.1", heldVersion: "0.2.0", heldWants: [want] });
  expect((await plugin("list")).stderr).toContain("version 0.2.0 waits beside 0.1.1");
  expect(await count("wordy")).toContain("3 words");
  expect(await plugin("grant", "wordy")).toMatchObject({ code: 0 });
  expect(await status("wordy")).toMatchObject({ version: "0.2.0", granted: ["write=./data"], heldVersion: "" });
  expect(await count("wordy")).toContain("3 words");
});

test("what is taken back is withheld until it is granted again", async () => {
  expect(await plugin("revoke", "wordy", "write")).toMatchObject({ code: 0 });
  expect(await status("wordy")).toMatchObject({ granted: [], withheld: ["write=./data"] });
  expect(await plugin("revoke", "wordy", "net")).toMatchObject({ code: 3 });
  expect(await plugin("grant", "wordy", "write=./data")).toMatchObject({ code: 0 });
  expect(await status("wordy")).toMatchObject({ granted: ["write=./data"], withheld: [] });
});

test("twice loaded is refused, unloaded it is off, loaded again it is on", async () => {
  expect(await plugin("load", "wordy", "--yes")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("Plugin 'wordy' already loaded"),
  });
  expect(await plugin("unload", "wordy")).toMatchObject({ code: 0 });
  expect(await status("wordy")).toMatchObject({ state: "PLUGIN_STATE_DISABLED" });
  expect(await plugin("load", "wordy")).toMatchObject({ code: 0 });
  expect(await count("wordy")).toContain("3 words");
  expect(await plugin("unload", "ghost")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("Plugin 'ghost' not found"),
  });
});

test("removed it is gone, and every change stands in a journal that is whole", async () => {
  expect(await plugin("remove", "wordy")).toMatchObject({ code: 0 });
  expect(await status("wordy")).toBeUndefined();
  expect(await bench.claw("audit", "verify", "plugins")).toMatchObject({ code: 0 });
});
