import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleFixture, closeLab, type Lab, manifestOf, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const folder = lab.author(manifestOf("user"), { "main.mjs": await bundleFixture("host-user.ts") });
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
  expect(lab.host.admin.log("user")).toMatchObject({ value: expect.arrayContaining(["stdout: tidied up"]) });
});

const act = async (what: string) => {
  const outcome = await lab.call("plugin_user_act", { what });
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
