import { afterEach, beforeAll, expect, test } from "vitest";
import { bundleFixture, closeLab, type Lab, NOTHING_LEFT, openBadLab } from "../fixtures/plugin-lab.ts";

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("misbehaving.ts");
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

test("a plugin may name its tools when it is asked for them, and its log has how it is spoken to", async () => {
  lab = await openBadLab(program, "lists-act");
  expect(await lab.call("plugin_bad_act")).toMatchObject({ status: "done", output: "fine" });
  const log = lab.host.admin.log("bad");
  expect(log).toMatchObject({
    value: expect.arrayContaining([
      expect.stringMatching(/^host: started bad 1\.0\.0, process \d+$/),
      expect.stringMatching(/^host: it is ready: gRPC, major 1, built with misbehaving, with greetings, a.*line$/),
    ]),
  });
});

test("what it names then must be what its manifest declares", async () => {
  lab = await openBadLab(program, "lists-extra");
  expect(await lab.call("plugin_bad_act")).toMatchObject({
    status: "failed",
    failure: {
      message:
        'plugin "bad" serves a tool "extra" that its plugin.json does not declare, and does not serve the tool "act" that its plugin.json declares',
    },
  });
});
