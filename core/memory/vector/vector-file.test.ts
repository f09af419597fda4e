import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeVectors } from "./fixtures/vectors.ts";
import { buildVectorBlock, layOutBlock } from "./vector-block.ts";
import { loadVectorBlock, verifyVectorFile, writeVectorFile } from "./vector-file.ts";
import { scanBlocks } from "./vector-scan.ts";

const folder = mkdtempSync(join(tmpdir(), "clawd-vector-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const vectors = makeVectors(1, 50, 24, 0);
const built = buildVectorBlock(24, vectors, true);
const whole = join(folder, "whole.vec");
writeVectorFile(whole, built);

function flipped(name: string, at: number): string {
  const path = join(folder, name);
  const bytes = readFileSync(whole);
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  writeFileSync(path, bytes);
  return path;
}

test("what is written is loaded again, without the floats when they are not wanted, and nothing is left beside it", () => {
  const loaded = loadVectorBlock(whole);
  expect(loaded).toMatchObject({ dimensions: 24, rows: 50, present: 50, misfits: 0, exactInMemory: false });
  expect(verifyVectorFile(whole)).toBe(true);
  const light = join(folder, "light.vec");
  writeVectorFile(light, buildVectorBlock(24, vectors, false));
  expect(loadVectorBlock(light)).toMatchObject({ rows: 50 });
  expect(verifyVectorFile(light)).toBe(true);
  expect(readFileSync(light).length).toBeLessThan(readFileSync(whole).length / 2);
  expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
});

test("a block of no rows is a file too", () => {
  const path = join(folder, "empty.vec");
  writeVectorFile(path, buildVectorBlock(3, [], true));
  expect(loadVectorBlock(path)).toMatchObject({ dimensions: 3, rows: 0 });
});

test("a file that is torn anywhere, or longer than it was, is no block", () => {
  const { length } = readFileSync(whole);
  for (const size of [0, 1, 63, 64, 65, 500, length - 1]) {
    const path = join(folder, "torn.vec");
    copyFileSync(whole, path);
    truncateSync(path, size);
    expect(loadVectorBlock(path), `cut at ${size}`).toBeUndefined();
    expect(verifyVectorFile(path)).toBe(false);
  }
  const longer = join(folder, "longer.vec");
  writeFileSync(longer, Buffer.concat([readFileSync(whole), Buffer.alloc(16)]));
  expect(loadVectorBlock(longer)).toBeUndefined();
});

test("one flipped bit anywhere before the floats makes it no block", () => {
  const { exact } = layOutBlock(built);
  // All of the header, then a sample: every byte of the rest is under one sum.
  for (let at = 0; at < exact; at += at < 64 ? 1 : 37)
    expect(loadVectorBlock(flipped("flipped.vec", at)), `byte ${at}`).toBeUndefined();
});

test("a flipped bit in the floats of a row is noticed; that row keeps the score of its bytes", () => {
  const { exact, exactStrideBytes } = layOutBlock(built);
  const file = flipped("floats.vec", exact + 7 * exactStrideBytes + 3);
  expect(verifyVectorFile(file)).toBe(false);
  const block = loadVectorBlock(file);
  if (block === undefined) throw new Error("the file was not loaded");
  const mask = new Uint8Array(50).fill(1);
  const ids = vectors.map((_, row) => row);
  // Near the row but not it: the cosine of equal ones is cut to 1.
  const query = (vectors[7] ?? new Float32Array()).map((number, index) => number * (index % 3 === 0 ? 0.8 : 1));
  const [best] = scanBlocks([{ block, mask, ids, file }], query, 10);
  expect(best?.row).toBe(7);
  expect(best?.score).toBeGreaterThan(0.9);
  expect(best?.score).not.toBe(scanBlocks([{ block: built, mask, ids }], query, 1)[0]?.score);
});

test("what is not there or no vectors at all is undefined, a folder that is not there a failure with a hint", () => {
  expect(loadVectorBlock(join(folder, "nothing.vec"))).toBeUndefined();
  expect(loadVectorBlock(folder)).toBeUndefined();
  const other = join(folder, "other.vec");
  writeFileSync(other, "no vectors here, but more than sixty-four bytes of text about something else".repeat(9));
  expect(loadVectorBlock(other)).toBeUndefined();
  const written = writeVectorFile(join(folder, "no/such/folder.vec"), built);
  expect(written).toMatchObject({ ok: false, failure: { code: "unavailable", hint: expect.any(String) } });
});
