import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleFixture, helloFolder, type Lab, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const installed = await lab.host.admin.install(helloFolder, true);
  expect(installed).toMatchObject({ ok: true, value: { name: "hello", installed: true } });
});
afterAll(() => lab.close());

test("greet answers with the name, after a line of progress", async () => {
  const lines: string[] = [];
  const outcome = await lab.call("plugin_hello_greet", { name: "Ada" }, { progress: (line) => lines.push(line) });
  expect(outcome).toEqual({ status: "done", output: "Hello, Ada! This greeting comes from a process of its own." });
  expect(lines).toEqual(["looking up how to greet Ada"]);
  expect(lab.host.admin.log("hello")).toMatchObject({
    ok: true,
    value: expect.arrayContaining(["log: info greeting Ada"]),
  });
});

test("count tells each step", async () => {
  const lines: string[] = [];
  const outcome = await lab.call("plugin_hello_count", { to: 3 }, { progress: (line) => lines.push(line) });
  expect(outcome).toEqual({ status: "done", output: "Counted to 3." });
  expect(lines).toEqual(["1 of 3", "2 of 3", "3 of 3"]);
});

test("count stops when it is cancelled", async () => {
  const abort = new AbortController();
  const outcome = await lab.call(
    "plugin_hello_count",
    { to: 100, pauseMs: 1000 },
    { signal: abort.signal, progress: () => abort.abort() },
  );
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "cancelled" } });
});

test("started by hand it explains itself and ends with code 64", async () => {
  const file = join(lab.dir, "hello.mjs");
  writeFileSync(file, await bundleFixture("../../plugins-examples/hello/hello.ts"));
  const { status, stderr } = spawnSync(process.execPath, [file], { env: {}, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 64, stderr: expect.stringContaining("claw plugin install FOLDER") });
});
