import { afterEach, beforeAll, expect, test } from "vitest";
import { memoryHit } from "../../tests/kit/memory-hit.ts";
import { bundleFixture, closeLab, type Lab, manifestOf, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("grpc-js-plugin.ts");
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const hit = memoryHit({ id: "n1", kind: "file", path: "/notes/a.md", line: 3, text: "apples are red", author: "file" });

async function install(
  permissions: { permission: string; reason: string }[],
): Promise<{ query: string; limit: number }[]> {
  const asked: { query: string; limit: number }[] = [];
  lab = await openLab({
    recall: async (query, limit) => {
      asked.push({ query, limit });
      return { ok: true, value: [hit, { ...hit, path: "", text: "a note" }] };
    },
  });
  const folder = lab.author(manifestOf("foreign", { permissions }), { "main.mjs": program });
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
  return asked;
}

test.each([
  { network: "no network", more: [] },
  { network: "a filtered network", more: [{ permission: "net=api.example.com:443", reason: "to ask" }] },
])("a plugin built on grpc-js, with $network, serves a tool and searches memory", async ({ more }) => {
  const asked = await install([{ permission: "memory=read", reason: "to know" }, ...more]);
  const lines: string[] = [];
  const outcome = await lab.call("plugin_foreign_act", { query: "apples" }, { progress: (line) => lines.push(line) });
  expect(outcome).toEqual({ status: "done", output: "/notes/a.md: apples are red\nn1: a note" });
  expect(lines).toEqual(["asking"]);
  expect(asked).toEqual([{ query: "apples", limit: 2 }]);
});

test("without the permission the host refuses to search, and says which one is missing", async () => {
  const asked = await install([]);
  const refusal =
    'plugin "foreign" may not use memory=read: it was not granted (ask for "memory=read" in plugin.json, and have it granted)';
  expect(await lab.call("plugin_foreign_act", { query: "apples" })).toMatchObject({
    status: "failed",
    output: refusal,
  });
  expect(asked).toEqual([]);
});

test("cancelling a call cancels it at the plugin", async () => {
  await install([]);
  const abort = new AbortController();
  const outcome = await lab.call(
    "plugin_foreign_act",
    { query: "wait" },
    { signal: abort.signal, progress: () => abort.abort() },
  );
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "cancelled" } });
  await expect
    .poll(() => lab.host.admin.log("foreign"))
    .toMatchObject({ value: expect.arrayContaining(["stderr: the call was cancelled"]) });
});
