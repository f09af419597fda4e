import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EvalDocument, readDocuments, readQueries } from "./data-set.ts";
import { evaluateDataSet } from "./evaluate.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "clawd-eval-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function fill(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

async function documents(): Promise<readonly (readonly string[] | string)[]> {
  const batches: (readonly string[] | string)[] = [];
  for await (const batch of readDocuments(folder, 2)) {
    batches.push(batch.ok ? batch.value.map(({ id }) => id) : `${batch.failure.code}: ${batch.failure.message}`);
  }
  return batches;
}

const WHOLE = {
  "docs.jsonl": '{"_id":"a","title":"T","text":"x"}\n{"id":2,"text":"y"}\r\n\n{"_id":"c","text":"z","more":[1]}',
  "queries.jsonl":
    '{"_id":"q1","text":"x?"}\n{"_id":"q2","text":"nobody judged this"}\n{"_id":"q3","text":"useless"}\n',
  "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tc\t0\nq3\ta\t0\n",
};

test("documents come in batches, queries with what was judged for them", async () => {
  await fill(WHOLE);
  expect(await documents()).toEqual([["a", "2"], ["c"]]);
  const judgements = new Map([
    ["a", 2],
    ["c", 0],
  ]);
  expect(await readQueries(folder)).toEqual({ ok: true, value: [{ id: "q1", text: "x?", judgements }] });
});

test("judgements without a header and in TREC's form are read as well", async () => {
  await fill({ ...WHOLE, "qrels.tsv": "q1 0 a 1\n" });
  expect(await readQueries(folder)).toMatchObject({ ok: true, value: [{ id: "q1" }] });
  await fill({ ...WHOLE, "qrels.tsv": "q1\ta\t1\n" });
  expect(await readQueries(folder)).toMatchObject({ ok: true, value: [{ id: "q1" }] });
});

test("what is wrong is told with its place", async () => {
  expect(await documents()).toEqual([`not_found: there is no ${join(folder, "docs.jsonl")}`]);
  await fill({ "docs.jsonl": '{"_id":"a","text":"x"}\n{"_id":' });
  expect(await documents()).toEqual(["invalid: docs.jsonl, line 2: not JSON"]);
  await fill({ "docs.jsonl": '{"_id":"a","text":"x"}\n{"_id":"a","text":"y"}' });
  expect(await documents()).toEqual(['invalid: docs.jsonl, line 2: the id "a" is there twice']);
  await fill({ "docs.jsonl": '{"text":"x"}\n' });
  expect(await documents()).toEqual(['invalid: docs.jsonl, line 1: needs "_id" or "id", and "text"']);
  await fill({ ...WHOLE, "qrels.tsv": "a header\nq1\ta\tmuch\n" });
  expect(await readQueries(folder)).toMatchObject({
    failure: { code: "invalid", message: 'qrels.tsv, line 2: not "query-id, corpus-id, score"' },
  });
  await fill({ ...WHOLE, "qrels.tsv": "query-id\tcorpus-id\tscore\n" });
  expect(await readQueries(folder)).toMatchObject({
    failure: { code: "invalid", message: `${folder}: no query has a relevant document in qrels.tsv` },
  });
});

test("a line without an end is not read to its end", async () => {
  await fill({ "docs.jsonl": `{"_id":"a","text":"x"}\n{"_id":"b","text":"${"y".repeat(9_000_000)}` });
  expect(await documents()).toEqual(["invalid: docs.jsonl, line 2: a line holds at most 8388608 characters"]);
  await fill({ "docs.jsonl": `{"_id":"a","text":"${"y".repeat(1_048_577)}"}\n` });
  expect(await documents()).toEqual(["invalid: docs.jsonl, line 1: a text holds at most 1048576 characters"]);
});

test("every mode is asked with every query, and the figures are means", async () => {
  await fill({
    ...WHOLE,
    "queries.jsonl": '{"_id":"q1","text":"one"}\n{"_id":"q2","text":"two"}\n',
    "qrels.tsv": "q1\ta\t1\nq2\tc\t1\n",
  });
  const added: EvalDocument[] = [];
  const asked: string[] = [];
  const index = {
    async add(batch: readonly EvalDocument[]) {
      added.push(...batch);
      return { ok: true, value: undefined } as const;
    },
    async ask(mode: string, text: string) {
      asked.push(`${mode} ${text}`);
      return { ok: true, value: [0, 1] } as const;
    },
  };
  const figures = [];
  for await (const each of evaluateDataSet(folder, index, new AbortController().signal)) figures.push(each);
  expect(added.map(({ id, title }) => [id, title])).toEqual([
    ["a", "T"],
    ["2", ""],
    ["c", ""],
  ]);
  expect(asked.sort()).toEqual(["hybrid one", "hybrid two", "lexical one", "lexical two", "vector one", "vector two"]);
  const means = { queries: 2, ndcgAt10: 0.5, recallAt5: 0.5, recallAt10: 0.5, mrr: 0.5 };
  expect(figures).toEqual(["hybrid", "lexical", "vector"].map((mode) => ({ ok: true, value: { mode, ...means } })));
  const stopped = [];
  for await (const each of evaluateDataSet(folder, index, AbortSignal.abort()))
    stopped.push(each.ok || each.failure.code);
  expect(stopped).toEqual(["cancelled"]);
});
