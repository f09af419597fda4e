import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runFolder } from "../../../tests/kit/run-folder.ts";
import { textEmbedder } from "../../daemon/text-embedder.ts";
import { quietDesk } from "../../domain/desk.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import type { Tool, ToolOutcome } from "../../domain/tool.ts";
import { type JsonlJournal, openJournal } from "../../journal/jsonl-journal.ts";
import type { EmbedderChoice } from "../embed/choose-embedder.ts";
import { type MemoryPool, memoryPool } from "../worker/memory-pool.ts";
import { pdfTool } from "./pdf-tool.ts";
import { openTextIndex } from "./text-index.ts";
import { textsSource } from "./texts-source.ts";
import { vectorIndexTools } from "./vector-index-tools.ts";
import { openVectorIndices } from "./vector-indices.ts";
import { vectorTextTools } from "./vector-text-tools.ts";
import type { OpenPdf } from "./workspace-pdf.ts";

const BUILTIN: EmbedderChoice = { kind: "computed", name: "builtin" };
const signal = new AbortController().signal;

let home = "";
let pool: MemoryPool;
let journal: JsonlJournal | undefined;
let nowMs = 0;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-vectors-"));
  pool = memoryPool(runFolder().memoryWorkerFile);
  nowMs = 1_000_000_000_000;
});
afterEach(async () => {
  await pool.close();
  await journal?.close();
  await rm(home, { recursive: true, force: true });
});

const openPdf: OpenPdf = async (path) =>
  path === "tea.pdf"
    ? ok({ shown: path, real: `/w/${path}`, pages: ["Green tea.", "Black tea.", "White tea."], pageCount: 3 })
    : fail("not_found", `there is no ${path}`);

/** The house of these tools anew, as after a restart of the daemon. */
async function openTools(choice: EmbedderChoice = BUILTIN) {
  await journal?.close();
  const opened = await openJournal({ dir: join(home, "vectors"), now: () => nowMs });
  if (!opened.ok) throw new Error(opened.failure.message);
  journal = opened.value;
  const indices = openVectorIndices({
    journal: async () => opened,
    nearest: (request, stop) => pool.run("nearest", request, "front", stop),
    now: () => nowMs,
  });
  const added: string[] = [];
  const texts = openTextIndex({
    indices,
    embedder: textEmbedder(() => choice, pool),
    onAdded: (name) => added.push(name),
  });
  const tools: readonly Tool[] = [
    ...vectorIndexTools(indices),
    ...vectorTextTools(texts, openPdf, () => nowMs),
    pdfTool(openPdf, texts),
  ];
  const run = (name: string, args: JsonObject): Promise<ToolOutcome> => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return tool.run(args, {
      ...{ sessionId: "s", callId: "c", workspace: "/w", signal, progress: () => {} },
      desk: quietDesk(async () => ok(undefined)),
    });
  };
  return {
    indices,
    tools,
    added,
    async told<T = JsonObject>(name: string, args: JsonObject): Promise<T> {
      const outcome = await run(name, args);
      if (outcome.status === "failed") throw new Error(outcome.output);
      return JSON.parse(outcome.output) as T;
    },
    async refused(name: string, args: JsonObject): Promise<string> {
      const outcome = await run(name, args);
      return outcome.status === "failed" ? outcome.failure.message : `done: ${outcome.output}`;
    },
  };
}

type Found = { label: number; distance: number }[];

test("there are thirteen, each with a schema that closes", async () => {
  const { tools } = await openTools();
  const names = tools.map((tool) => tool.name).filter((name) => name.startsWith("vector_db_"));
  expect(names).toHaveLength(13);
  for (const { input } of tools) expect(input.additionalProperties).toBe(false);
  const all = tools.flatMap((tool) => [tool.name, ...tool.aliases]);
  expect(new Set(all).size).toBe(all.length);
});

test("an index is made once, listed, and deleted with its file", async () => {
  const { told, refused } = await openTools();
  expect(await told("vector_db_create_index", { index_name: "My Index ✓", dimension: 3 })).toMatchObject({
    success: true,
  });
  expect(await refused("vector_db_create_index", { index_name: "My Index ✓", dimension: 3 })).toContain(
    "already exists",
  );
  await told("vector_db_create_index", { index_name: "b", dimension: 2, M: 8, ef_construction: 50, metric: "ip" });
  expect(await told("vector_db_list_indices", {})).toEqual({ indices: ["My Index ✓", "b"] });
  await told("vector_db_delete_index", { index_name: "b" });
  expect(await told("vector_db_list_indices", {})).toEqual({ indices: ["My Index ✓"] });
  expect(await readdir(join(home, "vectors"))).toHaveLength(1);
  expect(await refused("vector_db_delete_index", { index_name: "b" })).toMatch(/^Index not found/);
  expect(await refused("vector_db_search", { index_name: "b", query_vector: [1, 2], k: 1 })).toMatch(
    /^Index not found/,
  );
});

