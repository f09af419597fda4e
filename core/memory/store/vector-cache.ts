import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { Result } from "../../domain/failure.ts";
import type { OneByOne } from "../../domain/one-by-one.ts";
import { appendRows, attemptQuery, type DuckDBValue, readRows } from "./duckdb.ts";
import type { VectorRow } from "./store.ts";
import { type StoreHandles, sqlText } from "./store-handles.ts";

/** Hashes of one look-up: reading this many vectors holds the thread for some milliseconds. */
const BATCH_HASHES = 512;
/** The same for writing. */
const BATCH_VECTORS = 256;
/** More than these, and vectors of texts that no document has are dropped. */
const CACHE_LIMIT_VECTORS = 1_000_000;

/** Vectors that were paid for, by embedder and text. */
export type VectorCache = {
  vectorsOf(embedderId: string, textHashes: readonly string[]): Promise<Result<Map<string, Float32Array>>>;
  putVectors(embedderId: string, rows: readonly VectorRow[]): Promise<Result<void>>;
  /** Makes them readable as `cache.vectors` within the turn that `exclusive` gives. */
  attach(): Promise<void>;
};

/**
 * In a file of its own, opened at first use: a store that is damaged, outdated or rebuilt is made anew from its sources, and
 * nobody pays for the vectors again.
 */
export function openVectorCache(handles: StoreHandles, exclusive: OneByOne): VectorCache {
  const { writer, vectorFile } = handles;
  const { VARCHAR, BLOB, DuckDBBlobValue } = handles.duckdb;
  let attached = false;

  async function attach(): Promise<void> {
    if (attached) return;
    const opened = await attemptQuery(vectorFile, attachOnce);
    if (!opened.ok) {
      if (opened.failure.code !== "corrupt") throw opened.failure.cause;
      await moveCacheAside();
      await attachOnce();
    }
    attached = true;
  }

  async function moveCacheAside(): Promise<void> {
    attached = false;
    await writer.run("DETACH DATABASE IF EXISTS cache");
    await rm(`${vectorFile}.wal`, { force: true });
    if (existsSync(vectorFile)) await rename(vectorFile, `${vectorFile}.aside`);
  }

  /** A damaged cache is no damage of the store: it goes aside, and the vectors are asked for again. */
  async function attempt<T>(work: () => Promise<T>): Promise<Result<T>> {
    const done = await attemptQuery(vectorFile, work);
    if (done.ok || done.failure.code !== "corrupt") return done;
    await moveCacheAside();
    return attemptQuery(vectorFile, work);
  }

  async function attachOnce(): Promise<void> {
    await writer.run("DETACH DATABASE IF EXISTS cache");
    await writer.run(`ATTACH ${sqlText(vectorFile)} AS cache`);
    await writer.run("CREATE TABLE IF NOT EXISTS cache.vectors(embedder_id VARCHAR, text_hash VARCHAR, vector BLOB)");
  }

  async function fillHashes(hashes: readonly string[]): Promise<void> {
    await writer.run("CREATE OR REPLACE TEMP TABLE wanted_hashes(text_hash VARCHAR)");
    await appendRows(
      writer,
      "wanted_hashes",
      [VARCHAR],
      hashes.map((hash) => [hash]),
    );
  }

  async function find(embedderId: string, hashes: readonly string[]): Promise<Map<string, Float32Array>> {
    const found = new Map<string, Float32Array>();
    await attach();
    for (let start = 0; start < hashes.length; start += BATCH_HASHES) {
      await fillHashes(hashes.slice(start, start + BATCH_HASHES));
      const sql = `SELECT text_hash, vector FROM cache.vectors
        WHERE embedder_id = $1 AND text_hash IN (SELECT text_hash FROM wanted_hashes)`;
      for await (const rows of readRows(writer, sql, [embedderId])) {
        for (const [hash, vector] of rows) found.set(String(hash), numbersOf(vector));
      }
    }
    return found;
  }

  function numbersOf(value: DuckDBValue | undefined): Float32Array {
    if (!(value instanceof DuckDBBlobValue)) return new Float32Array();
    // Copied: they are a window on memory of DuckDB, at any offset.
    const bytes = new Uint8Array(value.bytes);
    return new Float32Array(bytes.buffer, 0, Math.floor(bytes.byteLength / 4));
  }

  async function put(embedderId: string, rows: readonly VectorRow[]): Promise<void> {
    await attach();
    const news = new Map(rows.map((row) => [row.textHash, row.vector]));
    await fillHashes([...news.keys()]);
    const known = `SELECT text_hash FROM cache.vectors WHERE embedder_id = $1
      AND text_hash IN (SELECT text_hash FROM wanted_hashes)`;
    for await (const found of readRows(writer, known, [embedderId]))
      for (const [hash] of found) news.delete(String(hash));
    const values = Array.from(news, ([hash, vector]): DuckDBValue[] => [embedderId, hash, blobOf(vector)]);
    for (let start = 0; start < values.length; start += BATCH_VECTORS) {
      const batch = values.slice(start, start + BATCH_VECTORS);
      await appendRows(writer, "vectors", [VARCHAR, VARCHAR, BLOB], batch, "cache");
    }
    await prune();
  }

  function blobOf(vector: Float32Array) {
    return new DuckDBBlobValue(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
  }

  async function prune(): Promise<void> {
    const count = (await writer.runAndReadAll("SELECT count(*) FROM cache.vectors")).getRows()[0]?.[0];
    if (Number(count) <= CACHE_LIMIT_VECTORS) return;
    await writer.run("DELETE FROM cache.vectors WHERE text_hash NOT IN (SELECT text_hash FROM chunks)");
  }

  return {
    attach,
    vectorsOf: (embedderId, hashes) => exclusive(() => attempt(() => find(embedderId, hashes))),
    putVectors: (embedderId, rows) => exclusive(() => attempt(() => put(embedderId, rows))),
  };
}
