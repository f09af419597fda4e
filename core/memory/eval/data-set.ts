import { createReadStream } from "node:fs";
import { join } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";
import type { Judgements } from "./metrics.ts";

const DOCUMENTS_LIMIT = 500_000;
const QUERIES_LIMIT = 100_000;
const JUDGEMENTS_LIMIT = 5_000_000;
const DOCUMENT_LIMIT_CHARS = 1_048_576;
/** A text with every character escaped, and what stands around it. */
const LINE_LIMIT_CHARS = 8 * DOCUMENT_LIMIT_CHARS;

export type EvalDocument = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** The conversation that it is a message of; those of one come in their order. Empty for anything else. */
  readonly session: string;
};
export type EvalQuery = { readonly id: string; readonly text: string; readonly judgements: Judgements };

/** Says what is wrong where; caught at the edge of this file. */
class DataSetError extends Error {}

/** The documents of docs.jsonl (`{"_id" or "id", "title"?, "text", "session"?}` a line), in batches of some size. */
export async function* readDocuments(folder: string, batchDocuments: number): AsyncGenerator<Result<EvalDocument[]>> {
  const seen = new Set<string>();
  let batch: EvalDocument[] = [];
  try {
    for await (const { line, place } of linesOf(folder, "docs.jsonl")) {
      const document = recordOf(line, place);
      const { id } = document;
      if (seen.has(id)) throw new DataSetError(`${place}: the id ${JSON.stringify(id)} is there twice`);
      seen.add(id);
      if (seen.size > DOCUMENTS_LIMIT) throw new DataSetError(`${place}: more than ${DOCUMENTS_LIMIT} documents`);
      batch.push(document);
      if (batch.length < batchDocuments) continue;
      yield ok(batch);
      batch = [];
    }
    if (batch.length > 0) yield ok(batch);
  } catch (cause) {
    yield unreadable(cause);
  }
}

/** The queries of queries.jsonl that qrels.tsv (`query-id`, `corpus-id`, `score`, with or without a header) finds something relevant for. */
export async function readQueries(folder: string): Promise<Result<EvalQuery[]>> {
  try {
    const judgements = await readJudgements(folder);
    const queries: EvalQuery[] = [];
    for await (const { line, place } of linesOf(folder, "queries.jsonl")) {
      const { id, text } = recordOf(line, place);
      const judged = judgements.get(id);
      if (judged === undefined || ![...judged.values()].some((grade) => grade > 0)) continue;
      queries.push({ id, text, judgements: judged });
      if (queries.length > QUERIES_LIMIT) throw new DataSetError(`${place}: more than ${QUERIES_LIMIT} queries`);
    }
    if (queries.length === 0) throw new DataSetError(`${folder}: no query has a relevant document in qrels.tsv`);
    return ok(queries);
  } catch (cause) {
    return unreadable(cause);
  }
}

async function readJudgements(folder: string): Promise<Map<string, Map<string, number>>> {
  const judgements = new Map<string, Map<string, number>>();
  let count = 0;
  for await (const { line, place, number } of linesOf(folder, "qrels.tsv")) {
    const fields = line.trim().split(/\s+/);
    // TREC's form has a column of zeros between query and document.
    const [query = "", document = "", grade = ""] = fields.length === 4 ? fields.toSpliced(1, 1) : fields;
    if (query === "" || document === "" || !/^-?\d+(\.\d+)?$/.test(grade)) {
      if (number === 1) continue;
      throw new DataSetError(`${place}: not "query-id, corpus-id, score"`);
    }
    const judged = judgements.get(query) ?? new Map<string, number>();
    judged.set(document, Number(grade));
    judgements.set(query, judged);
    count += 1;
    if (count > JUDGEMENTS_LIMIT) throw new DataSetError(`${place}: more than ${JUDGEMENTS_LIMIT} judgements`);
  }
  return judgements;
}

/** Lines that are not empty; none of them is read further than its limit. */
async function* linesOf(folder: string, name: string) {
  let number = 0;
  for await (const line of splitLines(createReadStream(join(folder, name), "utf8"))) {
    number += 1;
    const place = `${name}, line ${number}`;
    if (line.length > LINE_LIMIT_CHARS)
      throw new DataSetError(`${place}: a line holds at most ${LINE_LIMIT_CHARS} characters`);
    if (line.trim() !== "") yield { line, number, place };
  }
}

/** The last one may be cut where it is far over the limit. */
async function* splitLines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of texts) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > LINE_LIMIT_CHARS) break;
  }
  yield rest;
}

function recordOf(line: string, place: string): EvalDocument {
  const record = parse(line, place);
  const id = record._id ?? record.id;
  if ((typeof id !== "string" && typeof id !== "number") || typeof record.text !== "string") {
    throw new DataSetError(`${place}: needs "_id" or "id", and "text"`);
  }
  if (record.text.length > DOCUMENT_LIMIT_CHARS) {
    throw new DataSetError(`${place}: a text holds at most ${DOCUMENT_LIMIT_CHARS} characters`);
  }
  const { title, session } = record;
  return {
    id: String(id),
    title: typeof title === "string" ? title : "",
    text: record.text,
    session: typeof session === "string" ? session : "",
  };
}

function parse(line: string, place: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new DataSetError(`${place}: not JSON`, { cause });
  }
  if (typeof value !== "object" || value === null) throw new DataSetError(`${place}: not a JSON object`);
  return { ...value };
}

function unreadable(cause: unknown) {
  const hint = "a data set is a folder with docs.jsonl, queries.jsonl and qrels.tsv";
  if (cause instanceof DataSetError) return fail("invalid", cause.message, { hint, cause });
  const { code, path } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT") return fail("not_found", `there is no ${path ?? "data set"}`, { hint, cause });
  if (code !== undefined) return fail("unavailable", `the data set cannot be read: ${String(cause)}`, { hint, cause });
  throw cause;
}