test("the name that is deleted can be given again, to an index that is empty", async () => {
  const { told, refused } = await openTools();
  await told("vector_db_create_index", { index_name: "a", dimension: 2 });
  await told("vector_db_add_vector", { index_name: "a", vector: [1, 2] });
  await told("vector_db_delete_index", { index_name: "a" });
  await told("vector_db_create_index", { index_name: "a", dimension: 3 });
  expect(await refused("vector_db_get_vector", { index_name: "a", label: 0 })).toMatch(/^Element not found/);
  expect(await told("vector_db_add_vector", { index_name: "a", vector: [1, 2, 3] })).toMatchObject({ label: 0 });
});

test("vectors of 768 numbers come back as they went in, also after a restart", async () => {
  const vector = Array.from({ length: 768 }, (_, index) => Math.fround(Math.sin(index)));
  const before = await openTools();
  await before.told("vector_db_create_index", { index_name: "a", dimension: 768 });
  const { label } = await before.told("vector_db_add_vector", {
    index_name: "a",
    vector,
    metadata: { n: [1, { b: null }] },
  });
  expect(await before.told("vector_db_get_vector", { index_name: "a", label: label ?? 0 })).toMatchObject({
    label,
    vector,
  });
  const after = await openTools();
  expect(await after.told("vector_db_get_vector", { index_name: "a", label: label ?? 0 })).toEqual({
    ...{ label, vector },
    metadata: { n: [1, { b: null }] },
  });
});

test("an update replaces, a deletion takes out, and no label is given twice", async () => {
  const { told, refused } = await openTools();
  await told("vector_db_create_index", { index_name: "a", dimension: 2, max_elements: 2 });
  const add = (vector: number[]) =>
    told<{ label: number }>("vector_db_add_vector", { index_name: "a", vector, metadata: { m: 1 } });
  expect([(await add([1, 1])).label, (await add([2, 2])).label]).toEqual([0, 1]);
  expect(await refused("vector_db_add_vector", { index_name: "a", vector: [3, 3] })).toMatch(/^Index is full/);
  await told("vector_db_update_vector", { index_name: "a", label: 0, vector: [9, 9] });
  expect(await told("vector_db_get_vector", { index_name: "a", label: 0 })).toEqual({
    label: 0,
    vector: [9, 9],
    metadata: { m: 1 },
  });
  await told("vector_db_delete_vector", { index_name: "a", label: 1 });
  for (const tool of ["vector_db_get_vector", "vector_db_delete_vector"]) {
    expect(await refused(tool, { index_name: "a", label: 1 })).toMatch(/^Element not found/);
  }
  expect(await refused("vector_db_update_vector", { index_name: "a", label: 1, vector: [1, 1] })).toMatch(
    /^Element not found/,
  );
  expect((await add([4, 4])).label).toBe(2);
  const { told: toldLater } = await openTools();
  await toldLater("vector_db_delete_vector", { index_name: "a", label: 2 });
  expect(await toldLater("vector_db_add_vector", { index_name: "a", vector: [5, 5] })).toMatchObject({ label: 3 });
});

test("another length is a dimension mismatch everywhere, and what is no float32 is refused", async () => {
  const { told, refused } = await openTools();
  await told("vector_db_create_index", { index_name: "a", dimension: 2 });
  await told("vector_db_add_vector", { index_name: "a", vector: [1, 2] });
  const wrong = [
    await refused("vector_db_add_vector", { index_name: "a", vector: [1, 2, 3] }),
    await refused("vector_db_update_vector", { index_name: "a", label: 0, vector: [1] }),
    await refused("vector_db_search", { index_name: "a", query_vector: [1], k: 1 }),
  ];
  for (const message of wrong) expect(message).toMatch(/dimension mismatch/);
  expect(await refused("vector_db_add_vector", { index_name: "a", vector: [1e300, 0] })).toContain("too large");
});

