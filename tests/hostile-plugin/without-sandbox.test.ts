import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, openBench } from "../kit/claw.ts";

/*
 * Where the machine has no sandbox, a plugin runs only when a person has said that they trust it.
 */

const HELLO = join(import.meta.dirname, "../../plugins-examples/hello");
const GREET = 'call plugin_hello_greet {"name":"Ada"}';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
  mkdirSync(bench.home, { recursive: true });
  writeFileSync(join(bench.home, "config.toml"), '[sandbox]\nlevel = "none"\n\n[policy]\nallow = ["plugin_*"]\n');
});
afterAll(() => bench.close());

test("a plugin that nobody trusts does not start without a sandbox, and is told why and what helps", async () => {
  expect(await bench.claw("plugin", "install", HELLO, "--yes")).toMatchObject({ code: 0 });
  const said = await bench.claw("say", GREET);
  expect(said.stdout).not.toContain("This greeting comes from a process of its own");
  const { stdout } = await bench.claw("plugin", "list", "--json");
  const row = JSON.parse(stdout);
  expect(row.pid ?? 0).toBe(0);
  const seen = said.stdout + said.stderr + stdout;
  expect(seen).toContain("may not run without an operating-system sandbox");
  expect(seen).toContain("bubblewrap");
  expect(seen).toContain("claw plugin grant hello --trust");
});

test("doctor says how to get a sandbox", async () => {
  const { stdout } = await bench.claw("doctor");
  expect(stdout).toMatch(/sandbox/i);
  expect(stdout).toMatch(/bubblewrap|\[sandbox\]|level/);
});

test("trust is given for one plugin, and can be seen and taken back", async () => {
  expect(await bench.claw("plugin", "grant", "hello", "--trust")).toMatchObject({ code: 0 });
  expect((await bench.claw("say", GREET)).stdout).toContain("This greeting comes from a process of its own");
  expect((await bench.claw("plugin", "list")).stdout).toContain("trusted without a sandbox");
  expect(await bench.claw("plugin", "revoke", "hello", "--trust")).toMatchObject({ code: 0 });
  expect((await bench.claw("say", GREET)).stdout).not.toContain("This greeting comes from a process of its own");
  expect(await bench.claw("audit", "verify")).toMatchObject({ code: 0 });
});
