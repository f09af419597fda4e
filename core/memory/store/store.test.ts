import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { runFolder } from "../../../tests/kit/run-folder.ts";
import { fail, ok } from "../../domain/failure.ts";
import { unwrap } from "../fixtures/index-bench.ts";
import { buildOver } from "../index-run.ts";
import { memoryPool } from "../worker/memory-pool.ts";
import { openStore, storeBytes, storeFile } from "./open-store.ts";
import { vectorBlockFile } from "./segment-files.ts";
import { listOfSources, openSourceList, rootOf, withFolder, withoutFolder, withSource } from "./source-list.ts";
import type { BuildSegmentFile, DocumentToStage, Publication, Store } from "./store.ts";
import { holdStore } from "./store-holder.ts";
import { textHashOf } from "./text-hash.ts";

const pool = memoryPool(runFolder().memoryWorkerFile);
const build = buildOver(pool);
const signal = new AbortController().signal;
const allWhole = (files: readonly string[]) => Promise.resolve(ok(files.map(() => true)));

let home = "";
let dir = "";
const opened: { close(): Promise<void> }[] = [];

afterAll(() => pool.close());

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-store-"));
  dir = join(home, "memory");
});

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await rm(home, { recursive: true, force: true });
});

async function open(): Promise<Store> {
  const store = unwrap(await openStore(dir));
  opened.push(store);
  return store;
}

async function close(store: Store): Promise<void> {
  opened.splice(opened.indexOf(store), 1);
  await store.close();
}

/** As somebody would who deletes it by hand. */
async function removeStore(): Promise<void> {
  for (const path of [`${storeFile(dir)}.wal`, storeFile(dir), join(dir, "segments")])
    await rm(path, { force: true, recursive: true });
}

let lastId = 0;
function document(key: string, texts: readonly string[]): DocumentToStage {
  return {
    ...{ source: "folder:/work", key: `/work/${key}`, hash: texts.join(), kind: "file", author: "file", sessionId: "" },
    ...{ labels: ["a", "it's"], atMs: 1_760_000_000_123 },
    pieces: texts.map((text, at) => ({ id: ++lastId, line: at + 1, page: 0, title: "Title", text })),
  };
}

function publication(more: Partial<Publication>): Publication {
  return { freshIds: [], goneIds: [], watermarks: new Map(), build, signal, ...more };
}

async function put(store: Store, ...documents: DocumentToStage[]): Promise<readonly number[]> {
  const freshIds = unwrap(await store.stage(documents));
  unwrap(await store.publish(publication({ freshIds })));
  return freshIds;
}

test("texts come back as they went in, those that are only staged do not", async () => {
  const store = await open();
  const hard = "tab\t quote ' \" emoji 🦘 nul-free \u0001 line\nbreak ʼ 漢字";
  const [one, two] = [document("a.md", [hard, "second"]), document("b.md", ["staged"])];
  await put(store, one);
  unwrap(await store.stage([two]));
  const ids = [...one.pieces, ...two.pieces].map(({ id }) => id);
  const texts = unwrap(await store.texts([...ids, 999_999, Number.NaN]));
  expect([...texts.keys()].sort()).toEqual(one.pieces.map(({ id }) => id).sort());
  expect(texts.get(ids[0] ?? 0)).toEqual({
    ...{ key: "/work/a.md", kind: "file", author: "file", sessionId: "", labels: ["a", "it's"], line: 1, page: 0 },
    ...{ title: "Title", text: hard, textHash: textHashOf("Title", hard), atMs: 1_760_000_000_123, ordinal: 0 },
  });
  expect(unwrap(await store.documentsOf({ kind: "paths", paths: ["/work"] }))).toHaveLength(2);
  expect(unwrap(await store.documentsOf({ kind: "paths", paths: ["/wor"] }))).toHaveLength(0);
  const keys = { kind: "keys", source: "folder:/work", keys: ["/work/b.md", "x'y"] } as const;
  expect(unwrap(await store.documentsOf(keys))).toMatchObject([{ key: "/work/b.md", staged: true }]);
});

