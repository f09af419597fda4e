import { afterAll, beforeAll, expect, test } from "vitest";
import { closeLab, type Lab, NOTHING_LEFT, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";
import { blocksOf, collect, READ_NOTES, testProviderContract, userSays } from "../../tests/contracts/provider.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  expect(await lab.host.admin.install(import.meta.dirname, true)).toMatchObject({ ok: true });
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

function provider() {
  const [offered] = lab.host.models();
  if (offered === undefined) throw new Error("no provider is offered");
  return offered;
}
const told = (text: string) => collect(provider(), { ...READ_NOTES, model: "x", messages: [userSays(text)] });

testProviderContract("the echo model", async () => ({ provider: provider(), close: async () => {} }));

test("it says back what it was told, piece by piece, and always the same", async () => {
  const chunks = await told("a small  word");
  expect(blocksOf(chunks)).toEqual([{ kind: "text", text: "x heard: a small  word" }]);
  expect(chunks.filter(({ kind }) => kind === "delta").length).toBeGreaterThan(3);
  expect(await told("a small  word")).toEqual(chunks);
});

test("it calls a tool with arguments that it was told, and what is no JSON is a failure of its own", async () => {
  expect(blocksOf(await told('read {"path":"a b.md"}')).at(-1)).toMatchObject({ args: { path: "a b.md" } });
  expect((await told("read {broken")).at(-1)).toMatchObject({ kind: "failed", failure: { code: "invalid" } });
});
