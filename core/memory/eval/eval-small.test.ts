import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { makeDataSet } from "../../../bench/eval-small.ts";
import type { EvalFigures } from "../../domain/memory.ts";
import { evaluationIndex } from "../evaluation-index.ts";
import { numberBuffers } from "../search.ts";
import { memoryPool } from "../worker/memory-pool.ts";
import type { EvalDocument } from "./data-set.ts";
import { type EvalIndex, evaluateDataSet } from "./evaluate.ts";

const FOLDER = join(import.meta.dirname, "../../../bench/fixtures/eval-small");
const pool = memoryPool(join(import.meta.dirname, "../worker/memory-worker.ts"));
const never = new AbortController().signal;

afterAll(() => pool.close());

async function figuresOf(index: EvalIndex): Promise<ReadonlyMap<string, EvalFigures>> {
  const figures = new Map<string, EvalFigures>();
  for await (const each of evaluateDataSet(FOLDER, index, never)) {
    if (!each.ok) throw new Error(each.failure.message);
    figures.set(each.value.mode, each.value);
  }
  return figures;
}

/** FTS5 as it comes: any of the words, no stemming. */
function sqliteIndex(): EvalIndex {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE texts USING fts5(title, text)");
  const insert = database.prepare("INSERT INTO texts(rowid, title, text) VALUES (?, ?, ?)");
  const select = database.prepare("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?");
  let rows = 0;
  return {
    async add(documents: readonly EvalDocument[]) {
      for (const { title, text } of documents) insert.run(++rows, title, text);
      return { ok: true, value: undefined };
    },
    async ask(_mode, text, limit) {
      const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`);
      const found = select.all(words.join(" OR "), limit);
      return { ok: true, value: found.map(({ rowid }) => Number(rowid) - 1) };
    },
  };
}

test("on the shipped data set words beat FTS5, and the built-in embedder does not spoil them", async () => {
  const own = await figuresOf(evaluationIndex(pool, numberBuffers(), never));
  const sqlite = await figuresOf(sqliteIndex());
  const [hybrid, lexical, vector] = ["hybrid", "lexical", "vector"].map((mode) => own.get(mode));
  if (hybrid === undefined || lexical === undefined || vector === undefined) throw new Error("a mode is missing");
  expect(lexical.queries).toBe(128);
  expect(lexical.ndcgAt10).toBeGreaterThan(0.8);
  expect(lexical.ndcgAt10).toBeGreaterThan((sqlite.get("lexical")?.ndcgAt10 ?? 1) * 1.3);
  expect(hybrid.ndcgAt10).toBeGreaterThanOrEqual(lexical.ndcgAt10 - 0.005);
  expect(vector.ndcgAt10).toBeGreaterThan(0.6);
});

test("the shipped data set is what its script makes", async () => {
  for (const [name, text] of makeDataSet()) expect(await readFile(join(FOLDER, name), "utf8")).toBe(text);
});
