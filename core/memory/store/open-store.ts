import { existsSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { ANALYZER_VERSION } from "../lexical/analyzer.ts";
import { attemptQuery, inTransaction, loadDuckDb } from "./duckdb.ts";
import { type Store, storeOver } from "./store.ts";

/** Any other form of the file is moved aside and rebuilt. */
const FORMAT = `1.${ANALYZER_VERSION}`;
const MEMORY_LIMIT = "256MB";
const THREADS = "2";

const SCHEMA = `
  CREATE TABLE meta(key VARCHAR, value VARCHAR);
  CREATE TABLE files(file_id BIGINT, path VARCHAR, hash VARCHAR, staged BOOLEAN, chunks INTEGER);
  CREATE TABLE chunks(file_id BIGINT, chunk_id BIGINT, line INTEGER, title VARCHAR, text VARCHAR);
  CREATE TABLE segments(segment_id BIGINT, bytes BLOB);
  INSERT INTO meta VALUES ('format', '${FORMAT}');`;

/** DuckDB's lock keeps other processes out, not a second opening in this one. */
const openFiles = new Set<string>();

/**
 * Opens or makes the file. A damaged file or one of another format is moved aside (`.aside`, the last one is kept) and a
 * fresh one made; a file that another process holds gives `conflict`.
 */
export async function openStore(file: string): Promise<Result<Store>> {
  if (openFiles.has(file))
    return fail("conflict", `${file} is in use by this process`, { hint: "open the memory once" });
  openFiles.add(file);
  const opened = await openWhole(file).catch((cause: unknown) => {
    openFiles.delete(file);
    throw cause;
  });
  if (!opened.ok) openFiles.delete(file);
  return opened;
}

/** Takes a file out of the way that must not be opened again. */
export async function moveAside(file: string): Promise<Result<void>> {
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

/** Bytes on disk, 0 without a file. */
export async function storeBytes(file: string): Promise<number> {
  const sizes = [file, `${file}.wal`].map((path) =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function openWhole(file: string): Promise<Result<Store>> {
  const made = await makeFolder(file);
  if (!made.ok) return made;
  const isNew = !existsSync(file);
  const opened = await attemptQuery(file, () => openOnce(file, isNew));
  if (opened.ok || opened.failure.code !== "corrupt") return opened;
  const moved = await moveAside(file);
  return moved.ok ? attemptQuery(file, () => openOnce(file, true)) : moved;
}

async function makeFolder(file: string): Promise<Result<void>> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `memory cannot make its folder ${dirname(file)}: ${String(cause)}`, {
      hint: "check its owner",
      cause,
    });
  }
}

async function openOnce(file: string, isNew: boolean): Promise<Store> {
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
    const format = (await writer.runAndReadAll("SELECT value FROM meta WHERE key = 'format'")).getRows()[0]?.[0];
    if (format !== FORMAT) throw new Error(`Corrupt for this version: format ${String(format)}, not ${FORMAT}`);
    const last = (await writer.runAndReadAll("SELECT coalesce(max(file_id), 0) FROM files")).getRows()[0]?.[0];
    const filled = (await writer.runAndReadAll("SELECT value FROM meta WHERE key = 'filled'")).getRows().length > 0;
    return storeOver(
      file,
      !filled,
      { duckdb, instance, writer, reader, closed: () => openFiles.delete(file) },
      Number(last),
    );
  } catch (cause) {
    instance.closeSync();
    throw cause;
  }
}
