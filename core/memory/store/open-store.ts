import { existsSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { ANALYZER_VERSION } from "../lexical/analyzer.ts";
import { attemptQuery, type DuckDBConnection, type DuckDBValue, inTransaction, loadDuckDb } from "./duckdb.ts";
import { storeOver } from "./duckdb-store.ts";
import { tidySegmentFolder } from "./segment-files.ts";
import { filesOfStore, finishSwap, removeLeftover, SEGMENTS_NAME, STORE_NAME } from "./side-folder.ts";
import type { Store } from "./store.ts";

/** Any other form of the file is moved aside and rebuilt. */
const FORMAT = `3.${ANALYZER_VERSION}`;
const MEMORY_LIMIT = "256MB";
const THREADS = "2";

/** A piece is known by its document and its place in it; `placements` says in which row of which segment it lies. */
const SCHEMA = `
  CREATE TABLE meta(key VARCHAR, value VARCHAR);
  CREATE TABLE documents(doc_id BIGINT, source VARCHAR, key VARCHAR, hash VARCHAR, kind VARCHAR, author VARCHAR,
    session_id VARCHAR, labels VARCHAR, at_ms DOUBLE, staged BOOLEAN, pieces INTEGER);
  CREATE TABLE chunks(doc_id BIGINT, chunk_id BIGINT, ordinal INTEGER, line INTEGER, page INTEGER, title VARCHAR,
    text VARCHAR, text_hash VARCHAR);
  CREATE INDEX chunks_by_id ON chunks(chunk_id);
  CREATE INDEX documents_by_id ON documents(doc_id);
  CREATE TABLE segments(segment_id BIGINT, documents INTEGER, crc32 BIGINT);
  CREATE TABLE placements(segment_id BIGINT, row INTEGER, doc_id BIGINT, ordinal INTEGER);
  CREATE TABLE dead(segment_id BIGINT, row INTEGER);
  CREATE TABLE watermarks(session_id VARCHAR, seq INTEGER);
  CREATE TABLE runs(source VARCHAR, skipped INTEGER, removed INTEGER, errors INTEGER);
  INSERT INTO meta VALUES ('format', '${FORMAT}');`;

const PIECES_SQL = "SELECT coalesce(sum(pieces), 0)::BIGINT FROM documents WHERE NOT staged";
const PLACED_SQL = "SELECT count(*) FROM placements";

/** DuckDB's lock keeps other processes out, not a second opening in this one. */
const openFiles = new Set<string>();

/**
 * Opens or makes `<folder>/memory.duckdb` with `<folder>/segments`. A damaged file or one of another format is moved aside (`.aside`, the last one is kept) and a
 * fresh one made; a file that another process holds gives `conflict`.
 */
export async function openStore(folder: string): Promise<Result<Store>> {
  const file = storeFile(folder);
  if (openFiles.has(file))
    return fail("conflict", `${file} is in use by this process`, { hint: "open the memory once" });
  openFiles.add(file);
  const opened = await openWhole(folder, file).catch((cause: unknown) => {
    openFiles.delete(file);
    throw cause;
  });
  if (!opened.ok) openFiles.delete(file);
  return opened;
}

export function storeFile(folder: string): string {
  return join(folder, STORE_NAME);
}

/** Takes a store out of the way that must not be opened again. */
export async function moveAside(folder: string): Promise<Result<void>> {
  const file = storeFile(folder);
  try {
    await rm(`${file}.wal`, { force: true });
    if (existsSync(file)) await rename(file, `${file}.aside`);
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `${file} is damaged and cannot be moved aside: ${String(cause)}`, {
      hint: `delete ${file}`,
      cause,
    });
  }
}

/** Bytes on disk of everything that can be rebuilt, 0 when there is nothing. */
export async function storeBytes(folder: string): Promise<number> {
  return (await ownBytes(folder)) + (await vectorBytes(folder));
}

/** The same without vectors that were paid for, which a rebuilding leaves alone. */
export async function ownBytes(folder: string): Promise<number> {
  return sumOfSizes(await filesOfStore(folder));
}

/** Of the vectors that were paid for. */
export function vectorBytes(folder: string): Promise<number> {
  const vectors = vectorCacheFile(folder);
  return sumOfSizes([vectors, `${vectors}.wal`]);
}

async function sumOfSizes(paths: readonly string[]): Promise<number> {
  const sizes = paths.map((path) =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function vectorCacheFile(folder: string): string {
  return join(folder, "vectors.duckdb");
}

async function openWhole(folder: string, file: string): Promise<Result<Store>> {
  const made = await makeFolder(folder);
  if (!made.ok) return made;
  const swapped = await finishSwap(folder);
  if (!swapped.ok) return swapped;
  const isNew = !existsSync(file);
  const opened = await attemptQuery(file, () => openOnce(folder, file, isNew));
  if (opened.ok || opened.failure.code !== "corrupt") return opened;
  const moved = await moveAside(folder);
  return moved.ok ? attemptQuery(file, () => openOnce(folder, file, true)) : moved;
}

async function makeFolder(folder: string): Promise<Result<void>> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `memory cannot make its folder ${folder}: ${String(cause)}`, {
      hint: "check its owner",
      cause,
    });
  }
}

async function openOnce(folder: string, file: string, isNew: boolean): Promise<Store> {
  const duckdb = await loadDuckDb();
  const instance = await duckdb.DuckDBInstance.create(file, {
    threads: THREADS,
    memory_limit: MEMORY_LIMIT,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
  try {
    const writer = await instance.connect();
    const reader = await instance.connect();
    if (isNew) await inTransaction(writer, () => writer.run(SCHEMA));
    const format = await readValue(writer, "SELECT value FROM meta WHERE key = 'format'");
    if (format !== FORMAT) throw new Error(`Corrupt for this version: format ${String(format)}, not ${FORMAT}`);
    await removeLeftover(folder);
    const segmentFolder = join(folder, SEGMENTS_NAME);
    await tidySegmentFolder(segmentFolder, await readChecksums(writer));
    return storeOver(
      {
        ...{ file, segmentFolder, vectorFile: vectorCacheFile(folder), duckdb, instance, writer, reader },
        usedBytes: () => storeBytes(folder),
        closed: () => openFiles.delete(file),
      },
      {
        fresh: (await readValue(writer, "SELECT value FROM meta WHERE key = 'filled'")) === undefined,
        lastDocumentId: Number(await readValue(writer, "SELECT coalesce(max(doc_id), 0) FROM documents")),
        anyUnplaced: (await readValue(writer, PLACED_SQL)) !== (await readValue(writer, PIECES_SQL)),
        lastSegmentId: Number(await readValue(writer, "SELECT coalesce(max(segment_id), 0) FROM segments")),
      },
    );
  } catch (cause) {
    instance.closeSync();
    throw cause;
  }
}

async function readValue(connection: DuckDBConnection, sql: string): Promise<DuckDBValue | undefined> {
  return (await connection.runAndReadAll(sql)).getRows()[0]?.[0];
}

async function readChecksums(connection: DuckDBConnection): Promise<Map<number, number>> {
  const rows = (await connection.runAndReadAll("SELECT segment_id, crc32 FROM segments")).getRows();
  return new Map(rows.map(([id, checksum]) => [Number(id), Number(checksum)]));
}
