import { statSync } from "node:fs";
import { rm, statfs } from "node:fs/promises";
import { ok, type Result } from "../../domain/failure.ts";
import { oneByOne } from "../../domain/one-by-one.ts";
import { findDocuments, findTexts, stageDocuments } from "./document-table.ts";
import { appendRows, attemptQuery, inTransaction, readRows } from "./duckdb.ts";
import { publishDocuments } from "./publication.ts";
import { readSegmentFile, removeSegmentFiles, segmentFile, segmentTextFile, vectorBlockFile } from "./segment-files.ts";
import type { Publication, SegmentText, Store, StoreCounts, StoredSegment } from "./store.ts";
import { findProblems } from "./store-check.ts";
import { exportParquet, exportQueryViews } from "./store-export.ts";
import { fillIds, type StoreHandles, sqlText } from "./store-handles.ts";
import { openVectorCache } from "./vector-cache.ts";

/** What an opening found. */
export type OpenedState = {
  readonly fresh: boolean;
  /** The highest there are; 0 without one. */
  readonly lastDocumentId: number;
  readonly lastSegmentId: number;
  /** Whether a document that is searched has pieces in no segment. */
  readonly anyUnplaced: boolean;
};

/** The store over an open file with its tables. */
export function storeOver(handles: StoreHandles, state: OpenedState): Store {
  const { file, writer, reader, instance, segmentFolder } = handles;
  const exclusive = oneByOne();
  const onePublication = oneByOne();
  const vectors = openVectorCache(handles, exclusive);
  const inode = inodeOf(file);
  let nextDocumentId = state.lastDocumentId + 1;
  let nextSegmentId = state.lastSegmentId + 1;
  let revision = 0;
  /** What is searched; undefined until it was read. */
  let current: ReadonlyMap<number, StoredSegment> | undefined;
  /** Segments were damaged: until the next publication their pieces are in none. */
  let anyLost = state.anyUnplaced;
  /** Files of segments that the last publication took away: a search may still be reading their vectors. */
  let outgoing: readonly number[] = [];

  async function loadSegments(): Promise<void> {
    const loaded = new Map<number, StoredSegment>();
    const damaged: number[] = [];
    const dead = await readDeadRows();
    for await (const rows of readRows(
      reader,
      "SELECT segment_id, documents, crc32 FROM segments ORDER BY segment_id",
    )) {
      for (const [id, documents, checksum] of rows) {
        const segmentId = Number(id);
        const read = await readSegmentFile(segmentFile(segmentFolder, segmentId), Number(checksum));
        if (!read.ok) damaged.push(segmentId);
        else {
          const marks = markDead(undefined, Number(documents), dead.get(segmentId) ?? []);
          const found = { segmentId, buffer: read.value, crc32: Number(checksum), documents: Number(documents) };
          loaded.set(segmentId, { ...found, dead: marks });
        }
      }
    }
    if (damaged.length > 0) {
      await exclusive(() => dropSegments(damaged));
      anyLost = true;
    }
    current = loaded;
  }

  async function readDeadRows(): Promise<Map<number, number[]>> {
    const dead = new Map<number, number[]>();
    for await (const rows of readRows(reader, "SELECT segment_id, row FROM dead")) {
      for (const [segmentId, row] of rows) {
        const known = dead.get(Number(segmentId));
        if (known === undefined) dead.set(Number(segmentId), [Number(row)]);
        else known.push(Number(row));
      }
    }
    return dead;
  }

  /** Their pieces lie in no segment then, and the next publication builds them anew. */
  async function dropSegments(segmentIds: readonly number[]): Promise<void> {
    await fillIds(handles, "stale", segmentIds);
    await inTransaction(writer, async () => {
      for (const table of ["segments", "placements", "dead"])
        await writer.run(`DELETE FROM ${table} WHERE segment_id IN (SELECT id FROM stale)`);
    });
    await removeSegmentFiles(segmentFolder, segmentIds);
  }

  async function publish(publication: Publication): Promise<Result<readonly StoredSegment[]>> {
    if (current === undefined) await loadSegments();
    if (isEmpty(publication) && !anyLost) return ok([...(current?.values() ?? [])]);
    const published = await publishDocuments(handles, exclusive, publication, anyLost, () => nextSegmentId++);
    if (!published.ok) return published;
    anyLost = false;
    const { added, staleIds, deadRows } = published.value;
    const next = new Map(current);
    for (const segmentId of staleIds) next.delete(segmentId);
    for (const [segmentId, rows] of deadRows) {
      const segment = next.get(segmentId);
      if (segment !== undefined)
        next.set(segmentId, { ...segment, dead: markDead(segment.dead, segment.documents, rows) });
    }
    for (const segment of added) next.set(segment.segmentId, segment);
    current = next;
    revision += 1;
    await removeSegmentFiles(segmentFolder, outgoing);
    outgoing = staleIds;
    return ok([...next.values()]);
  }

  async function* segmentTexts(segmentId: number): AsyncGenerator<Result<readonly SegmentText[]>> {
    // A connection of its own: a streamed result ends when its connection is asked something else.
    const connection = await attemptQuery(file, () => instance.connect());
    if (!connection.ok) return yield connection;
    try {
      const sql = `SELECT row, chunk_id, text_hash, title, text FROM placements JOIN chunks USING (doc_id, ordinal)
        WHERE segment_id = $1 ORDER BY row`;
      for await (const rows of readRows(connection.value, sql, [BigInt(segmentId)])) {
        yield ok(
          rows.map(([row, id, textHash, title, text]) => ({
            ...{ row: Number(row), id: Number(id), textHash: String(textHash) },
            ...{ title: String(title), text: String(text) },
          })),
        );
      }
    } catch (cause) {
      yield await attemptQuery(file, () => Promise.reject(cause));
    } finally {
      connection.value.closeSync();
    }
  }

  async function withSegmentTexts<T>(
    segmentId: number,
    work: (file: string) => Promise<Result<T>>,
  ): Promise<Result<T>> {
    const textFile = segmentTextFile(segmentFolder, segmentId);
    try {
      const written = await attemptQuery(file, async () => {
        const connection = await instance.connect();
        try {
          await connection.run(`COPY (SELECT row, title, text FROM placements JOIN chunks USING (doc_id, ordinal)
            WHERE segment_id = ${segmentId} ORDER BY row) TO ${sqlText(textFile)} (FORMAT json)`);
        } finally {
          connection.closeSync();
        }
      });
      return written.ok ? await work(textFile) : written;
    } finally {
      await rm(textFile, { force: true });
    }
  }

  async function readWatermarks(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for await (const rows of readRows(reader, "SELECT session_id, seq FROM watermarks"))
      for (const [sessionId, seq] of rows) found.set(String(sessionId), Number(seq));
    return found;
  }

  async function readSources(): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const rows of readRows(reader, "SELECT DISTINCT source FROM documents WHERE NOT staged"))
      for (const [name] of rows) names.push(String(name));
    return names;
  }

  async function counts(): Promise<StoreCounts> {
    // A PDF without pieces is one that has no text to have.
    const sql = `SELECT count(*) FILTER (WHERE kind = 'file' OR (kind = 'pdf' AND pieces > 0)), count(*) FILTER (WHERE kind = 'document'),
      count(*) FILTER (WHERE kind = 'conversation'), coalesce(sum(pieces), 0),
      coalesce(sum(pieces) FILTER (WHERE kind = 'conversation'), 0) FROM documents WHERE NOT staged`;
    const [files = 0, documents = 0, messages = 0, pieces = 0, messagePieces = 0] = await readNumbers(sql);
    const figures = "SELECT coalesce(sum(skipped), 0), coalesce(sum(removed), 0), coalesce(sum(errors), 0) FROM runs";
    const [skipped = 0, removed = 0, errors = 0] = await readNumbers(figures);
    return { files, documents, messages, pieces, messagePieces, skipped, removed, errors };
  }

  async function readNumbers(sql: string): Promise<number[]> {
    return ((await reader.runAndReadAll(sql)).getRows()[0] ?? []).map(Number);
  }

  async function dropStaged(): Promise<void> {
    await inTransaction(writer, async () => {
      await writer.run("DELETE FROM chunks WHERE doc_id IN (SELECT doc_id FROM documents WHERE staged)");
      await writer.run("DELETE FROM documents WHERE staged");
    });
    await writer.run("CHECKPOINT");
  }

  async function markFilled(): Promise<void> {
    await appendRows(writer, "meta", [handles.duckdb.VARCHAR, handles.duckdb.VARCHAR], [["filled", "yes"]]);
  }

  async function close(): Promise<void> {
    // What is under way ends first: closing takes the connections away from it.
    await onePublication(() => exclusive(() => Promise.resolve()));
    await removeSegmentFiles(segmentFolder, outgoing);
    // Closing writes everything down on this thread, this does it beside. What fails now is in the log of writes anyway.
    await writer.run("CHECKPOINT").catch(() => undefined);
    writer.closeSync();
    reader.closeSync();
    instance.closeSync();
    handles.closed();
  }

  return {
    fresh: state.fresh,
    markFilled: () => attemptQuery(file, () => exclusive(markFilled)),
    revision: () => revision,
    documentsOf: (scope) => attemptQuery(file, () => findDocuments(reader, scope)),
    stage: (documents) =>
      attemptQuery(file, () =>
        exclusive(() => {
          const firstId = nextDocumentId;
          nextDocumentId += documents.length;
          return stageDocuments(handles, documents, firstId);
        }),
      ),
    isInPlace: () => inodeOf(file) === inode && inodeOf(segmentFolder) !== undefined,
    freeBytes: () =>
      attemptQuery(file, async () => {
        const { bavail, bsize } = await statfs(segmentFolder);
        return bavail * bsize;
      }),
    usedBytes: handles.usedBytes,
    dropStaged: () => attemptQuery(file, () => onePublication(() => exclusive(dropStaged))),
    async publish(publication) {
      const done = await attemptQuery(file, () => onePublication(() => publish(publication)));
      return done.ok ? done.value : done;
    },
    segments: () =>
      attemptQuery(file, () =>
        onePublication(async () => {
          if (current === undefined) await loadSegments();
          return { segments: [...(current?.values() ?? [])], anyLost };
        }),
      ),
    texts: (ids) => attemptQuery(file, () => findTexts(reader, ids)),
    segmentTexts,
    withSegmentTexts,
    watermarks: () => attemptQuery(file, readWatermarks),
    counts: () => attemptQuery(file, counts),
    vectorsOf: vectors.vectorsOf,
    async putVectors(embedderId, rows) {
      revision += 1;
      return vectors.putVectors(embedderId, rows);
    },
    sources: () => attemptQuery(file, readSources),
    vectorFile: (segment, embedderId) => vectorBlockFile(segmentFolder, segment, embedderId),
    async problems(areWhole, signal) {
      // Between two publications, or half of one would look like damage.
      const done = await attemptQuery(file, () =>
        onePublication(() => findProblems(handles, outgoing, areWhole, signal)),
      );
      return done.ok ? done.value : done;
    },
    exportTo: (folder, notes) => attemptQuery(folder, () => exclusive(() => exportParquet(handles, folder, notes))),
    exportViews: (folder) =>
      attemptQuery(folder, () =>
        exclusive(async () => {
          await vectors.attach();
          return exportQueryViews(handles, folder);
        }),
      ),
    close,
  };
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

function isEmpty({ freshIds, goneIds, watermarks, adopted, figures, forgotten }: Publication): boolean {
  const changes = freshIds.length + goneIds.length + watermarks.size;
  return changes === 0 && adopted === undefined && figures === undefined && forgotten === undefined;
}

/** A copy with more rows marked, in shared memory; undefined when nothing is. */
function markDead(before: Uint8Array | undefined, documents: number, rows: readonly number[]): Uint8Array | undefined {
  if (rows.length === 0) return before;
  const marks = new Uint8Array(new SharedArrayBuffer(documents));
  if (before !== undefined) marks.set(before);
  for (const row of rows) marks[row] = 1;
  return marks;
}
