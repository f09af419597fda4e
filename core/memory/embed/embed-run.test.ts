import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddingServer, sendJson, startEmbeddingServer, vectorOf } from "../../../tests/kit/embedding-server.ts";
import type { Embedder } from "../../domain/embedder.ts";
import { ok } from "../../domain/failure.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { textHashOf } from "../store/text-hash.ts";
import type { EmbedJob } from "./embed-job.ts";
import { type EmbedRun, type EmbedRunOptions, openEmbedRun } from "./embed-run.ts";
import { OPENAI_WIRE } from "./embedding-wire.ts";
import { httpEmbedder } from "./http-embedder.ts";
import type { VectorSheet } from "./vector-sheet.ts";

let server: EmbeddingServer;
let folder: string;
let cache: Store;
let finished: Map<string, VectorSheet>;
let open: EmbedRun[];
beforeEach(async () => {
  server = await startEmbeddingServer(4);
  folder = await mkdtemp(join(tmpdir(), "clawd-embed-"));
  const store = await openStore(folder);
  if (!store.ok) throw new Error(store.failure.message);
  cache = store.value;
  finished = new Map();
  open = [];
});
afterEach(async () => {
  for (const run of open) await run.close();
  await server.close();
  await cache.close();
  await rm(folder, { recursive: true, force: true });
});

function embedder(id = "local:test"): Embedder {
  const url = `${server.url}/v1/embeddings`;
  return httpEmbedder({ id, wire: OPENAI_WIRE, url, model: id, apiKey: "", dimensions: 0, wait: async () => {} });
}

function job(name: string, texts: readonly (string | undefined)[]): EmbedJob {
  return {
    name,
    rows: texts.length,
    async *texts() {
      const rows = texts.flatMap((text, row) =>
        text === undefined ? [] : [{ row, title: "t", text, textHash: textHashOf("t", text) }],
      );
      yield ok(rows.slice(0, 1));
      yield ok(rows.slice(1));
    },
    async finish(sheet) {
      finished.set(name, sheet);
      return ok(undefined);
    },
  };
}

function start(all: readonly EmbedJob[], more: Partial<EmbedRunOptions> = {}): EmbedRun {
  const one = embedder();
  const run = openEmbedRun({
    target: () => ({ embedder: one, cache }),
    jobs: async () => ok(all.filter(({ name }) => !finished.has(name))),
    random: () => 1,
    complain: (cause) => expect.unreachable(String(cause)),
    wait: () => Promise.resolve(),
    ...more,
  });
  open.push(run);
  run.wake();
  return run;
}

/** How many of these texts have a vector that is kept. */
async function keptOf(embedderId: string, texts: readonly string[]): Promise<number> {
  const found = await cache.vectorsOf(
    embedderId,
    texts.map((text) => textHashOf("t", text)),
  );
  return found.ok ? found.value.size : -1;
}

const rowOf = (name: string, row: number) => {
  const sheet = finished.get(name);
  return sheet === undefined ? [] : [...sheet.numbers.subarray(row * sheet.dimensions, (row + 1) * sheet.dimensions)];
};
const numbers = (text: string) => [...Float32Array.from(vectorOf(`t\n${text}`, 4))];

test("every live row gets its vector, a text that stands twice is asked for once, dead rows have none", async () => {
  const run = start([job("segment 1", ["red apple", undefined, "blue sky", "red apple"])]);
  await run.settled();
  expect(finished.get("segment 1")).toMatchObject({ rows: 4, dimensions: 4 });
  expect([...(finished.get("segment 1")?.present ?? [])]).toEqual([1, 0, 1, 1]);
  expect(rowOf("segment 1", 0)).toEqual(numbers("red apple"));
  expect(rowOf("segment 1", 1)).toEqual([0, 0, 0, 0]);
  expect(rowOf("segment 1", 3)).toEqual(numbers("red apple"));
  expect(server.texts()).toEqual(["t\nred apple", "t\nblue sky"]);
  expect(run.state()).toMatchObject({ job: "", failure: undefined });
});

test("what is kept is never asked for again: after a restart nothing, after an edit the edited piece", async () => {
  await start([job("segment 1", ["a", "b", "c"])]).settled();
  server.requests.length = 0;
  finished.clear();
  await start([job("segment 1", ["a", "b", "c"])]).settled();
  expect(server.requests).toEqual([]);
  expect(rowOf("segment 1", 2)).toEqual(numbers("c"));
  finished.clear();
  await start([job("segment 2", ["c", "new", "a"])]).settled();
  expect(server.texts()).toEqual(["t\nnew"]);
});

