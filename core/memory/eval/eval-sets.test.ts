import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeDataSet } from "../../../bench/eval-small.ts";
import { figuresOf, measureQuality, ownSets, sqliteIndex } from "../../../bench/memory-quality.ts";
import { runFolder } from "../../../tests/kit/run-folder.ts";
import type { EvalFigures, SearchMode } from "../../domain/memory.ts";
import { evaluationIndex } from "../evaluation-index.ts";
import { numberBuffers } from "../search.ts";
import { memoryPool } from "../worker/memory-pool.ts";

const SMALL = join(import.meta.dirname, "../../../bench/fixtures/eval-small");
const pool = memoryPool(runFolder().memoryWorkerFile);
const numberOf = numberBuffers();

afterAll(() => pool.close());

const inMode = (figures: readonly EvalFigures[], mode: SearchMode) => {
  const found = figures.find((each) => each.mode === mode);
  if (found === undefined) throw new Error(`there are no figures of ${mode}`);
  return found;
};

test("on the shipped data set words beat FTS5, and the built-in embedder does not spoil them", async () => {
  const own = await figuresOf(SMALL, evaluationIndex(pool, numberOf, new AbortController().signal));
  const sqlite = inMode(await figuresOf(SMALL, sqliteIndex()), "lexical");
  const lexical = inMode(own, "lexical");
  expect(lexical.queries).toBe(128);
  expect(lexical.ndcgAt10).toBeGreaterThan(0.8);
  expect(lexical.ndcgAt10).toBeGreaterThan(sqlite.ndcgAt10 * 1.3);
  expect(inMode(own, "hybrid").ndcgAt10).toBeGreaterThanOrEqual(lexical.ndcgAt10 - 0.005);
  expect(inMode(own, "vector").ndcgAt10).toBeGreaterThan(0.6);
});

test("the shipped data set is what its script makes", async () => {
  for (const [name, text] of makeDataSet()) expect(await readFile(join(SMALL, name), "utf8")).toBe(text);
});

test.each(ownSets())(
  "$name: words beat FTS5 by a tenth, vectors take nothing away, mistakes cost little",
  async ({ set }) => {
    const found = await measureQuality(set, { pool, numberOf });
    const { queries, own, mistyped, sqlite } = found;
    const told = JSON.stringify(found);
    // Questions are left out when what answered them was rewritten; with too few left, others have to be asked.
    expect(queries, told).toBeGreaterThanOrEqual(40);
    expect(own.lexical, told).toBeGreaterThanOrEqual(sqlite * 1.1);
    expect(own.hybrid, told).toBeGreaterThanOrEqual(own.lexical - 0.005);
    expect(mistyped, told).toBeGreaterThanOrEqual(own.lexical * 0.85);
  },
  60_000,
);
