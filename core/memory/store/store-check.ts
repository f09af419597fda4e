import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { openSegment } from "../lexical/segment.ts";
import { readRows } from "./duckdb.ts";
import { readSegmentFile, segmentFile } from "./segment-files.ts";
import type { CheckVectorFiles } from "./store.ts";
import type { StoreHandles } from "./store-handles.ts";

/** Problems told of one kind; more are counted. */
const LISTED_LIMIT = 5;

/** What must give no row, and what it means when it does. */
const RULES: readonly (readonly [string, string])[] = [
  [
    "pieces of documents that are in no segment, and would not be found",
    `SELECT d.key FROM documents d JOIN chunks c USING (doc_id)
     WHERE NOT d.staged AND NOT EXISTS (SELECT 1 FROM placements p WHERE p.doc_id = c.doc_id AND p.ordinal = c.ordinal)`,
  ],
  [
    "pieces that are in more than one segment, and would be found twice",
    `SELECT any_value(d.key) FROM placements p JOIN documents d USING (doc_id)
     GROUP BY p.doc_id, p.ordinal HAVING count(*) > 1`,
  ],
  [
    "pieces with the same id",
    `SELECT any_value(d.key) FROM chunks c JOIN documents d USING (doc_id) WHERE NOT d.staged
     GROUP BY c.chunk_id HAVING count(*) > 1`,
  ],
  [
    "documents with another number of pieces than they should have",
    `SELECT d.key FROM documents d LEFT JOIN chunks c USING (doc_id)
     GROUP BY d.doc_id, d.key, d.pieces HAVING count(c.doc_id) <> d.pieces`,
  ],
  [
    "documents that are there twice",
    "SELECT key FROM documents WHERE NOT staged GROUP BY source, key HAVING count(*) > 1",
  ],
  [
    "pieces of no document",
    "SELECT CAST(chunk_id AS VARCHAR) FROM chunks WHERE doc_id NOT IN (SELECT doc_id FROM documents)",
  ],
  [
    "pieces in segments that are not there, or of documents that are gone",
    `SELECT CAST(doc_id AS VARCHAR) FROM placements WHERE doc_id NOT IN (SELECT doc_id FROM documents WHERE NOT staged)
     OR segment_id NOT IN (SELECT segment_id FROM segments)`,
  ],
  [
    "segments with rows that are neither there nor gone",
    `SELECT CAST(segment_id AS VARCHAR) FROM segments s WHERE documents <>
     (SELECT count(*) FROM placements p WHERE p.segment_id = s.segment_id) + (SELECT count(*) FROM dead d WHERE d.segment_id = s.segment_id)`,
  ],
];

/** Everything that does not fit together, in words. `outgoing` are segments whose files are about to be removed. */
export async function findProblems(
  handles: StoreHandles,
  outgoing: readonly number[],
  areWhole: CheckVectorFiles,
  signal: AbortSignal,
): Promise<Result<readonly string[]>> {
  const problems: string[] = [];
  const connection = await handles.instance.connect();
  try {
    for (const [meaning, sql] of RULES) {
      if (signal.aborted) return stopped();
      const names: string[] = [];
      for await (const rows of readRows(connection, sql)) for (const [name] of rows) names.push(String(name));
      if (names.length > 0) problems.push(`${names.length} ${meaning}: ${listed(names)}`);
    }
    for await (const rows of readRows(connection, "SELECT segment_id, documents, crc32 FROM segments ORDER BY 1")) {
      for (const [id, documents, checksum] of rows) {
        if (signal.aborted) return stopped();
        const file = segmentFile(handles.segmentFolder, Number(id));
        const ids = await idsInOrder(handles, Number(id));
        const problem = await checkFile(file, Number(checksum), Number(documents), ids);
        if (problem !== undefined) problems.push(problem);
      }
    }
  } finally {
    connection.closeSync();
  }
  const unknown = await findOrphans(handles, outgoing);
  if (unknown.length > 0) problems.push(`${unknown.length} files of no segment: ${listed(unknown)}`);
  const vectorFiles = (await readdir(handles.segmentFolder))
    .filter((name) => name.endsWith(".vec") && !outgoing.includes(Number.parseInt(name, 10)))
    .sort();
  const whole = await areWhole(
    vectorFiles.map((name) => join(handles.segmentFolder, name)),
    signal,
  );
  if (!whole.ok) return whole;
  const broken = vectorFiles.filter((_, index) => whole.value[index] !== true);
  if (broken.length > 0) problems.push(`${broken.length} damaged files of vectors: ${listed(broken)}`);
  return ok(problems);
}

function stopped(): Result<never> {
  return fail("cancelled", "the check was stopped", { hint: "start it again" });
}

async function checkFile(
  file: string,
  checksum: number,
  documents: number,
  ids: ReadonlyMap<number, number>,
): Promise<string | undefined> {
  const read = await readSegmentFile(file, checksum);
  if (!read.ok) return read.failure.message;
  const segment = openSegment(read.value);
  if (segment === undefined) return `${file} is no segment of this version`;
  if (segment.ids.length !== documents) return `${file} holds ${segment.ids.length} pieces, not ${documents}`;
  for (const [row, id] of ids) if (segment.ids[row] !== id) return `${file} has another piece in row ${row}`;
  return undefined;
}

async function idsInOrder(handles: StoreHandles, segmentId: number): Promise<Map<number, number>> {
  const ids = new Map<number, number>();
  const sql = "SELECT row, chunk_id FROM placements JOIN chunks USING (doc_id, ordinal) WHERE segment_id = $1";
  for await (const rows of readRows(handles.reader, sql, [BigInt(segmentId)]))
    for (const [row, id] of rows) ids.set(Number(row), Number(id));
  return ids;
}

async function findOrphans(handles: StoreHandles, outgoing: readonly number[]): Promise<string[]> {
  const valid = new Set<number>(outgoing);
  for await (const rows of readRows(handles.reader, "SELECT segment_id FROM segments"))
    for (const [id] of rows) valid.add(Number(id));
  const names = await readdir(handles.segmentFolder);
  return names.filter((name) => name.endsWith(".seg") && !valid.has(Number.parseInt(name, 10)));
}

function listed(names: readonly string[]): string {
  const more = names.length - LISTED_LIMIT;
  return names.slice(0, LISTED_LIMIT).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
