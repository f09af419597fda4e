import { rm } from "node:fs/promises";
import { type Failed, fail, ok, type Result } from "../../domain/failure.ts";
import type { OneByOne } from "../../domain/one-by-one.ts";
import { dropDocuments, prefixOf } from "./document-table.ts";
import { appendRows, inTransaction, readRows } from "./duckdb.ts";
import { removeSegmentFiles, segmentFile, segmentInputFile } from "./segment-files.ts";
import type { Publication, StoredSegment } from "./store.ts";
import { fillIds, type StoreHandles, sqlText } from "./store-handles.ts";

/** A segment is built from at most this many pieces, and may be merged with others while it has less than half of them. */
const SEGMENT_GOAL_PIECES = 16_384;
/** A segment that lost more than this is built anew. */
const DEAD_LIMIT_SHARE = 0.25;
/**
 * What is built takes a small segment with it that is at most so many times as large. So a single edit never rebuilds
 * thousands of pieces, and the sizes of small segments grow geometrically: there are about a dozen of them at most.
 */
const MERGE_FACTOR = 2;
/** As many as the threads that nobody waits for: while one part is built, the next one is written down and begun. */
const BUILDS_AT_ONCE = 2;

type SegmentSize = { readonly segmentId: number; readonly documents: number; readonly live: number };
type NewSegment = StoredSegment & { readonly first: number };

/** What a publication changes of the segments that are searched. */
export type PublishedSegments = {
  readonly added: readonly StoredSegment[];
  readonly staleIds: readonly number[];
  /** Rows that died in segments that stay. */
  readonly deadRows: ReadonlyMap<number, readonly number[]>;
};

/**
 * Builds what is missing and makes it true in one transaction. Segment files are durable before DuckDB names them, so
 * whenever the process ends there is the old state or the new one; files that nobody names are removed at the next opening.
 * `anyLost` says that segments may be missing; `nextSegmentId` gives each number once.
 */
export async function publishDocuments(
  handles: StoreHandles,
  exclusive: OneByOne,
  publication: Publication,
  anyLost: boolean,
  nextSegmentId: () => number,
): Promise<Result<PublishedSegments>> {
  const plan = await exclusive(() => planSegments(handles, publication, anyLost));
  const built: NewSegment[] = [];
  try {
    const done = await buildParts(handles, exclusive, publication, plan.pieces, nextSegmentId, built);
    if (!done.ok) return await giveUp(handles, built, done);
    const deadRows = await exclusive(() => commit(handles, publication, plan.staleIds, built));
    return ok({ added: built, staleIds: plan.staleIds, deadRows });
  } catch (cause) {
    await removeSegmentFiles(handles.segmentFolder, idsOf(built));
    throw cause;
  }
}

/** Puts what was built into `built`, also when it fails: none is under way any more then. */
async function buildParts(
  handles: StoreHandles,
  exclusive: OneByOne,
  publication: Publication,
  pieces: number,
  nextSegmentId: () => number,
  built: NewSegment[],
): Promise<Result<void>> {
  const parts = Math.ceil(pieces / SEGMENT_GOAL_PIECES);
  let next = 0;
  let failed: Failed | undefined;
  const buildNext = async (): Promise<void> => {
    while (next < parts && failed === undefined) {
      const first = Math.floor((next * pieces) / parts);
      const end = Math.floor(((next + 1) * pieces) / parts);
      next += 1;
      const segment = await buildPart(handles, exclusive, publication, nextSegmentId(), first, end).catch((cause) => {
        next = parts;
        throw cause;
      });
      if (segment.ok) built.push(segment.value);
      else failed ??= segment;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: BUILDS_AT_ONCE }, buildNext));
  built.sort((a, b) => a.first - b.first);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return failed ?? ok(undefined);
}

async function giveUp(handles: StoreHandles, built: readonly NewSegment[], failed: Failed): Promise<Failed> {
  await removeSegmentFiles(handles.segmentFolder, idsOf(built));
  return failed;
}

