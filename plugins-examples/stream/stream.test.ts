import { afterAll, beforeAll, expect, test } from "vitest";
import { closeLab, type Lab, NOTHING_LEFT, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const installed = await lab.host.admin.install(import.meta.dirname, true);
  expect(installed).toMatchObject({ ok: true, value: { name: "stream", installed: true } });
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

test("the pieces are shown as they come, and the model reads all of them", async () => {
  const shown: string[] = [];
  const outcome = await lab.call("plugin_stream_primes", { upTo: 100 }, { progress: (line) => shown.push(line) });
  const first = "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71";
  expect(outcome).toMatchObject({ status: "done", output: expect.stringContaining(`${first}\n73 79 83 89 97`) });
  expect(shown.join("\n")).toContain(first);
});

test("it ends when it is cancelled", async () => {
  const abort = new AbortController();
  const outcome = await lab.call(
    "plugin_stream_primes",
    { upTo: 10_000_000 },
    { signal: abort.signal, progress: () => abort.abort() },
  );
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "cancelled" } });
  expect(await lab.call("plugin_stream_primes", { upTo: 10 })).toMatchObject({
    output: expect.stringMatching(/2 3 5 7/),
  });
});
