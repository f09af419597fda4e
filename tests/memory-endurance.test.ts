import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pdfWithPages } from "../core/memory/fixtures/pdf-maker.ts";
import { eventually } from "./kit/claw.ts";
import { type EmbeddingServer, sendJson, startEmbeddingServer } from "./kit/embedding-server.ts";
import { type MemoryHouse, openMemoryHouse } from "./kit/memory-house.ts";

/* What was kept outlives a daemon that is killed, and nothing is paid for twice. */

let house: MemoryHouse;
let server: EmbeddingServer;
beforeEach(async () => {
  house = await openMemoryHouse();
  server = await startEmbeddingServer(384);
});
afterEach(async () => {
  await house.close();
  await server.close();
});

const stats = () => house.dial().memory.stats({});
const embedded = () =>
  eventually(stats, ({ chunks, toEmbed }) => chunks > 0 && toEmbed === 0, "that every piece has its vector");

test("a daemon killed a second after it was told to keep things has them all: notes, vectors, texts, files", async () => {
  await house.files({ "harbour.md": "The harbour freezes.\n" });
  await house.up();
  await house.index();
  await house.dial().memory.remember({ text: "the anchor is rusty" });
  await house.told("vector_db_create_index", { index_name: "colours", dimension: 3, metric: "cosine" });
  await house.told("vector_db_add_vector", { index_name: "colours", vector: [255, 0, 0], metadata: { name: "red" } });
  await house.told("vector_db_add_text", { index_name: "sea", text: "lighthouses warn ships" });
  const kept = await house.told("remember", { content: "The owner likes blue." });
  await wait(1_000);
  await house.down("SIGKILL");
  await house.up();
  expect(await house.found("harbour", "lexical")).toContain("harbour.md");
  expect(await house.found("anchor", "lexical")).toHaveLength(1);
  expect(await house.found("blue", "lexical")).toContain(kept.memory_id);
  const vector = { label: 0, vector: [255, 0, 0], metadata: { name: "red" } };
  expect(await house.told("vector_db_get_vector", { index_name: "colours", label: 0 })).toEqual(vector);
  const texts = await house.told("vector_db_search_text", { index_name: "sea", query: "ships" });
  expect(texts).toMatchObject([{ content: "lighthouses warn ships" }]);
  expect((await house.claw("memory", "verify")).code).toBe(0);
});

test("a restart without edits asks the embedder for no document again, also after a kill", async () => {
  await house.files({ "fruit.md": "Apples grow on trees.\n", "sea.md": "Whales swim.\n" });
  const env = { EMBEDDING_API_URL: server.url, EMBEDDING_API_KEY: "my-key" };
  await house.up(env);
  await house.index();
  await embedded();
  expect(server.requests[0]).toMatchObject({
    path: "/v1/embeddings",
    headers: { authorization: "Bearer my-key" },
    body: { input: [expect.any(String), expect.any(String)] },
  });
  for (const how of ["SIGTERM", "SIGKILL"] as const) {
    await house.down(how);
    server.requests.length = 0;
    await house.up(env);
    await embedded();
    await house.index();
    await house.claw("memory", "rebuild");
    await embedded();
    expect(server.texts()).toEqual([]);
  }
}, 60_000);

test("an embedder that is busy twice is asked a third time, and everything is indexed", async () => {
  server.mischief = (_request, response, number) => {
    if (number <= 2) sendJson(response, 503, {});
    return number <= 2;
  };
  await house.files({ "sea.md": "Whales swim.\n" });
  await house.up({ EMBEDDING_API_URL: server.url });
  await house.index();
  expect(await embedded()).toMatchObject({ embedded: 1 });
  expect(server.requests).toHaveLength(3);
  expect(await house.found("whales swim", "vector")).toEqual(["sea.md"]);
}, 60_000);

test("a PDF is read by pages: page 1 to 1 is its second, and one that is missing, broken or empty says so", async () => {
  await house.files({
    "tea.pdf": pdfWithPages(["Green tea.", "Black tea.", "White tea."]),
    "empty.pdf": "",
    "broken.pdf": "%PDF-1.7\nnothing\n",
  });
  await house.up();
  const page = await house.told("pdf_extract_text", { file_path: "tea.pdf", start_page: 1, end_page: 1 });
  expect(page).toMatchObject({ success: true, text: "Black tea.", page_count: 3, length: 10 });
  const all = await house.told("pdf_extract_text", { file_path: "tea.pdf", start_page: -1, end_page: 99 });
  expect(all.text).toBe("Green tea.\n\nBlack tea.\n\nWhite tea.");
  for (const file_path of ["none.pdf", "empty.pdf", "broken.pdf"]) {
    const { done, output } = await house.call("pdf_extract_text", { file_path });
    expect({ file_path, done, output }).toMatchObject({ done: false, output: expect.stringContaining(file_path) });
  }
});

test("a note that was forgotten is recalled no more, its id is never given again, and /memory sees what tools do", async () => {
  await house.up();
  const facts = ["ants march", "bees hum", "cats purr", "dogs bark", "eels slide", "foxes sneak", "goats climb"];
  const ids: string[] = [];
  for (const content of [...facts, "horses run", "ibexes jump", "jays sing"])
    ids.push(String((await house.told("remember", { content, type: "animal" })).memory_id));
  expect(new Set(ids).size).toBe(10);
  const recall = () =>
    house.told<{ memories: { memory_id: string; score: number }[] }>("recall", { query: "who purrs" });
  const { memories } = await recall();
  expect(memories[0]).toMatchObject({ memory_id: ids[2], content: "cats purr", type: "animal" });
  const scores = memories.map(({ score }) => score);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(await house.told("forget", { memory_id: ids[2] ?? "" })).toMatchObject({ preview: "cats purr" });
  expect((await recall()).memories.map(({ memory_id }) => memory_id)).not.toContain(ids[2]);
  expect(await house.call("forget", { memory_id: ids[2] ?? "" })).toMatchObject({ done: false });
  const again = await house.told("remember", { content: "cats purr" });
  expect(ids).not.toContain(again.memory_id);
  const listed = await house.claw("say", "/memory list");
  expect(listed.stdout).toContain(String(again.memory_id));
  expect(listed.stdout).not.toContain(ids[2]);
});
