// Search by words against SQLite's FTS5, DuckDB SQL over postings tables and MiniSearch: one generated corpus, the same
// 200 queries, every contender asked in turn for each of them. CLAWD_BENCH_CHUNKS says how many chunks (20,000; 70,000 takes four minutes).
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type DuckDBConnection, DuckDBDataChunk, DuckDBInstance, INTEGER } from "@duckdb/node-api";
import MiniSearch from "minisearch";
import { Piscina } from "piscina";
import { createAnalyzer } from "../core/memory/lexical/analyzer.ts";
import { termCount, termText } from "../core/memory/lexical/dictionary.ts";
import type { IndexDocument } from "../core/memory/lexical/index-document.ts";
import { openSegment, type Segment } from "../core/memory/lexical/segment.ts";
import { type Figure, printFigures } from "./figure.ts";
import { type Corpus, makeCorpus } from "./fixtures/lexical-corpus.ts";
import { build, type Search, type Searched, search } from "./fixtures/lexical-worker.ts";

const CHUNKS = Number(process.env.CLAWD_BENCH_CHUNKS ?? 20_000);
const SEGMENT_CHUNKS = 16_384;
const THREADS = 2;
const HITS = 10;
const ROUNDS = 9;
/** Peers take long, and their times vary less. */
const PEER_ROUNDS = 1;
/** The first contenders are ours. */
const OWN_CONTENDERS = 2;
/** Above this many chunks MiniSearch takes gigabytes. */
const MINISEARCH_LIMIT_CHUNKS = 70_000;
const APPEND_ROWS = 2_048;
const WORKER = join(import.meta.dirname, "fixtures/lexical-worker.ts");

/** Asks one contender; gives the milliseconds that it took. */
type Ask = (text: string) => number | Promise<number>;
type Contender = { readonly name: string; readonly ask: Ask; readonly samplesMs: number[] };

export async function benchMemoryLexical(): Promise<Figure[]> {
  const corpus = makeCorpus(CHUNKS);
  const pool = new Piscina({ filename: WORKER, minThreads: THREADS, maxThreads: THREADS });
  const duckdb = await DuckDBInstance.create(":memory:");
  try {
    const { buffers, figures } = await measureBuild(corpus, pool);
    const segments = buffers.map((buffer, key) => ({ key, buffer }));
    const opened = buffers.flatMap((buffer) => openSegment(buffer) ?? []);
    const plain = fts5(corpus, "unicode61");
    const contenders: Contender[] = [
      contender("in its thread", (text) => search({ segments, text, limit: HITS }).ms),
      contender("end to end", async (text) =>
        elapsed(async () => await searchInPool(pool, { segments, text, limit: HITS })),
      ),
      contender("FTS5, any word", (text) => plain.ask(text, " OR ")),
      contender("FTS5, all words", (text) => plain.ask(text, " ")),
      contender("DuckDB SQL", await duckdbAsk(duckdb, opened)),
    ];
    if (CHUNKS <= MINISEARCH_LIMIT_CHUNKS) contenders.push(contender("MiniSearch", miniSearchAsk(corpus)));
    for (const text of corpus.queries) await askInTurn(contenders, text);
    return [...figures, ...queryFigures(contenders)];
  } finally {
    await pool.destroy();
    duckdb.closeSync();
  }
}

/** Each is asked again and again, in turn with the others; its middle time counts, so that a busy machine counts less. */
async function askInTurn(contenders: readonly Contender[], text: string): Promise<void> {
  const times = contenders.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [index, { ask }] of contenders.entries())
      if (index < OWN_CONTENDERS || round < PEER_ROUNDS) times[index]?.push(await ask(text));
  for (const [index, { samplesMs }] of contenders.entries()) {
    const sorted = times[index]?.toSorted((a, b) => a - b) ?? [];
    samplesMs.push(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN);
  }
}

