import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toJson } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventSchema } from "../../../proto/gen/clawd/v1/event_pb.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { loadDuckDb } from "../store/duckdb.ts";
import { journalQuery } from "./journal-query.ts";
import { type MemoryCopy, type MemoryExport, memoryCopy } from "./memory-copy.ts";

const QUERY_FILE = join(import.meta.dirname, "query-process.ts");
const signal = new AbortController().signal;

let home = "";
let written: string[] = [];
let state: Result<string | undefined> = ok("1");
beforeEach(async () => {
  // Characters of SQL and of patterns in its path.
  home = join(await mkdtemp(join(tmpdir(), "clawd-views-")), "me'm [o]*ry");
  await mkdir(join(home, "journals"), { recursive: true });
  written = [];
  state = ok("1");
});
afterEach(() => rm(join(home, ".."), { recursive: true, force: true }));

/** Files as the store writes them, saying which state they are of. */
const source: MemoryExport = {
  revision: async () => state,
  async exportViews(folder) {
    const number = state.ok ? state.value : "";
    const duckdb = await loadDuckDb();
    const instance = await duckdb.DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const copy = (sql: string, name: string) =>
      connection.run(`COPY (${sql}) TO '${join(folder, name).replaceAll("'", "''")}' (FORMAT parquet)`);
    await copy(
      `SELECT 'folder:/w' AS source, '/w/tea.md' AS path, 'file' AS kind, 'file' AS author, 'ab' AS hash, '' AS session_id,
        [] AS labels, 1 AS chunks, TIMESTAMP '2026-05-01 10:00:00' AS changed_at`,
      "memory_documents.parquet",
    );
    await copy(
      `SELECT 'folder:/w' AS source, '/w/tea.md' AS path, 'file' AS kind, 'file' AS author, 7 AS id, 0 AS ordinal, 1 AS line,
        0 AS page, '' AS title, 'state ${number}' AS text, 'cd' AS text_hash`,
      "memory_chunks.parquet",
    );
    await copy("SELECT 'mock' AS embedder, 32 AS dimensions, 5 AS count", "memory_vectors.parquet");
    connection.closeSync();
    instance.closeSync();
    written.push(folder);
    return ok([]);
  },
};

function ask(sql: string, memory: MemoryCopy | undefined) {
  const options = { journalDir: join(home, "journals"), nodeBinary: process.execPath, queryFile: QUERY_FILE };
  return journalQuery(memory === undefined ? options : { ...options, memory }).query(sql, signal);
}

async function rows(sql: string, memory: MemoryCopy | undefined) {
  const answered = await ask(sql, memory);
  if (!answered.ok) throw new Error(answered.failure.message);
  return answered.value.rows;
}

test("documents, chunks and vectors are rows, written once for each state of memory", async () => {
  const memory = memoryCopy(source, join(home, "copies"));
  expect(await rows("SELECT 1", memory)).toEqual([[1]]);
  expect(written).toEqual([]);
  expect(await rows("SELECT path, kind, author, session, chunks, changed_at FROM memory_documents", memory)).toEqual([
    ["/w/tea.md", "file", "file", null, 1, "2026-05-01T10:00:00.000Z"],
  ]);
  expect(await rows('SELECT id, line, text FROM "MEMORY_CHUNKS"', memory)).toEqual([[7, 1, "state 1"]]);
  expect(await rows("SELECT * FROM memory_vectors", memory)).toEqual([["mock", 32, 5]]);
  expect(written).toHaveLength(1);
  state = ok("2");
  expect(await rows("SELECT text FROM memory_chunks", memory)).toEqual([["state 2"]]);
  expect(written).toHaveLength(2);
  expect(await readdir(join(home, "copies"))).toHaveLength(1);
});

test("without a store the views are there and empty; a store that fails is told", async () => {
  state = ok(undefined);
  const memory = memoryCopy(source, join(home, "copies"));
  for (const view of ["memory_documents", "memory_chunks", "memory_vectors"]) {
    expect(await rows(`SELECT count(*) FROM ${view}`, memory)).toEqual([[0]]);
    expect(await rows(`SELECT count(*) FROM ${view}`, undefined)).toEqual([[0]]);
  }
  state = fail("corrupt", "the store is damaged");
  const refused = await ask("SELECT * FROM memory_chunks", memory);
  expect(refused).toMatchObject({ ok: false, failure: { code: "corrupt" } });
  expect(await rows("SELECT 1", memory)).toEqual([[1]]);
});

