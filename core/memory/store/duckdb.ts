import { setImmediate } from "node:timers/promises";
import type { DuckDBConnection, DuckDBInstance, DuckDBType, DuckDBValue } from "@duckdb/node-api";
import { type Failed, type Failure, fail, ok, type Result } from "../../domain/failure.ts";

// The wall to DuckDB: its library is loaded here, lazily (it maps some 60 MB), and its errors are translated here.

/** Filling a data chunk runs on the caller's thread: small ones keep it free for others. */
const APPEND_BATCH_ROWS = 256;
/** So does taking values out of one. */
const READ_BATCH_ROWS = 512;

export type DuckDb = typeof import("@duckdb/node-api");
export type { DuckDBConnection, DuckDBInstance, DuckDBType, DuckDBValue };

let loaded: Promise<DuckDb> | undefined;

export function loadDuckDb(): Promise<DuckDb> {
  // One that could not be loaded is tried again.
  loaded ??= loadInParts().catch((cause) => {
    loaded = undefined;
    throw cause;
  });
  return loaded;
}

/** All of it at once would hold the thread for 100 ms: so a part at a time, each before those that need it. */
async function loadInParts(): Promise<DuckDb> {
  await import("@duckdb/node-api/lib/version.js");
  await setImmediate();
  await import("@duckdb/node-api/lib/DuckDBType.js");
  await setImmediate();
  await import("@duckdb/node-api/lib/DuckDBVector.js");
  await setImmediate();
  await import("@duckdb/node-api/lib/DuckDBConnection.js");
  await setImmediate();
  return import("@duckdb/node-api");
}

/** Runs work on a database and turns what DuckDB throws into a failure. `what` names the file or the view for people. */
export async function attemptQuery<T>(what: string, work: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await work());
  } catch (cause) {
    return translate(what, cause);
  }
}

/** Whether the database answers nothing more before it is opened again, as after a checkpoint on a full disk. */
export function isInvalidated({ cause }: Failure): boolean {
  return cause instanceof Error && /FATAL Error|has been invalidated/.test(cause.message);
}

function translate(what: string, cause: unknown): Failed {
  const message = cause instanceof Error ? cause.message : String(cause);
  const line = message.split("\n", 1)[0] ?? "";
  if (message.includes("Could not set lock")) {
    const holder = /\(PID (\d+)\)/.exec(message)?.[1];
    return fail("conflict", `${what} is in use by ${holder === undefined ? "another process" : `process ${holder}`}`, {
      hint: "one process owns the memory; ask it through its daemon, or stop it first",
      cause,
    });
  }
  if (/no space left|disk quota|Out of Memory Error/i.test(message)) {
    return fail("exhausted", `${what}: ${line}`, { hint: "free some space, then try again", cause });
  }
  if (
    /Corrupt|checksum|not a valid DuckDB|not read enough bytes|Serialization Error|Catalog Error|newer version|WAL/i.test(
      message,
    )
  ) {
    return fail("corrupt", `${what} is damaged: ${line}`, { hint: "it is rebuilt by itself from its sources", cause });
  }
  return fail("unavailable", `${what}: ${line}`, { hint: "try again; deleting the file is harmless", cause });
}

/** The rows of a query, a few hundred at a time, and the thread is free for others between them. */
export async function* readRows(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[] = [],
): AsyncGenerator<DuckDBValue[][]> {
  const result = await connection.run(sql, values);
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (let start = 0; start < chunk.rowCount; start += READ_BATCH_ROWS) {
      if (start > 0) await setImmediate();
      const count = Math.min(READ_BATCH_ROWS, chunk.rowCount - start);
      yield Array.from({ length: count }, (_, index) => chunk.getRowValues(start + index));
    }
  }
}

/** Bulk insert through the appender; joins the transaction that is open on the connection. */
export async function appendRows(
  connection: DuckDBConnection,
  table: string,
  types: readonly DuckDBType[],
  rows: readonly (readonly DuckDBValue[])[],
  database?: string,
): Promise<void> {
  if (rows.length === 0) return;
  const { DuckDBDataChunk } = await loadDuckDb();
  const appender = await connection.createAppender(table, undefined, database);
  try {
    for (let start = 0; start < rows.length; start += APPEND_BATCH_ROWS) {
      const batch = rows.slice(start, start + APPEND_BATCH_ROWS);
      const chunk = DuckDBDataChunk.create([...types]);
      chunk.setColumns(types.map((_, column) => batch.map((row) => row[column] ?? null)));
      appender.appendDataChunk(chunk);
      await setImmediate();
    }
  } finally {
    appender.closeSync();
  }
}

/** All or nothing. */
export async function inTransaction<T>(connection: DuckDBConnection, work: () => Promise<T>): Promise<T> {
  await connection.run("BEGIN");
  try {
    const value = await work();
    await connection.run("COMMIT");
    return value;
  } catch (cause) {
    // The first error is the one to tell; a rollback fails only when DuckDB has rolled back already.
    await connection.run("ROLLBACK").catch(() => undefined);
    throw cause;
  }
}
