// (m) Nearest neighbours in memory, exact, one thread, beside others that do it, interleaved query by query in one process.
// The floor is how long this machine takes to read the same bytes. `VECTOR_SETS=100000x1536,300000x1536` measures
// other sets, `VECTOR_PEERS=0` only our own ways.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { randomNumbers } from "../core/memory/vector/fixtures/vectors.ts";
import { scratchAddresses, threadKernels } from "../core/memory/vector/kernel.ts";
import { layOutBlock } from "../core/memory/vector/vector-block.ts";
import { loadVectorBlock } from "../core/memory/vector/vector-file.ts";
import { type ScanPart, scanBlocks } from "../core/memory/vector/vector-scan.ts";
import { type Figure, printFigures } from "./figure.ts";
import {
  duckDb,
  NEAREST,
  type Peer,
  sqliteVec,
  usearchExact,
  usearchGraph,
  type VectorSet,
} from "./memory-vector-peers.ts";
import { type BenchBlock, blocksOf, makeSet, QUERIES, readFloor } from "./memory-vector-set.ts";

const SETS = process.env.VECTOR_SETS ?? "10000x1536,100000x384";
const WARM_LIMIT_TIMES = 200;
const WARM_LIMIT_MS = 700;
/** The graph takes minutes for larger sets, and what it shows shows here. */
const GRAPH_LIMIT_NUMBERS = Number(process.env.GRAPH_LIMIT_NUMBERS ?? 16_000_000);
/** With fewer rows, what each query costs beside the scan is seen in the ratios: told, not judged. */
const BAR_LEAST_ROWS = 100_000;
/** Signs are worth their look from here on. */
const SIGNS_LEAST_NUMBERS = 400_000_000;

const BYTES = "bytes, then floats";
const FILTERED = "the same, 1% allowed";
const SIGNS = "signs, bytes, floats";
const FLOATS = "floats";
const FLOOR = "floor: read all floats";

type Contender = Peer & { readonly samplesMs: number[]; hits: number };

