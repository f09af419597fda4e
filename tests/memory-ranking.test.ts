import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "./kit/claw.ts";
import { type EmbeddingServer, sendJson, startEmbeddingServer } from "./kit/embedding-server.ts";
import { type MemoryHouse, openMemoryHouse } from "./kit/memory-house.ts";

/* What a search finds, in which order, and what it says of it: through gRPC and through the model's tool. */

type Hit = { readonly path: string; readonly score: number; readonly snippet: string; readonly source: string };
type Found = { readonly results: readonly (Hit & JsonObject)[]; readonly count: number; readonly legs?: JsonObject };

let house: MemoryHouse;
let server: EmbeddingServer | undefined;
beforeEach(async () => {
  house = await openMemoryHouse();
});
afterEach(async () => {
  await house.close();
  await server?.close();
  server = undefined;
});

/** Serves a vector that was written down for each text, by the first of these words in it. */
async function craftVectors(vectors: Readonly<Record<string, readonly number[]>>): Promise<EmbeddingServer> {
  server = await startEmbeddingServer(3);
  server.mischief = ({ body }, response) => {
    const data = (body.input ?? []).map((text, index) => {
      const word = Object.keys(vectors).find((one) => text.includes(one));
      return { index, embedding: vectors[word ?? ""] ?? [0, 0, 1] };
    });
    sendJson(response, 200, { data });
    return true;
  };
  return server;
}

const embedded = () =>
  eventually(
    () => house.dial().memory.stats({}),
    ({ chunks, toEmbed }) => chunks > 0 && toEmbed === 0,
    "that every piece has its vector",
  );

test("a phrase must stand there, a star is any ending, NOT and a dash exclude, and a typing error still finds", async () => {
  await house.files({
    "one.md": "The exact phrase stands here, and authentication too.\n",
    "two.md": "A phrase that is exact; the author agrees.\n",
    "three.md": "foo with bar\n",
    "four.md": "foo alone\n",
    "tokens/refresh.md": "Nothing of the sort.\n",
  });
  await house.up();
  await house.index();
  const found = async (query: string) => [...(await house.found(query, "lexical"))].sort();
  expect(await found('"exact phrase"')).toEqual(["one.md"]);
  expect(await found("auth*")).toEqual(["one.md", "two.md"]);
  expect(await found("foo NOT bar")).toEqual(["four.md"]);
  expect(await found("foo -bar")).toEqual(["four.md"]);
  expect(await found("authentcation")).toEqual(["one.md"]);
  // The path is a field of its own.
  expect(await found("refresh")).toEqual(["tokens/refresh.md"]);
  const { memory } = house.dial();
  const { hits } = await memory.search({ query: "exact phrase", mode: "lexical" });
  const scores = hits.map(({ reason }) => reason?.lexical?.score ?? 0);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
});

test("the nearest of three crafted vectors comes first; a vector of zeros is near to nothing", async () => {
  await house.files({ "east.md": "alpha\n", "north.md": "beta\n", "between.md": "gamma\n", "none.md": "delta\n" });
  const vectors = { alpha: [1, 0, 0], beta: [0, 1, 0], gamma: [0.7, 0.7, 0], delta: [0, 0, 0], where: [0.2, 0.9, 0] };
  const { url } = await craftVectors(vectors);
  await house.up({ EMBEDDING_API_URL: url });
  await house.index();
  await embedded();
  const { hits } = await house.dial().memory.search({ query: "where", mode: "vector", limit: 3 });
  expect(hits.map(({ path }) => path)).toEqual(
    ["north.md", "between.md", "east.md"].map((name) => join(house.workspace, name)),
  );
  const cosines = hits.map(({ reason }) => reason?.vector?.score ?? -2);
  for (const [index, cosine] of [0.976, 0.844, 0.217].entries()) expect(cosines[index]).toBeCloseTo(cosine, 2);
});

test("ranks 1 and 3 of the two legs make 1/61 + 1/63 when both count the same", async () => {
  await house.config('[memory]\nrrf = "unweighted"\n');
  await house.files({
    "both.md": "harbour harbour harbour\n",
    "first.md": "first, by its vector alone\n",
    "second.md": "second, by its vector alone\n",
  });
  const vectors = { "harbour harbour": [0.6, 0.8, 0], first: [1, 0, 0], second: [0.9, 0.3, 0], harbour: [1, 0, 0] };
  const { url } = await craftVectors(vectors);
  await house.up({ EMBEDDING_API_URL: url });
  await house.index();
  await embedded();
  const { hits } = await house.dial().memory.search({ query: "harbour" });
  const both = hits.find(({ path }) => path.endsWith("both.md"));
  expect(both?.reason).toMatchObject({ lexical: { rank: 1 }, vector: { rank: 3 } });
  expect(both?.score.toFixed(5)).toBe("0.03227");
  expect(hits[0]).toBe(both);
});

