import type { Result } from "../../domain/failure.ts";
import {
  appendRows,
  attemptQuery,
  type DuckDBConnection,
  type DuckDBInstance,
  type DuckDb,
  inTransaction,
  readRows,
} from "./duckdb.ts";
import type { SegmentDocument } from "../lexical/segment.ts";
import type { SourceChunk } from "../source/source-files.ts";

/** A version of a file. A staged one is complete but not searched yet. */
export type StoredFile = {
  readonly fileId: number;
  readonly path: string;
  readonly hash: string;
  readonly staged: boolean;
  readonly chunks: number;
};

export type FileToStage = { readonly path: string; readonly hash: string; readonly chunks: readonly SourceChunk[] };
export type StoredText = { readonly path: string; readonly line: number; readonly text: string };
export type StoredSegment = { readonly segmentId: number; readonly buffer: SharedArrayBuffer };

/** What becomes visible at once: staged files of a folder, without the gone ones, and their segments. */
export type Publication = {
  readonly prefix: string;
  readonly goneFileIds: readonly number[];
  readonly staleSegmentIds: readonly number[];
  readonly newSegments: readonly SharedArrayBuffer[];
};

/** The DuckDB file. Holds nothing that cannot be built again from the indexed folders. One writer at a time. */
export type Store = {
  /** True until `markFilled`: somebody has to bring in the folders that an earlier file held. */
  readonly fresh: boolean;
  markFilled(): Promise<Result<void>>;
  /** Every version of every file whose path begins with the prefix. */
  files(prefix: string): Promise<Result<StoredFile[]>>;
  /** Keeps whole files for the next publication, durable on return. `replaced` are older staged versions to drop. */
  stage(files: readonly FileToStage[], replaced: readonly number[]): Promise<Result<void>>;
  stagedChunkIds(prefix: string): Promise<Result<Set<number>>>;
  chunkIds(fileIds: readonly number[]): Promise<Result<Set<number>>>;
  /** What segments are built from: title and text, each id once. */
  documents(ids: readonly number[]): Promise<Result<SegmentDocument[]>>;
  publish(publication: Publication): Promise<Result<StoredSegment[]>>;
  segments(): Promise<Result<StoredSegment[]>>;
  /** Texts of searchable chunks; ids that are gone are missing in the answer. */
  texts(ids: readonly number[]): Promise<Result<Map<number, StoredText>>>;
  counts(): Promise<Result<{ readonly files: number; readonly chunks: number }>>;
  close(): void;
};

/** What a store runs on. */
export type StoreHandles = {
  readonly duckdb: DuckDb;
  readonly instance: DuckDBInstance;
  readonly writer: DuckDBConnection;
  readonly reader: DuckDBConnection;
  /** Called when the store was closed. */
  readonly closed: () => void;
};

