import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddingServer, sendJson, startEmbeddingServer, vectorOf } from "../../../tests/kit/embedding-server.ts";
import type { Embedder } from "../../domain/embedder.ts";
import { GEMINI_WIRE, OPENAI_WIRE } from "./embedding-wire.ts";
import { type HttpEmbedderOptions, httpEmbedder } from "./http-embedder.ts";

const KEY = "sk-secret-0123456789";
const never = new AbortController().signal;

let server: EmbeddingServer;
let waits: number[];
beforeEach(async () => {
  server = await startEmbeddingServer(8);
  waits = [];
});
afterEach(() => server.close());

function embedder(options: Partial<HttpEmbedderOptions> = {}): Embedder {
  return httpEmbedder({
    id: "local:test",
    wire: OPENAI_WIRE,
    url: `${server.url}/v1/embeddings`,
    model: "small",
    apiKey: KEY,
    dimensions: 0,
    timeoutMs: 5_000,
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
}

const embed = (texts: readonly string[], options: Partial<HttpEmbedderOptions> = {}) =>
  embedder(options).embed(texts, "document", never);

test("it asks in OpenAI's form with the key as bearer, and puts the answer in the order of the texts", async () => {
  const vectors = await embed(["a red apple", "blue"]);
  expect(vectors).toEqual({
    ok: true,
    value: [Float32Array.from(vectorOf("a red apple", 8)), Float32Array.from(vectorOf("blue", 8))],
  });
  expect(server.requests).toMatchObject([
    { path: "/v1/embeddings", headers: { authorization: `Bearer ${KEY}` }, body: { model: "small" } },
  ]);
  expect(Object.keys(server.requests[0]?.body ?? {})).toEqual(["model", "input"]);
});

test("without a key it sends no authorization", async () => {
  expect((await embed(["a"], { apiKey: "" })).ok).toBe(true);
  expect(server.requests[0]?.headers.authorization).toBeUndefined();
});

test("it asks Gemini in Gemini's form", async () => {
  const url = `${server.url}/v1beta/models/m:batchEmbedContents`;
  const asked = embedder({ wire: GEMINI_WIRE, url, model: "m" });
  expect(await asked.embed(["one", "two"], "query", never)).toMatchObject({ ok: true, value: { length: 2 } });
  expect(server.requests[0]).toMatchObject({
    headers: { "x-goog-api-key": KEY },
    body: { requests: [{ model: "models/m", content: { parts: [{ text: "one" }] }, taskType: "RETRIEVAL_QUERY" }, {}] },
  });
});

test("how long vectors are is learned from the first answer; another length later is refused", async () => {
  const one = embedder();
  expect(one.dimensions).toBe(0);
  await one.embed(["a"], "document", never);
  expect(one.dimensions).toBe(8);
  server.dimensions = 4;
  expect(await one.embed(["b"], "document", never)).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining("a vector of 4 numbers where 8 were expected") },
  });
});

test("many texts go in batches that a service takes, long texts are cut, empty ones are not sent as such", async () => {
  const texts = Array.from({ length: 300 }, (_, at) => `text ${at}`);
  const one = embedder();
  expect(await one.embed(texts, "document", never)).toMatchObject({ ok: true, value: { length: 300 } });
  expect(server.requests.map(({ body }) => body.input?.length)).toEqual([32, 128, 128, 12]);
  expect(server.texts()).toEqual(texts);
  server.requests.length = 0;
  await one.embed(["", `${"x".repeat(7_999)}😀 end`], "document", never);
  expect(server.texts().map((text) => text.length)).toEqual([7, 8_000]);
  server.requests.length = 0;
  await one.embed(
    Array.from({ length: 60 }, () => "y".repeat(8_000)),
    "document",
    never,
  );
  expect(server.requests.map(({ body }) => body.input?.length)).toEqual([25, 25, 10]);
});

test("a server in trouble is asked again after 1, 2 and 4 seconds, and then no more", async () => {
  server.mischief = (_request, response, number) => {
    if (number <= 2) sendJson(response, 503, { error: "busy" });
    return number <= 2;
  };
  expect((await embed(["a"])).ok).toBe(true);
  expect(waits).toEqual([1_000, 2_000]);
  waits = [];
  server.mischief = (_request, response) => {
    sendJson(response, 500, "broken");
    return true;
  };
  expect(await embed(["a"])).toMatchObject({
    ok: false,
    failure: { code: "unavailable", message: 'Embedding API error 500: "broken"' },
  });
  expect(waits).toEqual([1_000, 2_000, 4_000]);
});

test("Retry-After is honoured up to 30 seconds, as a number or as a moment", async () => {
  const told = ["7", "Thu, 01 Jan 2026 00:00:20 GMT", "31"];
  server.mischief = (_request, response, number) => {
    const date = "Thu, 01 Jan 2026 00:00:00 GMT";
    sendJson(response, 429, {}, { "retry-after": told[number - 1] ?? "", date });
    return true;
  };
  expect(await embed(["a"])).toMatchObject({ failure: { code: "exhausted", message: "Embedding API error 429: {}" } });
  expect(waits).toEqual([7_000, 20_000]);
});

