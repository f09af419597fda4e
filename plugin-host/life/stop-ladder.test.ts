import { beforeAll, test } from "vitest";
import { bundleFixture, closeLab, NOTHING_LEFT, openBadLab, shortPauses, survivorsOf } from "../fixtures/plugin-lab.ts";

let program: string;
beforeAll(async () => {
  program = await bundleFixture("misbehaving.ts");
});

test.concurrent("a plugin deaf to Shutdown, to the end of its input and to SIGTERM is killed", async ({ expect }) => {
  const lab = await openBadLab(program, "ignore-end");
  expect(await lab.call("plugin_bad_act")).toEqual({ status: "done", output: "fine" });
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
  const log = lab.host.admin.log("bad");
  expect(log.ok && log.value).toContain("stderr: SIGTERM is ignored");
});

test.concurrent("a frozen plugin is killed after a call ran out of time, and started anew", async ({ expect }) => {
  const lab = await openBadLab(program, "freeze", { random: shortPauses, timeoutMs: 2_000 });
  const late = {
    status: "failed",
    failure: { code: "timed_out", message: "plugin_bad_act did not finish within 2000 ms" },
  };
  expect(await lab.call("plugin_bad_act")).toMatchObject(late);
  // The process may be gone an instant before the host has noticed: the next call must work all the same.
  expect(await survivorsOf(lab.dir, 8_000)).toEqual([]);
  expect(await lab.call("plugin_bad_act")).toMatchObject(late);
  expect(lab.host.admin.list()).toMatchObject([{ restarts: 1 }]);
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});