test("rows of a segment come in their order, without the dead ones", async () => {
  const store = await open();
  const [, goneId] = await put(
    store,
    document("a.md", ["one", "two"]),
    document("b.md", ["three"]),
    document("c.md", ["four", "five", "six"]),
  );
  unwrap(await store.publish(publication({ goneIds: [goneId ?? 0] })));
  const { segments } = unwrap(await store.segments());
  expect(segments).toMatchObject([{ documents: 6, dead: new Uint8Array([0, 0, 1, 0, 0, 0]) }]);
  const rows: string[] = [];
  for await (const batch of store.segmentTexts(segments[0]?.segmentId ?? 0))
    for (const { row, text } of unwrap(batch)) rows.push(`${row} ${text}`);
  expect(rows).toEqual(["0 one", "1 two", "3 four", "4 five", "5 six"]);
  let textFile = "";
  const lines = await store.withSegmentTexts(segments[0]?.segmentId ?? 0, async (file) => {
    textFile = file;
    return { ok: true, value: await readFile(file, "utf8") };
  });
  const read = unwrap(lines)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { row: number; text: string });
  expect(read.map(({ row, text }) => `${row} ${text}`)).toEqual(rows);
  expect(existsSync(textFile)).toBe(false);
  await close(store);
  const again = unwrap(await (await open()).segments());
  expect(again.segments).toMatchObject([{ documents: 6, dead: new Uint8Array([0, 0, 1, 0, 0, 0]) }]);
});

test("vectors are kept by embedder and text, and outlive the store", async () => {
  const store = await open();
  const hashes = Array.from({ length: 3_000 }, (_, at) => textHashOf("", `text ${at}`));
  const rows = hashes.map((textHash, at) => ({ textHash, vector: new Float32Array([at, 0.5, -1]) }));
  unwrap(await store.putVectors("model-1", rows));
  unwrap(await store.putVectors("model-1", [{ textHash: hashes[7] ?? "", vector: new Float32Array([9, 9, 9]) }]));
  await close(store);
  await removeStore();
  const again = await open();
  const found = unwrap(await again.vectorsOf("model-1", [...hashes, textHashOf("", "unknown")]));
  expect(found.size).toBe(3_000);
  expect(found.get(hashes[7] ?? "")).toEqual(new Float32Array([7, 0.5, -1]));
  expect(unwrap(await again.vectorsOf("model-2", hashes)).size).toBe(0);
});

test("a damaged cache of vectors goes aside, the store stays", async () => {
  const store = await open();
  await put(store, document("a.md", ["one"]));
  await close(store);
  await writeFile(join(dir, "vectors.duckdb"), "this is no database at all, whatever its name says".repeat(400));
  const again = await open();
  expect(unwrap(await again.vectorsOf("model", [textHashOf("", "x")])).size).toBe(0);
  unwrap(await again.putVectors("model", [{ textHash: textHashOf("", "x"), vector: new Float32Array([1]) }]));
  expect(unwrap(await again.vectorsOf("model", [textHashOf("", "x")])).size).toBe(1);
  expect(unwrap(await again.counts()).files).toBe(1);
});

test("calls that overlap do not disturb each other", async () => {
  const store = await open();
  const work = Array.from({ length: 20 }, async (_, at) => {
    const row = { textHash: textHashOf("", `v${at}`), vector: new Float32Array([at]) };
    await Promise.all([
      put(store, document(`f${at}.md`, [`text ${at}`, "more"])),
      store.putVectors("model", [row]).then(unwrap),
      store.texts([at]).then(unwrap),
      store.counts().then(unwrap),
    ]);
  });
  await Promise.all(work);
  expect(unwrap(await store.counts())).toMatchObject({ files: 20, pieces: 40 });
  expect(unwrap(await store.problems(allWhole, signal))).toEqual([]);
});

