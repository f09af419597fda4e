// Others that search by words: SQLite's FTS5, DuckDB SQL over postings tables and MiniSearch, over the same texts.
import { DatabaseSync } from "node:sqlite";
import { type DuckDBConnection, DuckDBDataChunk, type DuckDBInstance, INTEGER } from "@duckdb/node-api";
import MiniSearch from "minisearch";
import { createAnalyzer } from "../core/memory/lexical/analyzer.ts";
import { termCount, termText } from "../core/memory/lexical/dictionary.ts";
import type { Segment } from "../core/memory/lexical/segment.ts";
import type { Corpus } from "./fixtures/lexical-corpus.ts";

/** Hits that everybody is asked for. */
export const HITS = 10;
const APPEND_ROWS = 2_048;

/** Asks one contender; gives the milliseconds that it took. */
export type Ask = (text: string) => number | Promise<number>;

/** SQLite's own full-text index, over all texts. */
export function fts5(corpus: Corpus, tokenizer: string) {
  const database = new DatabaseSync(":memory:");
  database.exec(`CREATE VIRTUAL TABLE chunk USING fts5(text, tokenize = '${tokenizer}'); BEGIN`);
  const insert = database.prepare("INSERT INTO chunk (rowid, text) VALUES (?, ?)");
  for (const [id, text] of corpus.texts.entries()) insert.run(id, text);
  database.exec("COMMIT");
  const select = database.prepare(`SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY rank LIMIT ${HITS}`);
  return {
    ask(text: string, operator: string): number {
      const startMs = performance.now();
      const words = [...new Set(text.match(/\w+/g))].map((word) => `"${word}"`);
      select.all(words.join(operator));
      return performance.now() - startMs;
    },
    close: () => database.close(),
  };
}

/** BM25 in SQL: a dictionary, postings in the order of their terms, and lengths. */
export async function duckdbAsk(instance: DuckDBInstance, segments: readonly Segment[]): Promise<Ask> {
  const connection = await instance.connect();
  await connection.run(
    "CREATE TABLE postings (term INTEGER, doc INTEGER, tf INTEGER); CREATE TABLE docs (doc INTEGER, len INTEGER)",
  );
  const terms = new Map<string, number>();
  const postings = await rowAppender(connection, "postings", 3);
  const docs = await rowAppender(connection, "docs", 2);
  let first = 0;
  for (const segment of segments) {
    for (const [row, length] of segment.lengths.entries()) docs.add(first + row, length);
    for (let number = 0; number < termCount(segment); number += 1) {
      const text = termText(segment, number);
      const term = terms.get(text) ?? terms.size;
      terms.set(text, term);
      for (let at = segment.postingStarts[number] ?? 0; at < (segment.postingStarts[number + 1] ?? 0); at += 1)
        postings.add(term, first + (segment.postingDocuments[at] ?? 0), segment.postingFrequencies[at] ?? 0);
    }
    first += segment.documents;
  }
  postings.close();
  docs.close();
  await connection.run("CREATE TABLE sorted AS SELECT * FROM postings ORDER BY term, doc; DROP TABLE postings");
  await connection.run("CREATE TABLE dict AS SELECT term, count(*) AS df FROM sorted GROUP BY term");
  const totals = await connection.runAndReadAll("SELECT count(*)::INTEGER, avg(len) FROM docs");
  const [count, average] = totals.getRows()[0] ?? [];
  const analyze = createAnalyzer();
  return async (text) => {
    const startMs = performance.now();
    const wanted = [...new Set(analyze(text))].flatMap((term) => terms.get(term) ?? []);
    if (wanted.length > 0)
      await connection.runAndReadAll(`
        SELECT doc, sum(ln(1 + (${count} - df + 0.5) / (df + 0.5)) * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len / ${average}))) AS score
        FROM sorted JOIN dict USING (term) JOIN docs USING (doc) WHERE term IN (${wanted.join(", ")})
        GROUP BY doc ORDER BY score DESC, doc LIMIT ${HITS}`);
    return performance.now() - startMs;
  };
}

async function rowAppender(connection: DuckDBConnection, table: string, width: number) {
  const appender = await connection.createAppender(table);
  const columns = Array.from({ length: width }, (): number[] => []);
  const flush = () => {
    const chunk = DuckDBDataChunk.create(columns.map(() => INTEGER));
    chunk.setColumns(columns);
    appender.appendDataChunk(chunk);
    for (const column of columns) column.length = 0;
  };
  return {
    add(...row: readonly number[]): void {
      for (const [index, value] of row.entries()) columns[index]?.push(value);
      if (columns[0]?.length === APPEND_ROWS) flush();
    },
    close(): void {
      flush();
      appender.closeSync();
    },
  };
}

export function miniSearchAsk(corpus: Corpus): Ask {
  const index = new MiniSearch({ fields: ["text"] });
  index.addAll(corpus.texts.map((text, id) => ({ id, text })));
  return (text) => {
    const startMs = performance.now();
    index.search(text).slice(0, HITS);
    return performance.now() - startMs;
  };
}
