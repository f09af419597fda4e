import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pdfWithPages } from "../core/memory/fixtures/pdf-maker.ts";
import { type MemoryHouse, openMemoryHouse } from "./kit/memory-house.ts";

/* The thirteen tools for indices of vectors, each as a model calls it. */

let house: MemoryHouse;
beforeAll(async () => {
  house = await openMemoryHouse();
  await house.up();
});
afterAll(() => house.close());

const told = <T = JsonObject>(tool: string, args: JsonObject) => house.told<T>(`vector_db_${tool}`, args);
const refused = async (tool: string, args: JsonObject) => {
  const { done, output } = await house.call(`vector_db_${tool}`, args);
  return done ? "" : output;
};

test("an index is made once, listed, and gone when it is deleted", async () => {
  expect(await told("create_index", { index_name: "first", dimension: 2 })).toMatchObject({ success: true });
  expect(await refused("create_index", { index_name: "first", dimension: 2 })).toContain("first");
  expect(await refused("create_index", { index_name: "flat", dimension: 0 })).not.toBe("");
  expect(await refused("create_index", { index_name: "odd", dimension: 2, metric: "taxi" })).not.toBe("");
  const many = { M: 16, ef_construction: 200, max_elements: 5 };
  await told("create_index", { index_name: "second", dimension: 2, metric: "ip", ...many });
  expect(await told("list_indices", {})).toEqual({ indices: ["first", "second"] });
  expect(await told("delete_index", { index_name: "first" })).toMatchObject({ success: true });
  expect(await told("list_indices", {})).toEqual({ indices: ["second"] });
  expect(await refused("delete_index", { index_name: "first" })).toContain("Index not found");
});

test("a vector of any length is kept, changed and taken out; another length and a full index are refused", async () => {
  const vector = Array.from({ length: 768 }, (_, index) => Math.fround(Math.sin(index)));
  await told("create_index", { index_name: "wide", dimension: 768, max_elements: 1 });
  expect(await told("add_vector", { index_name: "wide", vector, metadata: { from: "test" } })).toMatchObject({
    label: 0,
  });
  expect(await told("get_vector", { index_name: "wide", label: 0 })).toEqual({
    label: 0,
    vector,
    metadata: { from: "test" },
  });
  expect(await refused("add_vector", { index_name: "wide", vector })).toContain("Index is full");
  expect(await refused("add_vector", { index_name: "wide", vector: [1, 2] })).toContain("dimension mismatch");
  const other = vector.map((_, index) => Math.fround(Math.cos(index)));
  await told("update_vector", { index_name: "wide", label: 0, vector: other, metadata: { from: "update" } });
  expect(await told("get_vector", { index_name: "wide", label: 0 })).toMatchObject({
    vector: other,
    metadata: { from: "update" },
  });
  await told("delete_vector", { index_name: "wide", label: 0 });
  expect(await refused("get_vector", { index_name: "wide", label: 0 })).toContain("Element not found");
  expect(await told("add_vector", { index_name: "wide", vector })).toMatchObject({ label: 1 });
});

test.each([
  ["l2", [0, 1, 2], [0, 4, 100]],
  ["cosine", [0, 2, 1], [0, 0, 1]],
  ["ip", [2, 0, 1], [-10, 0, 1]],
])("the nearest come first by %s", async (metric, labels, distances) => {
  const index_name = `near-${metric}`;
  await told("create_index", { index_name, dimension: 2, metric });
  for (const vector of [
    [1, 0],
    [1, 2],
    [11, 0],
  ])
    await told("add_vector", { index_name, vector });
  const query = { index_name, query_vector: [1, 0] };
  const found = await told<{ label: number; distance: number }[]>("search", { ...query, k: 3 });
  const byLabel = new Map(found.map(({ label, distance }) => [label, distance]));
  expect(found.map(({ distance }) => distance)).toEqual([...byLabel.values()].sort((a, b) => a - b));
  expect(found.map(({ label }) => label)).toEqual(labels);
  expect(found[0]?.distance).toBeCloseTo(distances[0] ?? 0, 4);
  expect(await refused("search", { ...query, k: 0 })).not.toBe("");
});

test("texts are kept in an index that makes itself, whole or in pieces, and found by words and by time", async () => {
  const index_name = "papers";
  const before = Math.floor(Date.now() / 1_000);
  expect(
    await told("add_text", { index_name, text: "lighthouses warn ships", metadata: { year: 1900 } }),
  ).toMatchObject({
    id: 0,
  });
  const long = Array.from({ length: 75 }, (_, index) => `Sentence ${index} is about the whale trade.`).join(" ");
  const chunked = await told<{ successful: number; failed: number; total: number }>("add_chunked_text", {
    index_name,
    text: long,
  });
  expect(chunked).toMatchObject({ successful: chunked.total, failed: 0 });
  expect(chunked.total).toBeGreaterThanOrEqual(3);
  const overlapping = { index_name, text: long, max_chunk_size: 200, overlap_size: 200 };
  expect(await refused("add_chunked_text", overlapping)).toContain("overlap");
  await house.files({ "tea.pdf": pdfWithPages(["Green tea wants seventy degrees.", "Black tea wants ninety."]) });
  const pdf = { index_name, pdf_path: "tea.pdf" };
  expect(await told("add_pdf_document", pdf)).toMatchObject({ pdf_pages: 2, failed: 0, successful: 1, total: 1 });
  const [best] = await told<JsonObject[]>("search_text", { index_name, query: "ships and lighthouses", k: 2 });
  expect(best).toMatchObject({ id: 0, content: "lighthouses warn ships", metadata: { year: 1900 } });
  for (const field of ["type", "source", "timestamp", "distance"]) expect(best).toHaveProperty(field);
  const all = await told<JsonObject[]>("search_by_time", { index_name });
  expect(all).toHaveLength(chunked.total + 2);
  expect(await told("search_by_time", { index_name, end_time: before - 60 })).toEqual([]);
  expect(await told<JsonObject[]>("search_by_time", { index_name, start_time: before, limit: 1 })).toHaveLength(1);
});