test("a publication whose segment cannot be built changes nothing and leaves nothing", async () => {
  const store = await open();
  await put(store, document("a.md", ["one"]));
  const [freshId = 0] = unwrap(await store.stage([document("b.md", ["two"])]));
  const full: BuildSegmentFile = () => Promise.resolve(fail("exhausted", "the disk is full"));
  const failed = await store.publish(publication({ freshIds: [freshId], build: full }));
  expect(failed).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  const stop = AbortSignal.abort();
  const cut = await store.publish(publication({ freshIds: [freshId], signal: stop }));
  expect(cut).toMatchObject({ ok: false, failure: { code: "cancelled" } });
  expect(unwrap(await store.counts()).files).toBe(1);
  expect(await readdir(join(dir, "segments"))).toEqual(["1.seg"]);
  unwrap(await store.publish(publication({ freshIds: [freshId] })));
  expect(unwrap(await store.problems(allWhole, signal))).toEqual([]);
});

test("of two segments under way the one that is built goes too when the other one cannot be", async () => {
  const store = await open();
  const [freshId = 0] = unwrap(
    await store.stage([
      document(
        "a.md",
        Array.from({ length: 16_385 }, (_, at) => `n${at}`),
      ),
    ]),
  );
  let secondFailed = () => {};
  const failing = new Promise<void>((resolve) => {
    secondFailed = resolve;
  });
  let builds = 0;
  const broken: BuildSegmentFile = async (request, buildSignal) => {
    builds += 1;
    if (builds === 2) {
      secondFailed();
      return fail("exhausted", "the disk is full");
    }
    // Both are under way at once, or this would wait for ever.
    await failing;
    return build(request, buildSignal);
  };
  const failed = await store.publish(publication({ freshIds: [freshId], build: broken }));
  expect(failed).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  expect(await readdir(join(dir, "segments"))).toEqual([]);
  const published = unwrap(await store.publish(publication({ freshIds: [freshId] })));
  expect(published.map(({ documents }) => documents)).toEqual([8_192, 8_193]);
  expect(unwrap(await store.problems(allWhole, signal))).toEqual([]);
});

test("a check names what does not fit", async () => {
  const store = await open();
  await put(store, document("a.md", ["one", "two"]));
  const { segments } = unwrap(await store.segments());
  await writeFile(store.vectorFile(segments[0] ?? { segmentId: 0, crc32: 0 }, "model"), "half");
  await writeFile(join(dir, "segments", "77.seg"), "orphan");
  const file = join(dir, "segments", "1.seg");
  const bytes = await readFile(file);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  await writeFile(file, bytes);
  const problems = unwrap(await store.problems((files) => Promise.resolve(ok(files.map(() => false))), signal));
  expect(problems).toEqual([
    expect.stringContaining("1.seg is damaged"),
    "1 files of no segment: 77.seg",
    expect.stringMatching(/^1 damaged files of vectors: 1\.[0-9a-f]{8}\.[0-9a-f]{16}\.vec$/),
  ]);
  expect(await store.problems(allWhole, AbortSignal.abort())).toMatchObject({ failure: { code: "cancelled" } });
});

test("figures of a folder take the place of those of folders in it, and of no source that is called alike", async () => {
  const store = await open();
  const count = async (source: string, skipped: number) =>
    unwrap(await store.publish(publication({ figures: { source, skipped, removed: 0, errors: 0 } })));
  for (const [at, source] of ["notes-old", "notes", "folder:/work/a", "folder:/workshop"].entries())
    await count(source, 10 ** at);
  expect(unwrap(await store.counts())).toMatchObject({ skipped: 1_111 });
  await count("notes", 20);
  await count("folder:/work", 0);
  expect(unwrap(await store.counts())).toMatchObject({ skipped: 1_021 });
  unwrap(await store.publish(publication({ forgotten: "notes" })));
  expect(unwrap(await store.counts())).toMatchObject({ skipped: 1_001 });
});