test.each([
  [
    "l2",
    [
      [0, 0],
      [3, 4],
      [6, 8],
    ],
    [0, 1],
    [
      [0, 1],
      [1, 18],
      [2, 85],
    ],
  ],
  [
    "cosine",
    [
      [1, 0],
      [0, 5],
      [-2, 0],
      [0, 0],
    ],
    [2, 0],
    [
      [0, 0],
      [1, 1],
      [3, 1],
      [2, 2],
    ],
  ],
  [
    "ip",
    [
      [1, 0],
      [3, 0],
      [-1, 0],
    ],
    [2, 0],
    [
      [1, -5],
      [0, -1],
      [2, 3],
    ],
  ],
] as const)("%s: the nearest come first", async (metric, vectors, query, expected) => {
  const { told } = await openTools();
  await told("vector_db_create_index", { index_name: "a", dimension: 2, metric });
  for (const vector of vectors) await told("vector_db_add_vector", { index_name: "a", vector: [...vector] });
  const found = await told<Found>("vector_db_search", { index_name: "a", query_vector: [...query], k: 10 });
  expect(found.map(({ label, distance }) => [label, distance])).toEqual(expected);
  expect(await told<Found>("vector_db_search", { index_name: "a", query_vector: [...query], k: 1 })).toHaveLength(1);
});

test("random changes leave the same as a plain map, before and after a restart", async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const { told } = await openTools();
  await told("vector_db_create_index", { index_name: "a", dimension: 3 });
  const plain = new Map<number, number[]>();
  for (let step = 0; step < 900; step += 1) {
    const vector = [random(100), random(100), random(100)];
    const labels = [...plain.keys()];
    const label = labels[random(Math.max(labels.length, 1))];
    const act = random(10);
    if (act < 4 || label === undefined) {
      const put = await told<{ label: number }>("vector_db_add_vector", { index_name: "a", vector });
      expect(plain.has(put.label)).toBe(false);
      plain.set(put.label, vector);
    } else if (act < 7) {
      await told("vector_db_delete_vector", { index_name: "a", label });
      plain.delete(label);
    } else {
      await told("vector_db_update_vector", { index_name: "a", label, vector });
      plain.set(label, vector);
    }
  }
  const query = [50, 50, 50];
  const expected = [...plain]
    .map(([label, vector]) => ({ label, distance: vector.reduce((sum, n, i) => sum + (n - (query[i] ?? 0)) ** 2, 0) }))
    .sort((a, b) => a.distance - b.distance || a.label - b.label)
    .slice(0, 20);
  for (const ask of [told, (await openTools()).told]) {
    expect(await ask<Found>("vector_db_search", { index_name: "a", query_vector: query, k: 20 })).toEqual(expected);
  }
});

test("many at once lose nothing", async () => {
  const { told } = await openTools();
  await told("vector_db_create_index", { index_name: "a", dimension: 1 });
  const added = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      told<{ label: number }>("vector_db_add_vector", { index_name: "a", vector: [n] }),
    ),
  );
  expect(new Set(added.map(({ label }) => label)).size).toBe(200);
  const { indices } = await openTools();
  const kept = await indices.elements("a");
  expect(kept.ok && kept.value.length).toBe(200);
});

test("texts are found by what they say, in an index that comes by itself", async () => {
  const { told, added } = await openTools();
  const ids: number[] = [];
  for (const text of ["the harbour freezes in winter", "sourdough wants a warm kitchen", "a kitchen needs knives"]) {
    ids.push((await told<{ id: number }>("vector_db_add_text", { text, metadata: { n: ids.length } })).id);
    nowMs += 60_000;
  }
  expect(ids).toEqual([0, 1, 2]);
  const [first] = await told<JsonObject[]>("vector_db_search_text", { query: "sourdough bread", k: 2 });
  expect(first).toEqual({
    id: 1,
    content: "sourdough wants a warm kitchen",
    type: "text",
    source: "",
    timestamp: 1_000_000_060,
    distance: expect.any(Number),
    metadata: { n: 1 },
  });
  expect(await told("vector_db_list_indices", {})).toEqual({ indices: ["documents"] });
  expect(added).toEqual(["documents", "documents", "documents"]);
});

test("search_by_time shows what came in within the window, newest first", async () => {
  const { told } = await openTools();
  for (const text of ["old", "middle", "new"]) {
    await told("vector_db_add_text", { text });
    nowMs += 3_600_000;
  }
  const contents = async (args: JsonObject) =>
    (await told<{ content: string }[]>("vector_db_search_by_time", args)).map(({ content }) => content);
  expect(await contents({})).toEqual(["new", "middle", "old"]);
  expect(await contents({ start_time: 1_000_000_001 })).toEqual(["new", "middle"]);
  expect(await contents({ start_time: 0, end_time: 1_000_003_600 })).toEqual(["middle", "old"]);
  expect(await contents({ limit: 1 })).toEqual(["new"]);
});