/** The store over an open file with its tables. `lastFileId` is the highest there is, 0 without one. */
export function storeOver(file: string, fresh: boolean, handles: StoreHandles, lastFileId: number): Store {
  const { writer, reader, instance, closed } = handles;
  const { BIGINT, VARCHAR, BOOLEAN, INTEGER } = handles.duckdb;
  let nextFileId = lastFileId + 1;

  async function fill(table: string, ids: readonly number[]): Promise<void> {
    await writer.run(`CREATE OR REPLACE TEMP TABLE ${table}(id BIGINT)`);
    await appendRows(
      writer,
      table,
      [BIGINT],
      ids.map((id) => [BigInt(id)]),
    );
  }

  async function dropFiles(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await fill("gone", ids);
    await writer.run("DELETE FROM chunks WHERE file_id IN (SELECT id FROM gone)");
    await writer.run("DELETE FROM files WHERE file_id IN (SELECT id FROM gone)");
  }

  async function stage(files: readonly FileToStage[], replaced: readonly number[]): Promise<void> {
    const numbered = files.map((each) => ({ ...each, fileId: BigInt(nextFileId++) }));
    await inTransaction(writer, async () => {
      await dropFiles(replaced);
      const fileRows = numbered.map(({ fileId, path, hash, chunks }) => [fileId, path, hash, true, chunks.length]);
      await appendRows(writer, "files", [BIGINT, VARCHAR, VARCHAR, BOOLEAN, INTEGER], fileRows);
      const chunkRows = numbered.flatMap(({ fileId, chunks }) =>
        chunks.map((chunk) => [fileId, BigInt(chunk.id), chunk.line, chunk.title, chunk.text]),
      );
      await appendRows(writer, "chunks", [BIGINT, BIGINT, INTEGER, VARCHAR, VARCHAR], chunkRows);
    });
  }

  async function publish(publication: Publication): Promise<StoredSegment[]> {
    const last = (await writer.runAndReadAll("SELECT coalesce(max(segment_id), 0) FROM segments")).getRows()[0]?.[0];
    const added = publication.newSegments.map((buffer, index) => ({ segmentId: Number(last) + 1 + index, buffer }));
    await inTransaction(writer, async () => {
      await dropFiles(publication.goneFileIds);
      await writer.run("UPDATE files SET staged = false WHERE staged AND starts_with(path, $1)", [publication.prefix]);
      await fill("stale", publication.staleSegmentIds);
      await writer.run("DELETE FROM segments WHERE segment_id IN (SELECT id FROM stale)");
      for (const { segmentId, buffer } of added) {
        const bytes = new handles.duckdb.DuckDBBlobValue(Uint8Array.from(new Uint8Array(buffer)));
        await writer.run("INSERT INTO segments VALUES ($1, $2)", [BigInt(segmentId), bytes]);
      }
    });
    await writer.run("CHECKPOINT");
    return added;
  }

  async function* idsOf(connection: DuckDBConnection, sql: string, values: string[] = []): AsyncGenerator<number> {
    for await (const rows of readRows(connection, sql, values)) for (const [id] of rows) yield Number(id);
  }

  async function collectIds(ids: AsyncGenerator<number>): Promise<Set<number>> {
    const collected = new Set<number>();
    for await (const id of ids) collected.add(id);
    return collected;
  }

  async function documents(ids: readonly number[]): Promise<SegmentDocument[]> {
    await fill("wanted", ids);
    const found = new Map<number, string>();
    const sql = "SELECT chunk_id, title, text FROM chunks WHERE chunk_id IN (SELECT id FROM wanted)";
    for await (const rows of readRows(writer, sql)) {
      for (const [id, title, text] of rows) found.set(Number(id), `${String(title)}\n${String(text)}`);
    }
    return Array.from(found, ([id, text]) => ({ id, text }));
  }

  async function readSegments(): Promise<StoredSegment[]> {
    const segments: StoredSegment[] = [];
    for await (const segmentId of idsOf(reader, "SELECT segment_id FROM segments ORDER BY segment_id")) {
      // One at a time: each is a mebibyte or more, and a result holds all its rows.
      const result = await reader.runAndReadAll("SELECT bytes FROM segments WHERE segment_id = $1", [
        BigInt(segmentId),
      ]);
      const value = result.getRows()[0]?.[0];
      if (!(value instanceof handles.duckdb.DuckDBBlobValue))
        throw new Error(`Corrupt: segment ${segmentId} has no bytes`);
      const buffer = new SharedArrayBuffer(value.bytes.byteLength);
      new Uint8Array(buffer).set(value.bytes);
      segments.push({ segmentId, buffer });
    }
    return segments;
  }

  async function texts(ids: readonly number[]): Promise<Map<number, StoredText>> {
    const found = new Map<number, StoredText>();
    if (ids.length === 0) return found;
    const sql = `SELECT chunk_id, path, line, text FROM chunks JOIN files USING (file_id)
      WHERE NOT staged AND chunk_id IN (${ids.map(Number).join(",")})`;
    for await (const rows of readRows(reader, sql)) {
      for (const [id, path, line, text] of rows) {
        found.set(Number(id), { path: String(path), line: Number(line), text: String(text) });
      }
    }
    return found;
  }

  async function files(prefix: string): Promise<StoredFile[]> {
    const found: StoredFile[] = [];
    const sql = "SELECT file_id, path, hash, staged, chunks FROM files WHERE starts_with(path, $1)";
    for await (const rows of readRows(reader, sql, [prefix])) {
      for (const [fileId, path, hash, staged, chunks] of rows) {
        found.push({
          fileId: Number(fileId),
          path: String(path),
          hash: String(hash),
          staged: staged === true,
          chunks: Number(chunks),
        });
      }
    }
    return found;
  }

  async function counts(): Promise<{ files: number; chunks: number }> {
    const sql = "SELECT count(*), coalesce(sum(chunks), 0) FROM files WHERE NOT staged";
    const row = (await reader.runAndReadAll(sql)).getRows()[0];
    return { files: Number(row?.[0]), chunks: Number(row?.[1]) };
  }

  const stagedSql = `SELECT DISTINCT chunk_id FROM chunks JOIN files USING (file_id) WHERE staged AND starts_with(path, $1)`;
  return {
    fresh,
    markFilled: () =>
      attemptQuery(file, async () => void (await writer.run("INSERT INTO meta VALUES ('filled', 'yes')"))),
    files: (prefix) => attemptQuery(file, () => files(prefix)),
    stage: (staged, replaced) => attemptQuery(file, () => stage(staged, replaced)),
    stagedChunkIds: (prefix) => attemptQuery(file, () => collectIds(idsOf(reader, stagedSql, [prefix]))),
    chunkIds: (fileIds) =>
      attemptQuery(file, async () => {
        await fill("gone", fileIds);
        return collectIds(idsOf(writer, "SELECT DISTINCT chunk_id FROM chunks WHERE file_id IN (SELECT id FROM gone)"));
      }),
    documents: (ids) => attemptQuery(file, () => documents(ids)),
    publish: (publication) => attemptQuery(file, () => publish(publication)),
    segments: () => attemptQuery(file, readSegments),
    texts: (ids) => attemptQuery(file, () => texts(ids)),
    counts: () => attemptQuery(file, counts),
    close() {
      writer.closeSync();
      reader.closeSync();
      instance.closeSync();
      closed();
    },
  };
}
