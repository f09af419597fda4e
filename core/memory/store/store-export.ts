import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { appendRows, type DuckDBConnection } from "./duckdb.ts";
import type { ExportColumn } from "./store.ts";
import { type StoreHandles, sqlText } from "./store-handles.ts";

const DOCUMENTS_SQL = `SELECT source, key AS path, kind, author, hash, session_id, labels, pieces AS chunks,
  make_timestamp(CAST(at_ms * 1000 AS BIGINT)) AS changed_at FROM documents WHERE NOT staged ORDER BY source, doc_id`;
const CHUNKS_SQL = `SELECT d.source, d.key AS path, d.kind, d.author, c.chunk_id AS id, c.ordinal, c.line, c.page, c.title, c.text,
  c.text_hash FROM chunks c JOIN documents d USING (doc_id) WHERE NOT d.staged ORDER BY d.source, c.doc_id, c.ordinal`;
const VECTORS_SQL = `SELECT embedder_id AS embedder, octet_length(vector) // 4 AS dimensions, count(*) AS count
  FROM cache.vectors GROUP BY ALL ORDER BY ALL`;

/** Everything as Parquet; gives the paths. */
export async function exportParquet(
  handles: StoreHandles,
  folder: string,
  notes: readonly ExportColumn[],
): Promise<string[]> {
  await fillNotes(handles, notes);
  try {
    return [
      await copyTo(handles.writer, DOCUMENTS_SQL, join(folder, "documents.parquet")),
      await copyTo(handles.writer, CHUNKS_SQL, join(folder, "chunks.parquet")),
      await copyTo(handles.writer, "SELECT * FROM notes", join(folder, "notes.parquet")),
    ];
  } finally {
    await handles.writer.run("DROP TABLE IF EXISTS temp.notes");
  }
}

/** What `claw sql` shows of the store, as files that its process may read. */
export async function exportQueryViews(handles: StoreHandles, folder: string): Promise<string[]> {
  return [
    await copyTo(handles.writer, DOCUMENTS_SQL, join(folder, "memory_documents.parquet")),
    await copyTo(handles.writer, CHUNKS_SQL, join(folder, "memory_chunks.parquet")),
    await copyTo(handles.writer, VECTORS_SQL, join(folder, "memory_vectors.parquet")),
  ];
}

async function fillNotes(handles: StoreHandles, columns: readonly ExportColumn[]): Promise<void> {
  const { VARCHAR, DOUBLE } = handles.duckdb;
  const shape = columns.map(
    ({ name, type }) => `"${name.replaceAll('"', '""')}" ${type === "text" ? "VARCHAR" : "DOUBLE"}`,
  );
  await handles.writer.run(
    `CREATE OR REPLACE TEMP TABLE notes(${shape.length === 0 ? "id VARCHAR" : shape.join(", ")})`,
  );
  const rows = (columns[0]?.values ?? []).map((_, row) => columns.map(({ values }) => values[row] ?? null));
  const types = columns.map(({ type }) => (type === "text" ? VARCHAR : DOUBLE));
  await appendRows(handles.writer, "notes", types, rows);
}

/** A reader never sees half a file. */
async function copyTo(connection: DuckDBConnection, sql: string, file: string): Promise<string> {
  const part = `${file}.part`;
  try {
    await connection.run(`COPY (${sql}) TO ${sqlText(part)} (FORMAT parquet, COMPRESSION zstd)`);
    await rename(part, file);
    return file;
  } finally {
    await rm(part, { force: true });
  }
}