test("everything can be taken out as Parquet", async () => {
  const store = await open();
  await put(store, document("it's.md", ["one", "two"]));
  const folder = join(home, "it's out");
  await mkdir(folder);
  const notes = [
    { name: "id", type: "text" as const, values: ["n1", "n2"] },
    { name: "at_ms", type: "number" as const, values: [1, 2] },
  ];
  const files = unwrap(await store.exportTo(folder, notes));
  const views = unwrap(await store.exportViews(folder));
  expect((await readdir(folder)).sort()).toEqual(
    [...files, ...views].map((file) => file.slice(folder.length + 1)).sort(),
  );
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
  const path = (file: string) => `'${join(folder, file).replaceAll("'", "''")}'`;
  expect(await rows(`SELECT path, chunks, changed_at::VARCHAR FROM ${path("documents.parquet")}`)).toEqual([
    ["/work/it's.md", 2, "2025-10-09 08:53:20.123"],
  ]);
  expect(await rows(`SELECT ordinal, text FROM ${path("memory_chunks.parquet")}`)).toEqual([
    [0, "one"],
    [1, "two"],
  ]);
  expect(await rows(`SELECT id, at_ms FROM ${path("notes.parquet")}`)).toEqual([
    ["n1", 1],
    ["n2", 2],
  ]);
  connection.closeSync();
  expect(await store.exportTo(join(home, "nowhere"), [])).toMatchObject({ ok: false });
});

test("a file of another form goes aside, and what no segment names is removed", async () => {
  const store = await open();
  await put(store, document("a.md", ["one"]));
  await close(store);
  expect(await storeBytes(dir)).toBeGreaterThan(1_000);
  await writeFile(storeFile(dir), "no database, though it has the name of one".repeat(500));
  const again = await open();
  expect(again.fresh).toBe(true);
  expect(await readdir(join(dir, "segments"))).toEqual([]);
  expect(await readdir(dir)).toContain("memory.duckdb.aside");
  expect(unwrap(await again.segments()).segments).toEqual([]);
});

test("a store that nobody uses is closed, and the next use opens it again", async () => {
  const seen: Store[] = [];
  const holder = holdStore({
    ...{ dir, build, idleTimeoutMs: 1 },
    refill: ({ store }) => store.markFilled(),
  });
  opened.push(holder);
  const retired = Promise.withResolvers<void>();
  unwrap(
    await holder.use(async (open) => {
      seen.push(open.store);
      open.retired.addEventListener("abort", () => retired.resolve());
      await put(open.store, document("a.md", ["one"]));
      open.segments = unwrap(await open.store.segments()).segments;
      return ok(undefined);
    }),
  );
  await retired.promise;
  const found = await holder.use((open) => {
    seen.push(open.store);
    return Promise.resolve(ok(open.segments.length));
  });
  expect(found).toEqual(ok(1));
  expect(seen[0]).not.toBe(seen[1]);
  expect(unwrap(await holder.use(({ store }) => store.counts())).files).toBe(1);
});

test("a holder builds lost segments again, makes a damaged store anew, and lets its files go while it is closed", async () => {
  let refills = 0;
  const holder = holdStore({
    ...{ dir, build, idleTimeoutMs: 60_000 },
    async refill(open) {
      refills += 1;
      await put(open.store, document("a.md", ["one"]));
      open.segments = unwrap(await open.store.segments()).segments;
      return open.store.markFilled();
    },
  });
  opened.push(holder);
  const count = () => holder.use(({ segments }) => Promise.resolve(ok(segments.length)));
  expect(await count()).toEqual(ok(1));
  await holder.whileClosed(() => rm(join(dir, "segments", "1.seg")));
  expect(await count()).toEqual(ok(1));
  expect(refills).toBe(1);
  let attempts = 0;
  const healed = await holder.use(() => {
    attempts += 1;
    return Promise.resolve(attempts === 1 ? fail("corrupt", "a block of it is damaged") : ok("well"));
  });
  expect(healed).toEqual(ok("well"));
  expect(refills).toBe(2);
  await holder.whileClosed(removeStore);
  expect(await count()).toEqual(ok(1));
  expect(refills).toBe(3);
});