/** Leaves the tables `gone`, `fresh` and `stale`, and `plan`: the pieces to build from, numbered in their order. */
async function planSegments(handles: StoreHandles, { freshIds, goneIds }: Publication, anyLost: boolean) {
  const { writer } = handles;
  await fillIds(handles, "gone", goneIds);
  await fillIds(handles, "fresh", freshIds);
  await fillIds(handles, "stale", []);
  // Only figures, or how far a conversation was read.
  if (freshIds.length + goneIds.length === 0 && !anyLost) return { staleIds: [], pieces: 0 };
  const sizes: SegmentSize[] = [];
  const sizeSql = `SELECT segment_id, any_value(s.documents),
      count(p.doc_id) FILTER (WHERE p.doc_id NOT IN (SELECT id FROM gone))
    FROM segments s LEFT JOIN placements p USING (segment_id) GROUP BY segment_id`;
  for await (const rows of readRows(writer, sizeSql)) {
    for (const [id, documents, live] of rows)
      sizes.push({ segmentId: Number(id), documents: Number(documents), live: Number(live) });
  }
  const wantedSql = anyLost ? ALL_WANTED_SQL : WANTED_SQL;
  const unplaced = await countRows(handles, `SELECT count(*) FROM (${wantedSql})`);
  const staleIds = chooseStale(sizes, unplaced);
  await fillIds(handles, "stale", staleIds);
  await writer.run(`CREATE OR REPLACE TEMP TABLE plan AS SELECT row_number() OVER
    (ORDER BY source, session_id, doc_id, ordinal) - 1 AS n, doc_id, ordinal FROM (${wantedSql})`);
  return { staleIds, pieces: await countRows(handles, "SELECT count(*) FROM plan") };
}

/** Pieces to build from: of fresh documents, and what lives in segments that go. */
const WANTED_SQL = `SELECT d.source, d.session_id, c.doc_id, c.ordinal FROM chunks c JOIN documents d USING (doc_id)
  WHERE d.doc_id IN (SELECT id FROM fresh) AND d.doc_id NOT IN (SELECT id FROM gone)
  UNION ALL SELECT d.source, d.session_id, p.doc_id, p.ordinal FROM placements p JOIN documents d USING (doc_id)
  WHERE p.segment_id IN (SELECT id FROM stale) AND p.doc_id NOT IN (SELECT id FROM gone)`;

/** The same when segments were lost: everything that will be searched and lies in no segment that stays. */
const ALL_WANTED_SQL = `SELECT d.source, d.session_id, c.doc_id, c.ordinal FROM chunks c JOIN documents d USING (doc_id)
  WHERE (NOT d.staged OR d.doc_id IN (SELECT id FROM fresh)) AND d.doc_id NOT IN (SELECT id FROM gone)
    AND NOT EXISTS (SELECT 1 FROM placements p WHERE p.doc_id = c.doc_id AND p.ordinal = c.ordinal
      AND p.segment_id NOT IN (SELECT id FROM stale))`;

function chooseStale(sizes: readonly SegmentSize[], unplaced: number): number[] {
  const isWorn = ({ documents, live }: SegmentSize) => documents - live > documents * DEAD_LIMIT_SHARE;
  const worn = sizes.filter(isWorn);
  const stale = worn.map(({ segmentId }) => segmentId);
  let pieces = worn.reduce((sum, { live }) => sum + live, unplaced);
  const others = sizes.filter((size) => !isWorn(size) && size.live < SEGMENT_GOAL_PIECES / 2);
  for (const { segmentId, live } of others.sort((a, b) => a.live - b.live)) {
    if (live > pieces * MERGE_FACTOR) break;
    stale.push(segmentId);
    pieces += live;
  }
  return stale;
}

async function buildPart(
  handles: StoreHandles,
  exclusive: OneByOne,
  { build, signal }: Publication,
  segmentId: number,
  first: number,
  end: number,
): Promise<Result<NewSegment>> {
  if (signal.aborted) return fail("cancelled", "indexing was stopped", { hint: "index again to go on" });
  const inputFile = segmentInputFile(handles.segmentFolder, segmentId);
  try {
    // DuckDB's threads write it and a worker reads it: the texts never pass through this one.
    await exclusive(() =>
      handles.writer.run(`COPY (SELECT c.chunk_id AS id, key, kind, author, session_id, labels, at_ms, ordinal, title, text
        FROM plan p JOIN chunks c USING (doc_id, ordinal) JOIN documents USING (doc_id)
        WHERE n >= ${first} AND n < ${end} ORDER BY n) TO ${sqlText(inputFile)} (FORMAT json)`),
    );
    const file = segmentFile(handles.segmentFolder, segmentId);
    const built = await build({ inputFile, file }, signal);
    return built.ok ? ok({ ...built.value, segmentId, documents: end - first, dead: undefined, first }) : built;
  } finally {
    await rm(inputFile, { force: true });
  }
}

