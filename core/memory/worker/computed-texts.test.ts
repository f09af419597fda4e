import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAnalyzer } from "../lexical/analyzer.ts";
import { computeTexts } from "./computed-texts.ts";
import { createVectorMaker, identityOf } from "./vector-task.ts";

const maker = createVectorMaker(createAnalyzer());
const { dimensions } = identityOf("mock");

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-texts-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("all texts of a file get their vectors, part by part, those longer than a part too", async () => {
  const file = join(dir, "1.texts");
  const long = "hafenmeister ".repeat(60_000);
  const texts = [...Array.from({ length: 900 }, (_, row) => `text ${row} ${"ä".repeat(300)}`), long, "the last"];
  // Row 3 is dead.
  const lines = texts.map((text, row) => JSON.stringify({ row, title: `title ${row}`, text }));
  await writeFile(file, lines.map((line, row) => (row === 3 ? "" : `${line}\n`)).join(""));
  const numbers = new Float32Array(new SharedArrayBuffer(texts.length * dimensions * 4));
  const present = new Uint8Array(new SharedArrayBuffer(texts.length));
  const parts: number[] = [];
  for (let fromByte = 0; ; ) {
    const { nextByte, rows } = computeTexts({ name: "mock", file, fromByte, numbers, present }, maker);
    if (rows === 0) break;
    parts.push(rows);
    fromByte = nextByte;
  }
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.reduce((sum, rows) => sum + rows, 0)).toBe(texts.length - 1);
  expect([...present].flatMap((there, row) => (there === 1 ? [] : [row]))).toEqual([3]);
  for (const row of [0, 500, 900, 901]) {
    const [expected] = maker.documents({ name: "mock", texts: [`title ${row}\n${texts[row]}`] });
    expect(numbers.slice(row * dimensions, (row + 1) * dimensions)).toEqual(expected);
  }
});

test("an empty file has no texts", async () => {
  const file = join(dir, "2.texts");
  await writeFile(file, "");
  const request = {
    name: "mock",
    file,
    fromByte: 0,
    numbers: new Float32Array(0),
    present: new Uint8Array(0),
  } as const;
  expect(computeTexts(request, maker)).toEqual({ nextByte: 0, rows: 0 });
});
