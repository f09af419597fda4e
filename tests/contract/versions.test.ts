import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import {
  bundleFixture,
  closeLab,
  helloFolder,
  manifestOf,
  NOTHING_LEFT,
  openLab,
} from "../../plugin-host/fixtures/plugin-lab.ts";
import { parseManifest, THIS_HOST } from "../../plugin-host/manifest/manifest.ts";
import { type PluginRig, startRig } from "./plugin-rig.ts";

const NEVER = new AbortController().signal;
const FACTS = { hostVersion: "0.0.0-test", granted: [] };
const NODE = ["node", "main.mjs"] as const;
const readHello = () => readFileSync(join(import.meta.dirname, "fixtures/hello-0.1.0.mjs"), "utf8");

let rig: PluginRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

test("a plugin of release 0.1.0, built then, works on this host in the first major", async () => {
  rig = await startRig(NODE, { "main.mjs": readHello() });
  expect(rig.link.wire).toBe("gRPC, major 1");
  expect(await rig.link.initialize(FACTS, NEVER)).toEqual({
    version: "1.0.0",
    tools: ["greet", "count"],
    features: [],
  });
  const news = await rig.call("count", { to: 2 });
  expect(news).toMatchObject([
    { kind: "progress", text: "1 of 2" },
    { kind: "progress", text: "2 of 2" },
    { kind: "result", result: { parts: [{ kind: "text", text: "Counted to 2." }] } },
  ]);
  // What it never heard of.
  expect(await rig.link.configure({}, NEVER)).toBe("unserved");
  await expect(rig.link.runHook({ at: "tool.before" }, NEVER)).rejects.toMatchObject({ kind: "unserved" });
  expect(await rig.link.answers(10_000)).toBe(true);
  expect(await rig.link.shutdown("the test is over", 10_000)).toBe(true);
  expect(await rig.process.exited).toEqual({ code: 0, signal: null });
});

test("and it is installed and called like any other", async () => {
  const lab = await openLab();
  const manifest = JSON.parse(readFileSync(join(helloFolder, "plugin.json"), "utf8"));
  const folder = lab.author({ ...manifest, launch: { command: [...NODE] } }, { "main.mjs": readHello() });
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
  expect(await lab.call("plugin_hello_greet", { name: "Ada" })).toMatchObject({
    status: "done",
    output: expect.stringContaining("Hello, Ada!"),
  });
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

test("a plugin on today's library works on a host that speaks the first major only", async () => {
  const lab = await openLab({ hostMajors: [1] });
  expect(await lab.host.admin.install(helloFolder, true)).toMatchObject({ ok: true });
  expect(await lab.call("plugin_hello_greet", { name: "Ada" })).toMatchObject({ status: "done" });
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

test("a plugin that speaks the second major only is refused by a host that speaks the first, and told why", async () => {
  const judged = parseManifest(JSON.stringify(manifestOf("late", { protocolMajors: [2] })), "plugin.json", {
    ...THIS_HOST,
    majors: [1],
  });
  expect(judged).toMatchObject({ ok: false, failure: { message: expect.stringContaining("[2] must hold one of 1") } });
  const chooses2 = `import { writeSync } from "node:fs"; process.stdin.on("end", () => process.exit()).resume();
    writeSync(3, '{"bootVersion":1,"protocolMajor":2}\\n');`;
  rig = await startRig(NODE, { "main.mjs": chooses2 }, { hostMajors: [1] });
  expect(rig.hello).toMatchObject({
    ok: false,
    again: false,
    failure: { message: 'plugin "contract" chose clawd.plugin major 2; it was offered 1' },
  });
});

test("a result has its parts, and a failure its code and hint, in the second major", async () => {
  rig = await startRig(NODE, { "main.mjs": await bundleFixture("../../tests/contract/fixtures/parts-plugin.ts") });
  expect(await rig.call("parts")).toEqual([
    {
      kind: "result",
      result: {
        parts: [
          { kind: "text", text: "see:" },
          { kind: "text", text: '{"found":[1,2]}' },
          { kind: "artifact", artifactId: "a1" },
        ],
        failure: undefined,
      },
    },
  ]);
  const failure = { code: "not_found", message: "there is no page 7", hint: "ask for 1 to 6" };
  expect(await rig.call("missing")).toMatchObject([{ result: { parts: [{ text: failure.message }], failure } }]);
});

test("the same plugin says what it can of them in the first major", async () => {
  const files = { "main.mjs": await bundleFixture("../../tests/contract/fixtures/parts-plugin.ts") };
  rig = await startRig(NODE, files, { hostMajors: [1] });
  const text = 'see:\n{"found":[1,2]}\n[artifact a1]';
  expect(await rig.call("parts")).toMatchObject([{ result: { parts: [{ text }], failure: undefined } }]);
  expect(await rig.call("missing")).toMatchObject([
    { result: { failure: { code: "invalid", message: "there is no page 7" } } },
  ]);
});