async function searchInPool(pool: Piscina, task: Search): Promise<Searched> {
  return await pool.run(task, { name: "search" });
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function contender(name: string, ask: Ask): Contender {
  return { name, ask, samplesMs: [] };
}

async function measureBuild(corpus: Corpus, pool: Piscina) {
  const documents = corpus.texts.map((text, id): IndexDocument => ({ id, group: 0, title: "", text, atMs: 0 }));
  const parts: IndexDocument[][] = [];
  for (let from = 0; from < documents.length; from += SEGMENT_CHUNKS)
    parts.push(documents.slice(from, from + SEGMENT_CHUNKS));
  let buffers: SharedArrayBuffer[] = [];
  const buildAll = async () => {
    buffers = parts.map(build);
  };
  const beforeMs = await elapsed(buildAll);
  const peerMs = await elapsed(async () => fts5(corpus, "porter unicode61").close());
  const ownMs = (beforeMs + (await elapsed(buildAll))) / 2;
  const pooledMs = await elapsed(async () => await Promise.all(parts.map((part) => pool.run(part, { name: "build" }))));
  const restartMs = await measureRestart(buffers);
  const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
  const figures: Figure[] = [
    {
      name: "index build",
      value: ownMs / peerMs,
      unit: "×",
      reach: 1.6,
      note: `of FTS5 porter; ${ownMs.toFixed(0)} and ${peerMs.toFixed(0)} ms`,
    },
    {
      name: `index build, ${THREADS} threads`,
      value: pooledMs / peerMs,
      unit: "×",
      reach: 1,
      note: `${pooledMs.toFixed(0)} ms`,
    },
    {
      name: "size of index",
      value: bytes / corpus.textBytes,
      unit: "×",
      reach: 0.45,
      note: `of the text, ${(corpus.textBytes / 1e6).toFixed(0)} MB`,
    },
    {
      name: "restart",
      value: ownMs / restartMs,
      unit: "×",
      reach: undefined,
      least: 8,
      note: `faster than building anew; files read, first query answered in ${restartMs.toFixed(1)} ms`,
    },
  ];
  return { buffers, figures };
}

/** From files to the first answer. */
async function measureRestart(buffers: readonly SharedArrayBuffer[]): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "bench-lexical-"));
  try {
    for (const [key, buffer] of buffers.entries()) writeFileSync(join(dir, `${key}.seg`), new Uint8Array(buffer));
    return await elapsed(async () => {
      const segments = buffers.map((_, key) => {
        const bytes = readFileSync(join(dir, `${key}.seg`));
        const buffer = new SharedArrayBuffer(bytes.length);
        new Uint8Array(buffer).set(bytes);
        // Numbers that no other segment of this thread has.
        return { key: -1 - key, buffer };
      });
      search({ segments, text: "the first question after a start", limit: HITS });
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function fts5(corpus: Corpus, tokenizer: string) {
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
async function duckdbAsk(instance: DuckDBInstance, segments: readonly Segment[]): Promise<Ask> {
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

function miniSearchAsk(corpus: Corpus): Ask {
  const index = new MiniSearch({ fields: ["text"] });
  index.addAll(corpus.texts.map((text, id) => ({ id, text })));
  return (text) => {
    const startMs = performance.now();
    index.search(text).slice(0, HITS);
    return performance.now() - startMs;
  };
}

/** How often the peer's time goes into ours, at the median and at the 99th of a hundred. */
function queryFigures(contenders: readonly Contender[]): Figure[] {
  const timesOf = (name: string) =>
    contenders.find((one) => one.name === name)?.samplesMs.toSorted((a, b) => a - b) ?? [];
  const at = (name: string, share: number) => timesOf(name)[Math.floor(timesOf(name).length * share)] ?? Number.NaN;
  const figures: Figure[] = [];
  for (const { name } of contenders)
    figures.push({
      name: `query, ${name}`,
      value: at(name, 0.5),
      unit: "ms",
      reach: undefined,
      note: `p99 ${at(name, 0.99).toFixed(2)} ms`,
    });
  const compare = (own: string, peer: string, p50: number, p99: number | undefined) => {
    if (timesOf(peer).length === 0) return;
    figures.push({
      name: `${own}, p50`,
      value: at(peer, 0.5) / at(own, 0.5),
      unit: "×",
      reach: undefined,
      least: p50,
      note: `faster than ${peer}`,
    });
    if (p99 === undefined) return;
    figures.push({
      name: `${own}, p99`,
      value: at(peer, 0.99) / at(own, 0.99),
      unit: "×",
      reach: undefined,
      least: p99,
      note: `faster than ${peer}`,
    });
  };
  compare("in its thread", "FTS5, any word", 60, 100);
  compare("end to end", "FTS5, any word", 30, 20);
  compare("in its thread", "FTS5, all words", 1, 5);
  compare("in its thread", "DuckDB SQL", 30, undefined);
  compare("in its thread", "MiniSearch", 40, undefined);
  return figures;
}

if (process.argv[1] === import.meta.filename)
  printFigures(`search by words, ${CHUNKS.toLocaleString("en")} chunks`, await benchMemoryLexical());