test("a long text is cut, and its parts are counted", async () => {
  const { told, refused } = await openTools();
  const text = Array.from({ length: 300 }, (_, n) => `word${n}`)
    .join(" ")
    .padEnd(3_000, " more");
  const added = await told<Record<string, number>>("vector_db_add_chunked_text", { text, index_name: "long" });
  expect(added.total).toBeGreaterThanOrEqual(3);
  expect([added.successful, added.failed]).toEqual([added.total, 0]);
  const overlap = { text, max_chunk_size: 100, overlap_size: 100 };
  expect(await refused("vector_db_add_chunked_text", overlap)).toContain("overlap");
});

test("a PDF is added with its pages counted", async () => {
  const { told, refused } = await openTools();
  const added = await told("vector_db_add_pdf_document", { pdf_path: "tea.pdf", index_name: "teas" });
  expect(added).toMatchObject({ successful: 1, failed: 0, total: 1, pdf_pages: 3 });
  expect(await refused("vector_db_add_pdf_document", { pdf_path: "none.pdf" })).toContain("none.pdf");
});

test("without an embedder the texts' tools name what is missing, and vectors go on", async () => {
  const hint = "set OPENAI_API_KEY or EMBEDDING_API_KEY";
  const none: EmbedderChoice = {
    ...{ kind: "none", why: 'the embedder "openai" has no key' },
    problem: { code: "unavailable", message: "no key", hint },
  };
  const { told, refused, indices } = await openTools(none);
  await told("vector_db_create_index", { index_name: "documents", dimension: 2 });
  await told("vector_db_add_vector", { index_name: "documents", vector: [1, 2] });
  expect(await refused("vector_db_add_text", { text: "x" })).toContain("has no key");
  expect(await refused("vector_db_search_text", { query: "x" })).toContain("has no key");
  expect(await refused("vector_db_add_chunked_text", { text: "x" })).toContain("has no key");
  const read = await told("pdf_extract_text", { file_path: "tea.pdf" });
  expect(read).toMatchObject({ success: true, not_indexed: expect.stringContaining("has no key") });
  expect((await indices.elements("documents")).ok).toBe(true);
});

test("vectors of two embedders are never compared", async () => {
  const before = await openTools();
  await before.told("vector_db_add_text", { text: "green tea" });
  const { refused, told } = await openTools({ kind: "computed", name: "mock" });
  expect(await refused("vector_db_add_text", { text: "black tea" })).toMatch(/dimension mismatch|embedded by/);
  expect(await refused("vector_db_search_text", { query: "tea" })).toMatch(/dimension mismatch|embedded by/);
  expect(await told("vector_db_add_text", { text: "black tea", index_name: "other" })).toMatchObject({ id: 0 });
});

test("pages of a PDF are counted from 0, clamped, and the whole is kept once for memory", async () => {
  const { told, indices, added } = await openTools();
  const read = (args: JsonObject) => told("pdf_extract_text", { file_path: "tea.pdf", ...args });
  const all = { success: true, text: "Green tea.\n\nBlack tea.\n\nWhite tea.", page_count: 3, length: 34 };
  expect(await read({})).toEqual(all);
  expect(await read({ start_page: -1, end_page: -1 })).toEqual(all);
  expect(await read({ start_page: 1, end_page: 1 })).toMatchObject({ text: "Black tea.", page_count: 3 });
  expect(await read({ start_page: 2, end_page: 99 })).toMatchObject({ text: "White tea." });
  expect(await read({ start_page: 99 })).toMatchObject({ text: "White tea." });
  expect(new Set(added)).toEqual(new Set(["documents"]));
  const [kept] = await told<JsonObject[]>("vector_db_search_text", { query: "black tea" });
  expect(kept).toMatchObject({ type: "pdf_chunk", source: "/w/tea.pdf", metadata: { source: "pdf", file: "tea.pdf" } });
  const documents: Result<JsonValue>[] = [];
  for await (const document of textsSource(indices).documents(signal)) documents.push(document);
  expect(documents).toEqual([ok({ id: "tea.pdf#0", title: "tea.pdf", text: all.text })]);
});
