// Search by words against SQLite's FTS5, DuckDB SQL over postings tables and MiniSearch: one generated corpus, the same
// 200 queries, every contender asked in turn for each of them. CLAWD_BENCH_CHUNKS says how many chunks (20,000; 70,000 takes three minutes).
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { Piscina } from "piscina";
import type { IndexDocument } from "../core/memory/lexical/index-document.ts";
import { openSegment } from "../core/memory/lexical/segment.ts";
import { type Figure, printFigures } from "./figure.ts";
import { type Corpus, makeCorpus } from "./fixtures/lexical-corpus.ts";
import { build, type Search, type Searched, search } from "./fixtures/lexical-worker.ts";
import { type Ask, duckdbAsk, fts5, HITS, miniSearchAsk } from "./memory-lexical-peers.ts";

const CHUNKS = Number(process.env.CLAWD_BENCH_CHUNKS ?? 20_000);
const SEGMENT_CHUNKS = 16_384;
const THREADS = 2;
const ROUNDS = 9;
/** Peers take long, and their times vary less. */
const PEER_ROUNDS = 1;
/** The first contenders are ours. */
const OWN_CONTENDERS = 2;
/** Above this many chunks MiniSearch takes gigabytes. */
const MINISEARCH_LIMIT_CHUNKS = 70_000;
const WORKER = join(import.meta.dirname, "fixtures/lexical-worker.ts");

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
  const pooledMs = await measurePooled(parts, pool);
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
      note: `${pooledMs.toFixed(0)} ms, from files to files`,
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

/** As the daemon does it: texts come in files and segments go to files, each safe on disk. Threads that have never built. */
async function measurePooled(parts: readonly (readonly IndexDocument[])[], pool: Piscina): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "bench-lexical-"));
  try {
    const requests = parts.map((part, key) => {
      const inputFile = join(dir, `${key}.input`);
      writeFileSync(inputFile, part.map(lineOf).join("\n"));
      return { inputFile, file: join(dir, `${key}.seg`) };
    });
    return await elapsed(() => Promise.all(requests.map((request) => pool.run(request, { name: "buildFile" }))));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function lineOf({ id, text }: IndexDocument): string {
  const about = { key: "/corpus", kind: "file", author: "file", session_id: "", labels: "[]", at_ms: 0, ordinal: id };
  return JSON.stringify({ id, ...about, title: "", text });
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
