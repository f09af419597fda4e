import { setImmediate } from "node:timers/promises";
import { appendRows, type DuckDBConnection, type DuckDBValue, inTransaction, readRows } from "./duckdb.ts";
import type { DocumentScope, DocumentToStage, StoredDocument, StoredText } from "./store.ts";
import type { StoreHandles } from "./store-handles.ts";
import { textHashOf } from "./text-hash.ts";

/** After so many the thread is free for others. */
const PAUSE_PIECES = 1_024;
/** Parameters of one query. */
const KEYS_LIMIT = 256;

/** Stores whole documents as staged; gives the ids that they got, in order. */
export async function stageDocuments(
  handles: StoreHandles,
  documents: readonly DocumentToStage[],
  firstId: number,
): Promise<number[]> {
  const { writer } = handles;
  const { BIGINT, VARCHAR, BOOLEAN, INTEGER, DOUBLE } = handles.duckdb;
  const numbered = documents.map((document, index) => ({ document, id: BigInt(firstId + index) }));
  const documentRows = numbered.map(({ document, id }): DuckDBValue[] => [
    ...[id, document.source, document.key, document.hash, document.kind, document.author, document.sessionId],
    ...[JSON.stringify(document.labels), document.atMs, true, document.pieces.length],
  ]);
  const pieceRows: DuckDBValue[][] = [];
  for (const { document, id } of numbered) {
    for (const [ordinal, { id: pieceId, line, page, title, text }] of document.pieces.entries()) {
      pieceRows.push([id, BigInt(pieceId), ordinal, line, page, title, text, textHashOf(title, text)]);
      // One file can have ten thousand pieces: hashing them all would hold the thread.
      if (pieceRows.length % PAUSE_PIECES === 0) await setImmediate();
    }
  }
  const names = [VARCHAR, VARCHAR, VARCHAR, VARCHAR, VARCHAR, VARCHAR, VARCHAR];
  await inTransaction(writer, async () => {
    await appendRows(writer, "documents", [BIGINT, ...names, DOUBLE, BOOLEAN, INTEGER], documentRows);
    const types = [BIGINT, BIGINT, INTEGER, INTEGER, INTEGER, VARCHAR, VARCHAR, VARCHAR];
    await appendRows(writer, "chunks", types, pieceRows);
  });
  return numbered.map(({ id }) => Number(id));
}

/** Removes documents and their pieces; `table` holds their ids. */
export async function dropDocuments(writer: DuckDBConnection, table: string): Promise<void> {
  await writer.run(`DELETE FROM chunks WHERE doc_id IN (SELECT id FROM ${table})`);
  await writer.run(`DELETE FROM documents WHERE doc_id IN (SELECT id FROM ${table})`);
}

export async function findDocuments(connection: DuckDBConnection, scope: DocumentScope): Promise<StoredDocument[]> {
  const found: StoredDocument[] = [];
  for (const [condition, values] of conditionsOf(scope)) {
    const sql = `SELECT doc_id, source, key, hash, staged, pieces FROM documents WHERE ${condition} ORDER BY doc_id`;
    for await (const rows of readRows(connection, sql, values)) {
      for (const [id, source, key, hash, staged, pieces] of rows) {
        const document = { documentId: Number(id), source: String(source), key: String(key), hash: String(hash) };
        found.push({ ...document, staged: staged === true, pieces: Number(pieces) });
      }
    }
  }
  return found;
}

export async function findTexts(
  connection: DuckDBConnection,
  ids: readonly number[],
): Promise<Map<number, StoredText>> {
  const found = new Map<number, StoredText>();
  const wanted = ids.filter(Number.isSafeInteger);
  if (wanted.length === 0) return found;
  // Not joined: then DuckDB would unpack all texts instead of asking its index.
  const pieces = await allRows(
    connection,
    `SELECT doc_id, chunk_id, line, page, title, text, text_hash, ordinal FROM chunks
     WHERE chunk_id IN (${wanted.join(",")})`,
  );
  const documentIds = new Set(pieces.map(([documentId]) => Number(documentId)));
  if (documentIds.size === 0) return found;
  const documents = await allRows(
    connection,
    `SELECT doc_id, key, kind, author, session_id, labels, at_ms FROM documents
     WHERE doc_id IN (${[...documentIds].join(",")}) AND NOT staged`,
  );
  const byId = new Map(documents.map((document) => [Number(document[0]), document]));
  for (const piece of pieces) {
    const document = byId.get(Number(piece[0]));
    if (document !== undefined) found.set(Number(piece[1]), textOf(document, piece));
  }
  return found;
}

async function allRows(connection: DuckDBConnection, sql: string): Promise<DuckDBValue[][]> {
  const all: DuckDBValue[][] = [];
  for await (const rows of readRows(connection, sql)) for (const row of rows) all.push(row);
  return all;
}

function textOf(document: readonly DuckDBValue[], piece: readonly DuckDBValue[]): StoredText {
  const [, key, kind, author, sessionId, labels, atMs] = document;
  const [, , line, page, title, text, textHash, ordinal] = piece;
  return {
    key: String(key),
    kind: String(kind) as StoredText["kind"],
    author: String(author) as StoredText["author"],
    sessionId: String(sessionId),
    labels: JSON.parse(String(labels)) as string[],
    line: Number(line),
    page: Number(page),
    title: String(title),
    text: String(text),
    textHash: String(textHash),
    atMs: Number(atMs),
    ordinal: Number(ordinal),
  };
}

function conditionsOf(scope: DocumentScope): [string, string[]][] {
  switch (scope.kind) {
    case "source":
      return [["source = $1", [scope.source]]];
    case "folder":
      return [["starts_with(source, 'folder:') AND starts_with(key, $1)", [prefixOf(scope.folder)]]];
    case "paths":
      return slicesOf(scope.paths).map((paths) => [
        `starts_with(source, 'folder:') AND (${paths.map((_, at) => `key = $${at + 1} OR starts_with(key, $${at + 1} || '/')`).join(" OR ")})`,
        paths,
      ]);
    case "keys":
      return slicesOf(scope.keys).map((keys) => [
        `source = $1 AND key IN (${placesOf(keys)})`,
        [scope.source, ...keys],
      ]);
    case "sessions":
      return slicesOf(scope.sessionIds).map((ids) => [
        `source = $1 AND session_id IN (${placesOf(ids)})`,
        [scope.source, ...ids],
      ]);
  }
}

/** What the paths of everything in a folder begin with. */
export function prefixOf(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}

function slicesOf(values: readonly string[]): string[][] {
  const slices: string[][] = [];
  for (let start = 0; start < values.length; start += KEYS_LIMIT) slices.push(values.slice(start, start + KEYS_LIMIT));
  return slices;
}

function placesOf(values: readonly string[]): string {
  return values.map((_, index) => `$${index + 2}`).join(",");
}
