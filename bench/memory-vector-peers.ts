// Others that find nearest neighbours, each over the same vectors in memory, by cosine.
import { DatabaseSync } from "node:sqlite";
import { ARRAY, arrayValue, DuckDBDataChunk, DuckDBInstance, FLOAT, INTEGER } from "@duckdb/node-api";
import { getLoadablePath } from "sqlite-vec";
import usearch from "usearch";

export const NEAREST = 10;
const CHUNK_ROWS = 2048;

export type Peer = {
  readonly name: string;
  readonly buildMs: number;
  /** Rows of the nearest, best first. */
  search(query: Float32Array): Promise<readonly number[]> | readonly number[];
  close(): void;
};

/** `rows` one after the other, each of length one. */
export type VectorSet = { readonly rows: Float32Array; readonly count: number; readonly dimensions: number };

/** The table vec0 with 32-bit floats. */
export function sqliteVec({ rows, count, dimensions }: VectorSet): Peer {
  const startedMs = performance.now();
  const database = new DatabaseSync(":memory:", { allowExtension: true });
  database.loadExtension(getLoadablePath());
  database.exec(`CREATE VIRTUAL TABLE v USING vec0(e float[${dimensions}] distance_metric=cosine)`);
  const insert = database.prepare("INSERT INTO v(rowid, e) VALUES (?, ?)");
  database.exec("BEGIN");
  for (let row = 0; row < count; row += 1) insert.run(BigInt(row), bytesOf(vectorAt(rows, row, dimensions)));
  database.exec("COMMIT");
  const select = database.prepare(`SELECT rowid FROM v WHERE e MATCH ? AND k = ${NEAREST} ORDER BY distance`);
  return {
    name: "sqlite-vec",
    buildMs: performance.now() - startedMs,
    search: (query) => select.all(bytesOf(query)).map((found) => Number(found.rowid)),
    close: () => database.close(),
  };
}

/** A column FLOAT[d] and array_cosine_similarity, with one thread or as many as there are processors. */
export async function duckDb({ rows, count, dimensions }: VectorSet, threads: number): Promise<Peer> {
  const startedMs = performance.now();
  const instance = await DuckDBInstance.create(":memory:", { threads: String(threads) });
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE v(id INTEGER, e FLOAT[${dimensions}])`);
  const appender = await connection.createAppender("v");
  const types = [INTEGER, ARRAY(FLOAT, dimensions)];
  for (let first = 0; first < count; first += CHUNK_ROWS) {
    const chunk = DuckDBDataChunk.create(types, Math.min(CHUNK_ROWS, count - first));
    chunk.setColumnValues(
      0,
      Array.from({ length: chunk.rowCount }, (_, row) => first + row),
    );
    // Value by value it takes twenty times as long.
    const vectors = chunk.getColumnVector(1) as unknown as { childData: { items: Float32Array }; flush(): void };
    vectors.childData.items.set(rows.subarray(first * dimensions, (first + chunk.rowCount) * dimensions));
    vectors.flush();
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  const select = await connection.prepare(
    `SELECT id FROM v ORDER BY array_cosine_similarity(e, $1::FLOAT[${dimensions}]) DESC LIMIT ${NEAREST}`,
  );
  return {
    name: `DuckDB, ${threads} ${threads === 1 ? "thread" : "threads"}`,
    buildMs: performance.now() - startedMs,
    async search(query) {
      select.bindArray(1, arrayValue([...query]));
      const found = await select.runAndReadAll();
      return found.getRows().map(([id]) => Number(id));
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

export function usearchExact({ rows, dimensions }: VectorSet): Peer {
  return {
    name: "usearch exact, 1 thread",
    buildMs: 0,
    search(query) {
      const found = usearch.exactSearch(rows, query, dimensions, NEAREST, usearch.MetricKind.Cos, 1);
      return [...found.keys].map(Number);
    },
    close: () => {},
  };
}

export type Graph = Peer & { remove(row: number): void };

/** HNSW as usearch has it: M = 16, ef = 64. It takes no filter, so the caller drops what may not be found. */
export function usearchGraph({ rows, count, dimensions }: VectorSet): Graph {
  const startedMs = performance.now();
  const index = new usearch.Index({
    dimensions,
    metric: usearch.MetricKind.Cos,
    quantization: usearch.ScalarKind.F32,
    connectivity: 16,
    expansion_add: 128,
    expansion_search: 64,
    multi: false,
  });
  index.add(
    BigUint64Array.from({ length: count }, (_, row) => BigInt(row)),
    rows,
    1,
  );
  return {
    name: "usearch HNSW",
    buildMs: performance.now() - startedMs,
    search: (query) => [...index.search(query, NEAREST, 1).keys].map(Number),
    remove: (row) => {
      index.remove(BigInt(row));
    },
    close: () => {},
  };
}

export function vectorAt(rows: Float32Array, row: number, dimensions: number): Float32Array {
  return rows.subarray(row * dimensions, (row + 1) * dimensions);
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
