import type { DuckDBConnection, DuckDBInstance, DuckDb } from "./duckdb.ts";
import { appendRows } from "./duckdb.ts";

/** What a store runs on. */
export type StoreHandles = {
  readonly file: string;
  /** Where the segment files lie. */
  readonly segmentFolder: string;
  /** Outlives the store: what was paid for. */
  readonly vectorFile: string;
  readonly duckdb: DuckDb;
  readonly instance: DuckDBInstance;
  /** Only within `exclusive`: it has one transaction and its temporary tables. */
  readonly writer: DuckDBConnection;
  readonly reader: DuckDBConnection;
  readonly usedBytes: () => Promise<number>;
  /** Called when the store was closed. */
  readonly closed: () => void;
};

/** A temporary table of numbers on the writer, for joins. */
export async function fillIds(handles: StoreHandles, table: string, ids: readonly number[]): Promise<void> {
  await handles.writer.run(`CREATE OR REPLACE TEMP TABLE ${table}(id BIGINT)`);
  await appendRows(
    handles.writer,
    table,
    [handles.duckdb.BIGINT],
    ids.map((id) => [BigInt(id)]),
  );
}

/** A path or another text as a literal, where DuckDB takes no parameter. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