/** Gives the rows that died in segments that stay. */
async function commit(
  handles: StoreHandles,
  publication: Publication,
  staleIds: readonly number[],
  built: readonly NewSegment[],
): Promise<Map<number, number[]>> {
  const { writer } = handles;
  const { BIGINT, INTEGER } = handles.duckdb;
  const dying = `SELECT segment_id, row FROM placements WHERE doc_id IN (SELECT id FROM gone)
    AND segment_id NOT IN (SELECT id FROM stale)`;
  const deadRows = new Map<number, number[]>();
  for await (const rows of readRows(writer, dying)) {
    for (const [segmentId, row] of rows) {
      const dead = deadRows.get(Number(segmentId));
      if (dead === undefined) deadRows.set(Number(segmentId), [Number(row)]);
      else dead.push(Number(row));
    }
  }
  await inTransaction(writer, async () => {
    await writer.run(`INSERT INTO dead ${dying}`);
    await writer.run("DELETE FROM placements WHERE doc_id IN (SELECT id FROM gone)");
    await dropDocuments(writer, "gone");
    if (staleIds.length > 0) {
      for (const table of ["segments", "placements", "dead"])
        await writer.run(`DELETE FROM ${table} WHERE segment_id IN (SELECT id FROM stale)`);
    }
    for (const { segmentId, first, documents } of built) {
      await writer.run(`INSERT INTO placements SELECT ${segmentId}, n - ${first}, doc_id, ordinal FROM plan
        WHERE n >= ${first} AND n < ${first + documents}`);
    }
    const segmentRows = built.map(({ segmentId, documents, crc32 }) => [BigInt(segmentId), documents, BigInt(crc32)]);
    await appendRows(writer, "segments", [BIGINT, INTEGER, BIGINT], segmentRows);
    await writer.run("UPDATE documents SET staged = false WHERE staged AND doc_id IN (SELECT id FROM fresh)");
    await adopt(handles, publication);
    await putWatermarks(handles, publication.watermarks);
    await putFigures(handles, publication);
  });
  return deadRows;
}

async function adopt({ writer }: StoreHandles, { adopted }: Publication): Promise<void> {
  if (adopted === undefined) return;
  const { folder, source } = adopted;
  await writer.run(
    `UPDATE documents SET source = $1
     WHERE starts_with(source, 'folder:') AND source <> $1 AND starts_with(key, $2) AND NOT staged`,
    [source, prefixOf(folder)],
  );
}

/** A folder takes the place of those in it that were listed before. */
async function putFigures({ writer }: StoreHandles, { figures, forgotten }: Publication): Promise<void> {
  if (forgotten !== undefined) await writer.run("DELETE FROM runs WHERE source = $1", [forgotten]);
  if (figures === undefined) return;
  const { source, skipped, removed, errors } = figures;
  await writer.run("DELETE FROM runs WHERE source = $1", [source]);
  if (source.startsWith("folder:"))
    await writer.run("DELETE FROM runs WHERE starts_with(source, $1)", [prefixOf(source)]);
  await writer.run("INSERT INTO runs VALUES ($1, $2, $3, $4)", [source, skipped, removed, errors]);
}

/** A number below 0 forgets a conversation. */
async function putWatermarks(handles: StoreHandles, watermarks: ReadonlyMap<string, number>): Promise<void> {
  if (watermarks.size === 0) return;
  const { writer } = handles;
  const { VARCHAR, INTEGER } = handles.duckdb;
  await writer.run("CREATE OR REPLACE TEMP TABLE moved(session_id VARCHAR, seq INTEGER)");
  await appendRows(writer, "moved", [VARCHAR, INTEGER], [...watermarks]);
  await writer.run("DELETE FROM watermarks WHERE session_id IN (SELECT session_id FROM moved)");
  await writer.run("INSERT INTO watermarks SELECT * FROM moved WHERE seq >= 0");
}

async function countRows({ writer }: StoreHandles, sql: string): Promise<number> {
  return Number((await writer.runAndReadAll(sql)).getRows()[0]?.[0]);
}

function idsOf(segments: readonly StoredSegment[]): number[] {
  return segments.map(({ segmentId }) => segmentId);
}