export async function benchMemoryVectors(): Promise<void> {
  for (const set of SETS.split(",")) {
    const [count = 0, dimensions = 0] = set.split("x").map(Number);
    const folder = mkdtempSync(join(tmpdir(), "bench-vectors-"));
    try {
      await measureSet(count, dimensions, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function measureSet(count: number, dimensions: number, folder: string): Promise<void> {
  const { set, queries } = makeSet(count, dimensions);
  const blocks = blocksOf(set, folder);
  const parts = blocks.map(({ light, file, first }): ScanPart => {
    const ids = Array.from({ length: light.rows }, (_, row) => first + row);
    return { block: light, mask: new Uint8Array(light.rows).fill(1), ids, file };
  });
  const filtered = parts.map((part) => ({ ...part, mask: part.mask.map((_, row) => (row % 100 === 0 ? 1 : 0)) }));
  const scan = (over: readonly ScanPart[], leastNumbers: number) => (query: Float32Array) =>
    scanBlocks(over, query, NEAREST, threadKernels(), leastNumbers).map(({ id }) => id);
  const peers: Peer[] = [
    { ...idle, name: BYTES, search: scan(parts, Number.POSITIVE_INFINITY) },
    { ...idle, name: FILTERED, search: scan(filtered, Number.POSITIVE_INFINITY) },
    ...(blocks[0]?.light.nearShare ? [{ ...idle, name: SIGNS, search: scan(parts, 0) }] : []),
    { ...idle, name: FLOATS, search: (query) => scanFloats(blocks, query) },
    { ...idle, name: FLOOR, search: await readFloor(blocks) },
    ...(process.env.VECTOR_PEERS === "0"
      ? []
      : [usearchExact(set), sqliteVec(set), await duckDb(set, 1), await duckDb(set, availableParallelism())]),
  ];
  const contenders = peers.map((peer): Contender => ({ ...peer, samplesMs: [], hits: 0 }));
  for (const contender of contenders) await warmUp(contender, queries);
  const random = randomNumbers(7);
  for (const query of queries) {
    const exact = new Set(scanFloats(blocks, query));
    // Each has another one before it each time, so that nobody always finds the caches as the same one left them.
    for (const contender of shuffled(contenders, random)) {
      const startedMs = performance.now();
      const found = await contender.search(query);
      contender.samplesMs.push(performance.now() - startedMs);
      contender.hits += found.filter((row) => exact.has(row)).length;
    }
  }
  printFigures(`${count} vectors of ${dimensions} dimensions, ${NEAREST} nearest, one thread`, [
    ...figuresOf(contenders, set),
    memoryFigure(blocks, set),
    loadFigure(blocks),
  ]);
  for (const { close } of contenders) close();
  if (count * dimensions <= GRAPH_LIMIT_NUMBERS)
    printFigures("an approximate index of the same", graphFigures(set, blocks, queries));
}

/** A daemon's code has long been compiled. */
async function warmUp({ search }: Peer, queries: readonly Float32Array[]): Promise<void> {
  const startedMs = performance.now();
  for (let time = 0; time < WARM_LIMIT_TIMES && performance.now() - startedMs < WARM_LIMIT_MS; time += 1)
    await search(queries[time % queries.length] ?? new Float32Array());
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

const idle = { buildMs: 0, close: () => {} };

/** What the second pass does for a few rows, over all of them. */
function scanFloats(blocks: readonly BenchBlock[], query: Float32Array): number[] {
  const kernels = threadKernels();
  const { scratch } = kernels;
  scratch.queryFloats.fill(0);
  scratch.queryFloats.set(query);
  const { queryFloats, report } = scratchAddresses;
  const best: { readonly id: number; readonly score: number }[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const { whole, first } of blocks) {
    const layout = layOutBlock(whole);
    const kernel = kernels.kernelOf(whole.memory);
    for (let from = 0; from < whole.rows; from += scratch.scores.length) {
      const to = Math.min(from + scratch.scores.length, whole.rows);
      kernel.scanFloat32(layout.exact, layout.exactStrideBytes, from, to, queryFloats, report);
      for (let row = from; row < to; row += 1) {
        const score = scratch.scores[row - from] ?? 0;
        if (score <= least) continue;
        best.push({ id: first + row, score });
        best.sort((a, b) => b.score - a.score);
        best.length = Math.min(best.length, NEAREST);
        if (best.length === NEAREST) least = best.at(-1)?.score ?? least;
      }
    }
  }
  return best.map(({ id }) => id);
}

function figuresOf(contenders: readonly Contender[], set: VectorSet): Figure[] {
  const p50 = (name: string) => at(contenders.find((contender) => contender.name === name)?.samplesMs ?? [], 0.5);
  const [bytes, signs] = [p50(BYTES), p50(SIGNS)];
  const figures = contenders.map(({ name, samplesMs, hits, buildMs }): Figure => {
    const recall = hits / (samplesMs.length * NEAREST);
    const note = [
      `p99 ${at(samplesMs, 0.99).toFixed(2)} ms`,
      name === FLOOR || name === FILTERED ? "" : `recall ${recall.toFixed(4)}`,
      buildMs > 0 ? `built in ${(buildMs / 1000).toFixed(1)} s` : "",
    ];
    return {
      name,
      value: at(samplesMs, 0.5),
      unit: "ms",
      reach: undefined,
      note: note.filter((part) => part !== "").join(", "),
    };
  });
  const recallOf = (name: string) =>
    (contenders.find((contender) => contender.name === name)?.hits ?? 0) / QUERIES / NEAREST;
  const duck = Math.min(p50("DuckDB, 1 thread"), p50(`DuckDB, ${availableParallelism()} threads`));
  const times = (name: string, value: number, least: number): Figure => ({
    ...{ name, value, unit: "×", reach: undefined },
    ...(set.count >= BAR_LEAST_ROWS ? { least } : {}),
    note: "as fast, bytes then floats, p50",
  });
  const large = set.count * set.dimensions >= SIGNS_LEAST_NUMBERS;
  const ratios: Figure[] = [
    {
      name: "floats / floor",
      value: p50(FLOATS) / p50(FLOOR),
      unit: "×",
      reach: set.count >= BAR_LEAST_ROWS ? 1.25 : undefined,
      note: "",
    },
    times("beside sqlite-vec", p50("sqlite-vec") / bytes, 8),
    times("beside DuckDB, its best", duck / bytes, 5),
    times("beside usearch exact", p50("usearch exact, 1 thread") / bytes, 3),
    { name: "1% allowed / all", value: p50(FILTERED) / bytes, unit: "×", reach: 1, note: "a filter costs nothing" },
    { name: "recall of bytes", value: recallOf(BYTES), unit: "", reach: undefined, least: 0.999, note: "of exact" },
    {
      ...{ name: "signs beside bytes", value: bytes / signs, unit: "×", reach: undefined },
      ...(large ? { least: 3 } : {}),
      note: `as fast; recall ${recallOf(SIGNS).toFixed(3)}`,
    },
  ];
  return [...figures, ...ratios.filter(({ value }) => !Number.isNaN(value))];
}

function memoryFigure(blocks: readonly BenchBlock[], { rows }: VectorSet): Figure {
  const bytes = blocks.reduce((sum, { light }) => sum + light.memory.buffer.byteLength, 0);
  return {
    ...{ name: "memory", value: bytes / 2 ** 20, unit: "MiB", reach: undefined },
    note: `${((bytes / rows.byteLength) * 100).toFixed(0)}% of the floats, which stay on disk`,
  };
}

/** After a restart; from the page cache, where files lie that were just written. */
function loadFigure(blocks: readonly BenchBlock[]): Figure {
  const startedMs = performance.now();
  const loaded = blocks.filter(({ file }) => loadVectorBlock(file) !== undefined).length;
  const ms = performance.now() - startedMs;
  return { name: "load", value: ms, unit: "ms", reach: undefined, note: `${loaded} files, checksums included` };
}

/** What a graph costs to build, and what it finds when rows are deleted or only few may be found. */
function graphFigures(set: VectorSet, blocks: readonly BenchBlock[], queries: readonly Float32Array[]): Figure[] {
  const graph = usearchGraph(set);
  const figure = (name: string, value: number, unit: string, note: string): Figure => ({
    name,
    value,
    unit,
    reach: undefined,
    note,
  });
  const recall = (allowed: (row: number) => boolean) => {
    let [shared, wanted] = [0, 0];
    for (const query of queries) {
      const exact = exactAllowed(blocks, query, allowed);
      shared += (graph.search(query) as readonly number[]).filter((row) => allowed(row) && exact.has(row)).length;
      wanted += exact.size;
    }
    return shared / wanted;
  };
  const [all, few] = [recall(() => true), recall((row) => row % 100 === 0)];
  const startedMs = performance.now();
  for (let row = 0; row < set.count; row += 2) graph.remove(row);
  const removeUs = ((performance.now() - startedMs) / (set.count / 2)) * 1000;
  return [
    figure("built in", graph.buildMs / 1000, "s", "of exact blocks: nothing to build but bytes"),
    figure("recall", all, "", "at ef 64"),
    figure("recall, 1% allowed", few, "", "the library takes no filter: dropped after the search"),
    figure(
      "recall, half of it removed",
      recall((row) => row % 2 === 1),
      "",
      `${removeUs.toFixed(0)} µs a removal`,
    ),
  ];
}

function exactAllowed(
  blocks: readonly BenchBlock[],
  query: Float32Array,
  allowed: (row: number) => boolean,
): Set<number> {
  const parts = blocks.map(({ whole, first }): ScanPart => {
    const ids = Array.from({ length: whole.rows }, (_, row) => first + row);
    return { block: whole, ids, mask: Uint8Array.from(ids, (id) => (allowed(id) ? 1 : 0)) };
  });
  return new Set(scanBlocks(parts, query, NEAREST).map(({ id }) => id));
}

function at(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

if (process.argv[1] === import.meta.filename) await benchMemoryVectors();