test("cut off in the middle, the next run goes on where it stopped", async () => {
  const texts = Array.from({ length: 200 }, (_, at) => `text ${at}`);
  const run = start([job("segment 1", texts)]);
  server.mischief = (_request, _response, number) => {
    if (number === 3) void run.close();
    return number === 3;
  };
  await run.settled();
  const before = await keptOf("local:test", texts);
  expect(before).toBe(64);
  expect(finished.size).toBe(0);
  server.mischief = () => false;
  server.requests.length = 0;
  await start([job("segment 1", texts)]).settled();
  expect(server.texts().length).toBe(200 - before);
  expect(rowOf("segment 1", 199)).toEqual(numbers("text 199"));
});

test("a service in trouble is left alone longer and longer, with chance in it, at most five minutes", async () => {
  const rests: number[] = [];
  server.mischief = (_request, response) => {
    if (rests.length < 11) sendJson(response, 500, "down");
    return rests.length < 11;
  };
  const run = start([job("segment 1", ["a"])], { wait: async (ms) => void rests.push(ms), random: () => 0.5 });
  await run.settled();
  expect(run.state().failure).toMatchObject({ message: expect.stringContaining("Embedding API error 500") });
  while (!finished.has("segment 1")) await run.settled();
  await run.settled();
  expect(rests.slice(0, 3)).toEqual([750, 1_500, 3_000]);
  expect(rests.at(-1)).toBe(225_000);
  expect(run.state().failure).toBeUndefined();
});

test("texts that the service refuses are left out, and all others have their vector", async () => {
  const texts = Array.from({ length: 70 }, (_, at) => (at % 30 === 3 ? `poison ${at}` : `text ${at}`));
  server.mischief = (request, response) => {
    const refused = request.body.input?.some((text) => text.includes("poison")) ?? false;
    if (refused) sendJson(response, 400, { error: "this text is not allowed" });
    return refused;
  };
  const run = start([job("segment 1", texts)]);
  await run.settled();
  const present = [...(finished.get("segment 1")?.present ?? [])];
  expect(present.flatMap((there, row) => (there === 0 ? [row] : []))).toEqual([3, 33, 63]);
  expect(run.state()).toMatchObject({ refused: 3, failure: undefined });
});

test("a service that refuses every text is a failure, found with few questions", async () => {
  server.mischief = (_request, response) => {
    sendJson(response, 400, { error: "unknown model" });
    return true;
  };
  const texts = Array.from({ length: 500 }, (_, at) => `text ${at}`);
  const run = start([job("segment 1", texts)], { wait: untilAborted });
  await run.settled();
  expect(run.state().failure).toMatchObject({ code: "invalid", message: expect.stringContaining("unknown model") });
  expect(finished.size).toBe(0);
  expect(server.requests.length).toBeLessThan(20);
});

test("another embedder means other vectors: what was begun is dropped, and nothing of both is mixed", async () => {
  let current = embedder("local:one");
  const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`);
  const run = start([job("segment 1", texts)], { target: () => ({ embedder: current, cache }) });
  server.mischief = (_request, _response, number) => {
    if (number !== 3) return false;
    current = embedder("local:two");
    server.dimensions = 6;
    run.wake();
    return true;
  };
  await run.settled();
  expect(finished.get("segment 1")).toMatchObject({ dimensions: 6, rows: 100 });
  expect([await keptOf("local:one", texts), await keptOf("local:two", texts)]).toEqual([64, 100]);
});

test("a server whose vectors changed their length is told, and what is there stays", async () => {
  await start([job("segment 1", ["a"])]).settled();
  server.dimensions = 6;
  const run = start([job("segment 2", ["a", "b"])], { wait: untilAborted });
  await run.settled();
  expect(run.state().failure).toMatchObject({ code: "conflict", hint: expect.stringContaining("embedding_model") });
  expect(finished.has("segment 2")).toBe(false);
  expect(await keptOf("local:test", ["a", "b"])).toBe(1);
});

test("without an embedder there is nothing to do, until there is one", async () => {
  let there = false;
  const one = embedder();
  const run = start([job("segment 1", ["a"])], { target: () => (there ? { embedder: one, cache } : undefined) });
  await run.settled();
  expect(server.requests).toEqual([]);
  there = true;
  run.wake();
  await run.settled();
  expect(finished.has("segment 1")).toBe(true);
});

test("woken while it works, it looks again before it settles", async () => {
  const all = [job("segment 1", ["a"])];
  const run = start(all, { jobs: async () => ok(all.filter(({ name }) => !finished.has(name))) });
  server.mischief = (_request, _response, number) => {
    if (number === 1) {
      all.push(job("segment 2", ["b"]));
      run.wake();
    }
    return false;
  };
  await run.settled();
  expect([...finished.keys()]).toEqual(["segment 1", "segment 2"]);
});

test("vectors that are computed here are not kept", async () => {
  const one = embedder();
  await start([job("segment 1", ["a"])], { target: () => ({ embedder: one, cache: undefined }) }).settled();
  expect(finished.has("segment 1")).toBe(true);
  expect(await keptOf("local:test", ["a"])).toBe(0);
});

function untilAborted(_ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
