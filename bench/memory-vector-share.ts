// (p) One search by vectors as the daemon runs it, over one thread and over two, in turn.
import { join } from "node:path";
import { createAnalyzer } from "../core/memory/lexical/analyzer.ts";
import { parseQuery } from "../core/memory/lexical/query-text.ts";
import { buildSegment } from "../core/memory/lexical/segment-build.ts";
import { makeVectors } from "../core/memory/vector/fixtures/vectors.ts";
import { buildVectorBlock } from "../core/memory/vector/vector-block.ts";
import { type MemoryPool, memoryPool } from "../core/memory/worker/memory-pool.ts";
import type { SearchedSegment, SearchRequest } from "../core/memory/worker/search-task.ts";
import { type Figure, printFigures } from "./figure.ts";
import { median } from "./house.ts";

const WORKER_FILE = join(import.meta.dirname, "../dist/memory-worker.js");
const VECTORS = Number(process.env.BENCH_SHARED_VECTORS ?? 100_000);
const DIMENSIONS = 1_536;
const SEGMENT_ROWS = 16_384;
const HITS = 10;
const ROUNDS = 41;

export async function benchSharedScan(): Promise<readonly Figure[]> {
  const segments: SearchedSegment[] = [];
  for (let first = 0; first < VECTORS; first += SEGMENT_ROWS)
    segments.push(segmentOf(first, Math.min(SEGMENT_ROWS, VECTORS - first)));
  const [queryVector] = makeVectors(1, 1, DIMENSIONS, 0);
  const query = parseQuery("anything", 0);
  if (!query.ok) throw new Error(query.failure.message);
  const request: SearchRequest = {
    ...{ segments, query: query.value, mode: "vector", filter: {}, scopes: [], queryVector },
    rules: { lexicalWeight: 1, vectorWeight: 1, halfLifeMs: 0, nowMs: 0, limit: HITS },
  };
  const pool = memoryPool(WORKER_FILE);
  try {
    const alone = () => timed(pool.run("search", request, "front"));
    const shared = () => timed(pool.search(request));
    // Threads start, and each opens what it searches.
    await Promise.all([alone(), shared(), shared()]);
    const times = await takeTurns(alone, shared);
    return [
      {
        ...{ name: "search by vectors, two threads over one", value: times.ratio, unit: "×", reach: undefined },
        ...{ least: 1.6, note: `${times.sharedMs.toFixed(1)} and ${times.aloneMs.toFixed(1)} ms (medians)` },
      },
    ];
  } finally {
    await pool.close();
  }
}

async function takeTurns(alone: () => Promise<number>, shared: () => Promise<number>) {
  const [aloneMs, sharedMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    aloneMs.push(await alone());
    sharedMs.push(await shared());
  }
  return { aloneMs: median(aloneMs), sharedMs: median(sharedMs), ratio: median(aloneMs) / median(sharedMs) };
}

async function timed(work: ReturnType<MemoryPool["search"]>): Promise<number> {
  const startMs = performance.now();
  const found = await work;
  if (!found.ok || found.value.length !== HITS) throw new Error("the search found something else");
  return performance.now() - startMs;
}

/** Vectors without words. */
function segmentOf(first: number, rows: number): SearchedSegment {
  const group = { key: "/corpus", kind: "file", author: "file", scope: "", sessionId: "", labels: [] } as const;
  const documents = Array.from({ length: rows }, (_, row) => ({
    ...{ id: first + row, group: 0, title: "", text: "", atMs: 0 },
  }));
  const buffer = buildSegment({ groups: [{ ...group, weight: 1, expiresAtMs: 0 }], documents }, createAnalyzer());
  const block = buildVectorBlock(DIMENSIONS, makeVectors(first + 1, rows, DIMENSIONS, 0), false);
  return { key: first, buffer, dead: undefined, vectors: { block, key: first } };
}

if (process.argv[1] === import.meta.filename)
  printFigures(`search by ${VECTORS.toLocaleString("en")} vectors`, await benchSharedScan());