test("a copy that somebody reads stays until they are done, and what an earlier daemon left goes", async () => {
  await mkdir(join(home, "copies", "9"), { recursive: true });
  const memory = memoryCopy(source, join(home, "copies"));
  const first = await memory.lend();
  if (!first.ok) throw new Error(first.failure.message);
  expect(await readdir(join(home, "copies"))).toEqual(["1"]);
  state = ok("2");
  const second = await memory.lend();
  if (!second.ok) throw new Error(second.failure.message);
  expect(existsSync(first.value.folder)).toBe(true);
  await first.value.release();
  expect(existsSync(first.value.folder)).toBe(false);
  await second.value.release();
  expect(existsSync(second.value.folder)).toBe(true);
});

test("beside those files nothing can be read, and not even those can be written", async () => {
  const memory = memoryCopy(source, join(home, "copies"));
  await writeFile(join(home, "secret.txt"), "token");
  await writeFile(join(home, "memory.duckdb"), "not for anybody");
  await rows("SELECT * FROM memory_chunks", memory);
  const [folder = ""] = written;
  const copy = join(folder, "memory_chunks.parquet");
  const before = await readFile(copy);
  const quoted = (path: string) => `'${path.replaceAll("'", "''")}'`;
  const hostile = [
    `SELECT * FROM memory_chunks, ${quoted(join(home, "secret.txt"))}`,
    `SELECT * FROM memory_chunks, ${quoted(join(folder, "..", "..", "secret.txt"))}`,
    `SELECT * FROM memory_chunks, "${join(home, "memory.duckdb")}"`,
    `SELECT (SELECT count(*) FROM memory_chunks), * FROM read_text(${quoted(join(home, "secret.txt"))})`,
    `SELECT * FROM memory_chunks, read_parquet(${quoted(copy)})`,
    `SELECT * FROM memory_chunks, read_blob(${quoted(`${copy}/../../../secret.txt`)})`,
    `SELECT * FROM memory_chunks, glob(${quoted(`${folder}/*`)})`,
    `SELECT * FROM memory_chunks, parquet_metadata(${quoted(copy)})`,
    `COPY (SELECT * FROM memory_chunks) TO ${quoted(copy)}`,
    `COPY (SELECT * FROM memory_chunks) TO ${quoted(join(home, "out.parquet"))}`,
    `SELECT * FROM memory_chunks, enable_logging(storage := 'file', storage_path := ${quoted(copy)})`,
    `ATTACH ${quoted(join(home, "memory.duckdb"))} AS memory_chunks`,
    "SET allowed_paths = ['/etc/passwd']; SELECT * FROM memory_chunks",
    "SELECT * FROM memory_chunks, '/etc/passwd'",
  ];
  for (const sql of hostile) {
    const answered = await ask(sql, memory);
    expect(answered.ok ? sql : answered.failure.code).toBe("invalid");
  }
  expect(await readFile(copy)).toEqual(before);
  expect(await readdir(home)).not.toContain("out.parquet");
});

test("the view of notes tells scope, kind, expiry and what took whose place", async () => {
  const note = { author: "owner", sessionId: "", text: "tea" };
  const bodies = [
    { case: "memoryRemembered" as const, value: { ...note, memoryId: "n1" } },
    {
      case: "memoryRemembered" as const,
      value: {
        ...{ ...note, memoryId: "n2", supersedes: "n1", scope: "project:/w", type: "preference", importance: "high" },
        ...{ labels: ["a", "b"], expiresAtMs: 86_400_000 },
      },
    },
  ];
  const lines = bodies.map((body, index) => {
    const event = create(EventSchema, { seq: index + 1, atMs: 0, hash: "00", body });
    return `${JSON.stringify(toJson(EventSchema, event, { alwaysEmitImplicit: true }))}\n`;
  });
  await writeFile(join(home, "journals", "memory.jsonl"), lines.join(""));
  const columns = "memory_id, scope, type, importance, labels, expires_at, supersedes, superseded_by, forgotten";
  expect(await rows(`SELECT ${columns} FROM notes ORDER BY memory_id`, undefined)).toEqual([
    ["n1", "person", "general", "normal", [], null, null, "n2", false],
    ["n2", "project:/w", "preference", "high", ["a", "b"], "1970-01-02T00:00:00.000Z", "n1", null, false],
  ]);
});
