import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DaemonService, MemoryService } from "../proto/gen/clawd/v1/admin_pb.ts";
import { CLAW, eventually, startDaemon } from "./kit/claw.ts";
import { type EmbeddingServer, sendJson, startEmbeddingServer } from "./kit/embedding-server.ts";

// Memory with an embedding service, through the whole daemon.

let home: string;
let notes: string;
let server: EmbeddingServer;
let child: ChildProcess | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-home-"));
  notes = await mkdtemp(join(tmpdir(), "clawd-notes-"));
  server = await startEmbeddingServer(384);
  await writeFile(join(notes, "fruit.md"), "Apples grow on trees in the orchard.\n");
  await writeFile(join(notes, "sea.md"), "Whales swim in the deep ocean.\n");
});
afterEach(async () => {
  await down();
  await server.close();
  await rm(home, { recursive: true, force: true });
  await rm(notes, { recursive: true, force: true });
});

async function up(env: Readonly<Record<string, string>>): Promise<void> {
  child = await startDaemon({ PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home, ...env });
}

async function down(): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

function dial() {
  const nodeOptions = { socketPath: join(home, "clawd.sock") };
  const transport = createConnectTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions });
  return { daemon: createClient(DaemonService, transport), memory: createClient(MemoryService, transport) };
}

async function index(): Promise<void> {
  for await (const { failure } of streamOf(dial().memory.index({ folder: notes }))) expect(failure).toBeUndefined();
}

/** What is streamed, with a failure of the call as its last item. */
async function* streamOf<T>(items: AsyncIterable<T>): AsyncGenerator<{ readonly failure?: unknown }> {
  try {
    for await (const _ of items) yield {};
  } catch (failure) {
    yield { failure };
  }
}

const embedded = () =>
  eventually(
    () => dial().memory.stats({}),
    ({ chunks, toEmbed }) => chunks > 0 && toEmbed === 0,
    "that every piece has its vector",
  );

const search = (query: string, mode = "vector") => dial().memory.search({ query, limit: 5, mode });

/** Texts that were asked for since the last look, but for those of searches. */
function documentsAsked(...queries: string[]): readonly string[] {
  const texts = server.texts().filter((text) => !queries.includes(text));
  server.requests.length = 0;
  return texts;
}

test("files get vectors in the background, once: not again after a restart or a new name, only what was edited", async () => {
  const env = { EMBEDDING_API_URL: server.url, EMBEDDING_API_KEY: "my-own-key", EMBEDDING_MODEL: "fine-model" };
  await up(env);
  await index();
  expect(await embedded()).toMatchObject({ embedded: 2, embedder: expect.stringContaining("fine-model") });
  expect(server.requests).toMatchObject([
    { headers: { authorization: "Bearer my-own-key" }, body: { model: "fine-model" } },
  ]);
  expect(documentsAsked()).toHaveLength(2);
  const found = await search("whales swim");
  expect(found).toMatchObject({ legs: { vector: "ok" }, hits: [{ path: join(notes, "sea.md") }, {}] });
  expect(found.hits[0]?.reason?.vector).toMatchObject({ rank: 1 });

  await down();
  await up(env);
  documentsAsked();
  await search("apples orchard");
  await embedded();
  expect(await search("apples orchard")).toMatchObject({ hits: [{ path: join(notes, "fruit.md") }, {}] });
  await index();
  await rename(join(notes, "sea.md"), join(notes, "ocean.md"));
  await index();
  await embedded();
  expect(await search("whales swim")).toMatchObject({ hits: [{ path: join(notes, "ocean.md") }, {}] });
  expect(documentsAsked("apples orchard", "whales swim")).toEqual([]);

  await writeFile(join(notes, "fruit.md"), "Pears grow in the garden.\n");
  await index();
  await embedded();
  expect(documentsAsked()).toEqual([expect.stringContaining("Pears grow in the garden.")]);
}, 60_000);

test("a service in trouble is asked again, and searching by words goes on meanwhile", async () => {
  server.mischief = (_request, response, number) => {
    if (number <= 2) sendJson(response, 503, { error: "busy" });
    return number <= 2;
  };
  await up({ EMBEDDING_API_URL: server.url });
  await index();
  expect(await search("whales", "hybrid")).toMatchObject({ hits: [{ path: join(notes, "sea.md") }] });
  expect(await embedded()).toMatchObject({ embedded: 2 });
  expect(server.requests.length).toBeGreaterThanOrEqual(3);
}, 60_000);