test("any other status is final, and its words are told without a key, cut", async () => {
  server.mischief = (request, response) => {
    sendJson(response, 401, {
      error: `bad key ${request.headers.authorization} sk-somebody-elses-key ${"z".repeat(900)}`,
    });
    return true;
  };
  const refused = await embed(["a"]);
  expect(refused).toMatchObject({ failure: { code: "denied", hint: expect.stringContaining("embedding_api_key") } });
  const message = refused.ok ? "" : refused.failure.message;
  expect(message).toMatch(/^Embedding API error 401: \{"error":"bad key Bearer \[key\] \[key\] z+$/);
  expect(message.length).toBe("Embedding API error 401: ".length + 500);
  expect(server.requests.length).toBe(1);
});

test.each<[string, unknown, string]>([
  ["too few vectors", { data: [] }, "holds 0 vectors for 2 texts"],
  ["too many", { data: [{ embedding: [1] }, { embedding: [1] }, { embedding: [1] }] }, "holds 3 vectors for 2 texts"],
  ["one place twice", { data: [0, 0].map((index) => ({ index, embedding: [1] })) }, "names the text 0"],
  ["a place that is none", { data: [0, -1].map((index) => ({ index, embedding: [1] })) }, "names the text -1"],
  ["words for numbers", { data: [{ embedding: ["1"] }, { embedding: [1] }] }, "something that is no number"],
  ["null for NaN", { data: [{ embedding: [Number.NaN] }, { embedding: [1] }] }, "something that is no number"],
  ["numbers beyond float32", { data: [{ embedding: [1e300] }, { embedding: [1] }] }, "something that is no number"],
  ["vectors of two lengths", { data: [{ embedding: [1] }, { embedding: [1, 2] }] }, "a vector of 2 numbers where 1"],
  ["no vector", { data: [{}, {}] }, "holds a text without a vector"],
  [
    "a vector of 20,000 numbers",
    { data: [0, 1].map(() => ({ embedding: new Array(20_000).fill(1) })) },
    "more than 16384",
  ],
  ["something else", { hello: 1 }, 'has no list "data"'],
  ["nothing", null, 'has no list "data"'],
])("an answer with %s is refused at once", async (_name, body, said) => {
  server.mischief = (_request, response) => {
    sendJson(response, 200, body);
    return true;
  };
  expect(await embed(["a", "b"])).toMatchObject({ ok: false, failure: { message: expect.stringContaining(said) } });
  expect(server.requests.length).toBe(1);
});

test("vectors as base64 are read too", async () => {
  const bytes = Buffer.from(Float32Array.from([1, -2, 0.5]).buffer).toString("base64");
  server.mischief = (_request, response) => {
    sendJson(response, 200, { data: [{ index: 0, embedding: bytes }] });
    return true;
  };
  expect(await embed(["a"])).toEqual({ ok: true, value: [Float32Array.from([1, -2, 0.5])] });
});

test("an answer without an end is cut off at 64 MiB, once", async () => {
  server.mischief = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const piece = Buffer.alloc(1024 * 1024, " ");
    const pour = () => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once("drain", pour);
    };
    pour();
    return true;
  };
  expect(await embed(["a"])).toMatchObject({
    failure: { message: expect.stringContaining("is longer than 67108864 bytes") },
  });
  expect(server.requests.length).toBe(1);
});

test("a server that drips is as late as one that is silent", async () => {
  let drips: NodeJS.Timeout | undefined;
  server.mischief = (_request, response, number) => {
    if (number % 2 === 0) return true;
    response.writeHead(200);
    drips = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(drips));
    return true;
  };
  expect(await embed(["a"], { timeoutMs: 60 })).toMatchObject({
    failure: { code: "timed_out", message: expect.stringContaining("no answer within 0.06 s") },
  });
  expect(server.requests.length).toBe(4);
});

test("a connection that breaks in the answer is tried again", async () => {
  server.mischief = (_request, response, number) => {
    if (number > 1) return false;
    response.writeHead(200, { "content-length": "1000" });
    response.write("{");
    response.destroy();
    return true;
  };
  expect((await embed(["a"])).ok).toBe(true);
  expect(waits).toEqual([1_000]);
});

test("nobody at the address is told with the address, without what is secret in it", async () => {
  const url = `${server.url.replace("//", "//user:hush@")}/v1/embeddings?key=hush`;
  await server.close();
  const failed = await embed(["a"], { url });
  const message = failed.ok ? "" : failed.failure.message;
  expect(message).toContain(`cannot reach the embedding API at ${server.url}/v1/embeddings: `);
  expect(message).toContain("ECONNREFUSED");
  expect(message).not.toContain("hush");
});

test("a redirect is not followed: the key stays with its server", async () => {
  server.mischief = (_request, response) => {
    sendJson(response, 307, {}, { location: "http://127.0.0.1:1/" });
    return true;
  };
  expect(await embed(["a"])).toMatchObject({ failure: { message: "Embedding API error 307: {}" } });
  expect(server.requests.length).toBe(1);
});

test("it can be stopped while it waits for the answer", async () => {
  const stop = new AbortController();
  server.mischief = () => {
    stop.abort();
    return true;
  };
  expect(await embedder().embed(["a"], "document", stop.signal)).toMatchObject({ failure: { code: "cancelled" } });
  expect(server.requests.length).toBe(1);
});