test("nobody opens the store while it is closed for somebody, not even for the first time", async () => {
  const refill = () => Promise.resolve(ok(undefined));
  const holder = holdStore({ dir, refill, build, idleTimeoutMs: 60_000 });
  opened.push(holder);
  const closed = holder.whileClosed(async () => {
    const alone = await openStore(dir);
    if (alone.ok) await alone.value.close();
    return alone.ok || alone.failure.message;
  });
  const used = holder.use(({ store }) => store.counts());
  expect(await closed).toBe(true);
  expect(await used).toMatchObject({ ok: true, value: { pieces: 0 } });
});

test("a filling that breaks leaves a store that can be opened again", async () => {
  let fillings = 0;
  const refill = () => {
    fillings += 1;
    return fillings === 1 ? Promise.reject(new Error("broken")) : Promise.resolve(ok(undefined));
  };
  const holder = holdStore({ dir, refill, build, idleTimeoutMs: 60_000 });
  opened.push(holder);
  await expect(holder.use(({ store }) => store.counts())).rejects.toThrow("broken");
  expect(await holder.use(({ store }) => store.counts())).toMatchObject({ ok: true });
});

test("the list of what is indexed takes over the folders of an earlier version", async () => {
  await mkdir(dir);
  await writeFile(join(dir, "folders.json"), '["/a/b", "/c"]');
  const file = openSourceList(dir);
  const before = await file.read();
  if (typeof before === "string") throw new Error(before);
  expect(before).toEqual({ folders: ["/a/b", "/c"], sources: [] });
  expect(withFolder(before, "/a/b/inner")).toBe(before);
  expect(rootOf(before, "/a/b/inner")).toBe("/a/b");
  expect(rootOf(before, "/a/bc")).toBeUndefined();
  const after = withSource(withFolder(before, "/a"), "plugin:notes/inbox");
  unwrap(await file.write(after));
  expect(await readdir(dir)).toEqual(["sources.json"]);
  expect(await openSourceList(dir).read()).toEqual({ folders: ["/a", "/c"], sources: ["plugin:notes/inbox"] });
  expect(withoutFolder(after, "/c").folders).toEqual(["/a"]);
});

test.each([
  ["missing", undefined],
  ["damaged", '{"folders": "x", "sources": [1, "s"]}'],
  ["damaged", '{"folders": ["/a"], "sou'],
  ["damaged", "null"],
  ["damaged", ""],
])(
  "a list of what is indexed that is %s is told from an empty one, and kept for a person to read",
  async (how, text) => {
    await mkdir(dir);
    const path = join(dir, "sources.json");
    if (text !== undefined) await writeFile(path, text);
    const file = openSourceList(dir);
    expect(await file.read()).toBe(how);
    const list = listOfSources(["conversations", "folder:/a/b", "plugin:notes/inbox", "folder:/a"], "conversations");
    expect(list).toEqual({ folders: ["/a"], sources: ["plugin:notes/inbox"] });
    await file.assume(list);
    expect([await file.read(), file.isOnDisk()]).toEqual([list, false]);
    unwrap(await file.write(list));
    expect(await openSourceList(dir).read()).toEqual(list);
    expect(existsSync(`${path}.aside`)).toBe(text !== undefined);
  },
);

test("vectors of another segment that had the same number are nobody's, and go at the next opening", async () => {
  const store = await open();
  await put(store, document("a.md", ["one"]));
  const [segment = { segmentId: 0, crc32: 0 }] = unwrap(await store.segments()).segments;
  const folder = join(dir, "segments");
  const strange = vectorBlockFile(folder, { ...segment, crc32: (segment.crc32 ^ 1) >>> 0 }, "model");
  for (const file of [store.vectorFile(segment, "model"), strange]) await writeFile(file, "vectors");
  await close(store);
  await open();
  expect([existsSync(strange), existsSync(vectorBlockFile(folder, segment, "model"))]).toEqual([false, true]);
});