test("each mode says which legs found a hit; an unknown one is hybrid, and the answer has its shape", async () => {
  await house.files({ "harbour.md": "The harbour freezes.\n", "long.md": `harbour ${"ü€𝄞".repeat(200)}\n` });
  const { url } = await startedServer();
  await house.up({ EMBEDDING_API_URL: url });
  await house.index();
  await embedded();
  const search = (args: JsonObject) => house.told<Found>("memory_search", { query: "harbour", ...args });
  const sources = async (args: JsonObject) => new Set((await search(args)).results.map(({ source }) => source));
  expect(await sources({ source: "fts", kind: "file" })).toEqual(new Set(["fts"]));
  expect(await sources({ source: "vector", kind: "file" })).toEqual(new Set(["vector"]));
  expect(await sources({ kind: "file" })).toEqual(new Set(["hybrid"]));
  expect(await sources({ kind: "file", source: "tarot" })).toEqual(new Set(["hybrid"]));
  const { results, count } = await search({ kind: "file" });
  expect(count).toBe(2);
  for (const { document_id, path, score, snippet } of results) {
    expect([typeof document_id, typeof path, typeof score, typeof snippet]).toEqual([
      "string",
      "string",
      "number",
      "string",
    ]);
  }
  const long = results.find(({ path }) => path === "long.md")?.snippet ?? "";
  expect(long.isWellFormed()).toBe(true);
  expect([[...long.slice(0, -3)].length, long.slice(-3)]).toEqual([500, "..."]);
  expect((await search({ limit: 1, kind: "file" })).count).toBe(1);
  expect(await house.call("memory_search", {})).toMatchObject({
    done: false,
    output: expect.stringContaining("Missing required field 'query'"),
  });
});

async function startedServer(): Promise<EmbeddingServer> {
  server = await startEmbeddingServer(64);
  return server;
}

test("the offline embedder needs no key and no network, and gives the same order every time", async () => {
  await house.config('[memory]\nembedder = "mock"\n');
  await house.files({ "a.md": "ash\n", "b.md": "birch\n", "c.md": "cedar\n", "d.md": "date palm\n" });
  await house.up();
  await house.index();
  await embedded();
  const first = await house.found("elm", "vector");
  expect(first).toHaveLength(4);
  expect(await house.found("elm", "vector")).toEqual(first);
  await house.down();
  await house.up();
  await embedded();
  expect(await house.found("elm", "vector")).toEqual(first);
});

test("without any key words find, what shares none with the question is no hit, and the log says what is missing", async () => {
  await house.files({ "harbour.md": "The harbour freezes.\n" });
  await house.up();
  await house.index();
  expect(await house.found("harbour", "lexical")).toEqual(["harbour.md"]);
  expect(await embedded()).toMatchObject({ embedder: "hash-v1", embedded: 1 });
  expect([await house.found("harbour"), await house.found("zebra savannah")]).toEqual([["harbour.md"], []]);
  await eventually(house.log, (log) => log.includes("OPENAI_API_KEY"), "that the log names the key");
});

test("a service that refuses is named with its status and its words, and is not asked three times", async () => {
  server = await startEmbeddingServer(8);
  server.mischief = (_request, response) => {
    sendJson(response, 400, { error: { message: "no such model" } });
    return true;
  };
  await house.files({ "harbour.md": "The harbour freezes.\n", "tea.md": "Tea.\n", "oak.md": "Oak.\n" });
  await house.up({ EMBEDDING_API_URL: server.url, EMBEDDING_MODEL: "nowhere" });
  await house.index();
  const problems = async () => (await house.dial().daemon.status({})).problems.map(({ message }) => message).join("\n");
  const told = await eventually(problems, (text) => text.includes("400"), "that the status tells of it");
  expect(told).toMatch(/Embedding API error 400: .*no such model/);
  expect(await house.found("harbour")).toEqual(["harbour.md"]);
});

test("an embedder without its key is an error to the tools that need it, which names the key, and none to a search", async () => {
  await house.config('[memory]\nembedder = "openai"\n');
  await house.up();
  const { done, output } = await house.call("vector_db_add_text", { text: "lighthouses warn ships" });
  expect({ done, output }).toMatchObject({ done: false, output: expect.stringContaining("OPENAI_API_KEY") });
  const kept = await house.told("remember", { content: "The lighthouse is white." });
  const { results, legs } = await house.told<Found>("memory_search", { query: "lighthouse", kind: "note" });
  expect(results).toMatchObject([{ document_id: kept.memory_id, source: "fts" }]);
  expect(legs).toMatchObject({ fts: "ok", vector: expect.stringContaining("no key") });
});
