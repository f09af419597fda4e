import { afterAll, beforeAll, expect, test } from "vitest";
import { closeLab, type Lab, NOTHING_LEFT, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  expect(await lab.host.admin.install(import.meta.dirname, true)).toMatchObject({ ok: true });
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

async function embed(...texts: string[]): Promise<readonly Float32Array[]> {
  const embedder = lab.host.embedders()[0]?.embedder;
  expect(embedder).toMatchObject({ id: "hash-256-v1", dimensions: 256 });
  const vectors = await embedder?.embed(texts, "document", new AbortController().signal);
  if (vectors?.ok !== true) throw new Error(vectors?.failure.message);
  return vectors.value;
}
const near = (left?: Float32Array, right?: Float32Array) =>
  Array.from(left ?? []).reduce((sum, value, at) => sum + value * (right?.[at] ?? 0), 0);

test("texts that share words are nearer to each other than texts that share none", async () => {
  const [fish, fishing, bank] = await embed("fish in the lake", "fishing at a lake", "money from your bank");
  expect(near(fish, fishing)).toBeGreaterThan(near(fish, bank) + 0.2);
  expect(near(fish, fish)).toBeCloseTo(1);
});

test("the same text is the same vector, in every alphabet, and no words are no direction", async () => {
  const [one, other, greek, nothing] = await embed("Größe", "größe", "Ωμέγα", " …!");
  expect(one).toEqual(other);
  expect(near(greek, greek)).toBeCloseTo(1);
  expect(nothing).toEqual(new Float32Array(256));
});