test("an embedder that is named and has no key is a problem in the status, and words still find", async () => {
  await writeFile(join(home, "config.toml"), '[memory]\nembedder = "openai"\n');
  await up({});
  await index();
  const found = await search("whales", "hybrid");
  expect(found.hits[0]).toMatchObject({ path: join(notes, "sea.md") });
  expect(found.legs?.vector).toContain('the embedder "openai" has no key');
  const { problems } = await dial().daemon.status({});
  expect(problems.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('the embedder "openai" has no key'),
  );
  expect(problems.map(({ hint }) => hint)).toContainEqual(expect.stringContaining("OPENAI_API_KEY"));
}, 60_000);

test("another model means other vectors, and those of the first are not asked for again when it comes back", async () => {
  const env = { EMBEDDING_API_URL: server.url, EMBEDDING_MODEL: "first" };
  await up(env);
  await index();
  await embedded();
  await down();
  server.dimensions = 96;
  await up({ ...env, EMBEDDING_MODEL: "second" });
  await search("whales swim");
  await embedded();
  expect(await search("whales swim")).toMatchObject({
    legs: { vector: "ok" },
    hits: [{ path: join(notes, "sea.md") }, {}],
  });
  await down();
  server.dimensions = 384;
  await up(env);
  documentsAsked();
  await search("whales swim");
  await embedded();
  expect(await search("whales swim")).toMatchObject({ hits: [{ path: join(notes, "sea.md") }, {}] });
  expect(documentsAsked("whales swim")).toEqual([]);
}, 60_000);

test("a server that changes the length of its vectors is told, and words still find", async () => {
  const env = { EMBEDDING_API_URL: server.url };
  await up(env);
  await index();
  await embedded();
  await down();
  server.dimensions = 96;
  await up(env);
  await search("whales", "hybrid");
  await embedded();
  const found = await search("whales", "hybrid");
  expect(found.legs?.vector).toContain("now gives vectors of 96 numbers, those kept have 384");
  expect(found.hits[0]).toMatchObject({ path: join(notes, "sea.md") });
  await writeFile(join(notes, "sky.md"), "Larks rise at dawn.\n");
  await index();
  const problems = async () => (await dial().daemon.status({})).problems.map(({ message }) => message).join("; ");
  await eventually(problems, (told) => told.includes("now gives vectors of 96 numbers"), "that the status tells of it");
}, 60_000);

test("notes get vectors too, and are not asked for again", async () => {
  const env = { EMBEDDING_API_URL: server.url };
  await up(env);
  const text = "The anchor is rusty.";
  await dial().memory.remember({ text, scope: "person" });
  const noted = async () => {
    const { hits } = await search("anchor rusty");
    return hits.map((hit) => hit.text);
  };
  await eventually(noted, (texts) => texts.includes(text), "that the note has its vector");
  expect(documentsAsked("anchor rusty")).toHaveLength(1);
  await down();
  await up(env);
  await eventually(noted, (texts) => texts.includes(text), "that the note has its vector again");
  expect(documentsAsked("anchor rusty")).toEqual([]);
}, 60_000);

test("a plugin's embedder is used as long as its plugin is on, and words find all the time", async () => {
  await writeFile(join(home, "config.toml"), '[memory]\nembedder = "plugin:hash-embedder/hash-256-v1"\n');
  await up({});
  const plugin = (...args: string[]) => {
    const env = { PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home };
    return promisify(execFile)(process.execPath, [CLAW, "plugin", ...args], { env });
  };
  const legs = async () => {
    const { hits, legs: told } = await search("whales swim", "hybrid");
    expect(hits[0]).toMatchObject({ path: join(notes, "sea.md") });
    return told?.vector;
  };
  await index();
  expect(await legs()).toContain('no embedder "hash-256-v1" of a plugin "hash-embedder"');
  await plugin("install", join(import.meta.dirname, "../plugins-examples/hash-embedder"), "--yes", "--trust");
  await eventually(legs, (vector) => vector === "ok", "that the plugin's embedder is used");
  expect(await embedded()).toMatchObject({ embedder: "plugin:hash-embedder/hash-256-v1", embedded: 2 });
  expect((await search("whales swim")).hits[0]).toMatchObject({ path: join(notes, "sea.md") });
  await plugin("disable", "hash-embedder");
  expect(await legs()).toContain("no embedder");
  await plugin("enable", "hash-embedder");
  await eventually(legs, (vector) => vector === "ok", "that it is used again");
}, 60_000);
