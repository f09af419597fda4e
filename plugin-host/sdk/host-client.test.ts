import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Desk, quietDesk } from "../../core/domain/desk.ts";
import { fail, ok } from "../../core/domain/failure.ts";
import { bundleFixture, closeLab, type Lab, manifestOf, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const permissions = ["tool=read", "write=./data"].map((permission) => ({ permission, reason: "a test" }));
  const folder = lab.author(manifestOf("user", { permissions }), { "main.mjs": await bundleFixture("host-user.ts") });
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
  expect(lab.host.admin.log("user")).toMatchObject({ value: expect.arrayContaining(["stdout: tidied up"]) });
});

const act = async (what: string, more: { desk?: Desk } = {}) => {
  const outcome = await lab.call("plugin_user_act", { what }, more);
  expect(outcome).toMatchObject({ status: "done" });
  return JSON.parse(outcome.output);
};

test("the store keeps any JSON, lists its keys and forgets what is deleted", async () => {
  expect(await act("store")).toEqual([{ deep: [1, null, "żółć"] }, null, ["a/1"], true]);
});

test("an artifact of any length is written, added to, and read in whole or from a place on", async () => {
  const bytes = 2.5 * 1024 * 1024;
  expect(await act("artifact")).toEqual([bytes, true, "end", bytes + 3]);
});

test("a question that nobody is there to answer is a no", async () => {
  expect(await act("ask")).toEqual({ yes: false, answered: false });
});

test("progress comes by the call, and by the host", async () => {
  const lines: string[] = [];
  await lab.call("plugin_user_act", { what: "progress" }, { progress: (line) => lines.push(line) });
  expect(lines.join("\n")).toContain("by the host");
  expect(lines.join("\n")).toContain("by the call");
});

test("another tool is called as the plugin, and what it refuses is an answer", async () => {
  const called: unknown[] = [];
  const answering = (answer: Awaited<ReturnType<Desk["callTool"]>>): Desk => ({
    ...quietDesk(async () => ok(undefined)),
    callTool: async (...call) => {
      called.push(call);
      return answer;
    },
  });
  expect(await act("call", { desk: answering(ok("three fish")) })).toEqual({ text: "three fish", isError: false });
  const refused = fail("denied", "read did not run", { hint: "ask somebody" });
  expect(await act("call", { desk: answering(refused) })).toEqual({
    text: "read did not run (ask somebody)",
    isError: true,
  });
  const call = ["plugin:user", "read", { path: "notes.md" }];
  expect(called).toEqual([call, call]);
});

test("a tool that was not granted is not called, and the plugin's author reads what to do", async () => {
  const outcome = await lab.call("plugin_user_act", { what: "call another" });
  expect(outcome).toMatchObject({
    status: "failed",
    output: expect.stringMatching(/tool=write.*not granted.*plugin\.json/),
  });
});

test("it knows what it was granted, and the folder that is its own", async () => {
  expect(await act("facts")).toEqual({
    granted: ["tool=read", "write=./data"],
    dataFolder: join(lab.options.pluginsDir, "user", "data"),
  });
});
