import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { openJournal } from "../core/journal/jsonl-journal.ts";
import { openTestMemory, type TestMemory } from "../core/memory/fixtures/memory-bench.ts";
import type { MemoryOptions } from "../core/memory/memory.ts";
import { openVectorIndices } from "../core/memory/tool/vector-indices.ts";
import { randomNumbers } from "../core/memory/vector/fixtures/vectors.ts";
import { memoryPool } from "../core/memory/worker/memory-pool.ts";
import { type Figure, printFigures } from "./figure.ts";
import { median } from "./house.ts";

/** As the daemon runs it; `npm run bundle` makes it. */
const WORKER_FILE = join(import.meta.dirname, "../dist/memory-worker.js");
const CHUNKS = Number(process.env.BENCH_MEMORY_CHUNKS ?? 100_000);
const CHUNKS_NOTE = `${CHUNKS} chunks`;
const CHUNKS_A_FILE = 100;
const WORDS = 20_000;
const WORDS_A_CHUNK = 150;
const SEARCHES = 100;
const STARTS = 9;
const NOTES = 1_000;
const VECTORS = 10_000;
const DIMENSIONS = 1_536;
const VECTORS_AT_ONCE = 100;
/** Vectors of all chunks take longer than anybody waits for a bench: it looks on for so long. */
const EMBEDDING_LIMIT_MS = 8_000;
const DELAY_RESOLUTION_MS = 1;
const NANOSECONDS_A_MS = 1e6;

const never = new AbortController().signal;
const builtin = () => ({ kind: "computed", name: "builtin" }) as const;
const viewer = { workspace: "", sessionId: "" };

/** What memory costs as a whole: its start, its hold on the loop, its notes. How fast the legs are is measured beside. */
export async function benchMemory(): Promise<readonly Figure[]> {
  const home = await mkdtemp(join(tmpdir(), "clawd-bench-memory-"));
  const opened = await openJournal({ dir: join(home, "journal"), now: Date.now });
  if (!opened.ok) throw new Error(opened.failure.message);
  const open = (more: Partial<MemoryOptions> = {}) =>
    openTestMemory(join(home, "memory"), opened.value, {
      ...{ now: Date.now, pool: memoryPool(WORKER_FILE), newId: randomUUID },
      ...more,
    });
  const embedding = () => open({ embedder: builtin });
  try {
    await writeCorpus(join(home, "corpus"));
    const indexed = await whileWatched(open, (memory) => index(memory, join(home, "corpus")));
    const starts = [];
    for (let pass = 0; pass < STARTS; pass += 1) starts.push(await timeFirstAnswer(open));
    const embedded = await whileWatched(embedding, async (memory) => {
      await Promise.race([memory.embedded(), setTimeout(EMBEDDING_LIMIT_MS)]);
    });
    const times: number[] = [];
    const searched = await whileWatched(embedding, async (memory) => {
      for (let at = 0; at < SEARCHES; at += 1) {
        const startMs = performance.now();
        await memory.find(`word${at * 7} word${at * 131}`);
        times.push(performance.now() - startMs);
      }
    });
    const answer = median(starts);
    return [
      held("while indexing", indexed, CHUNKS_NOTE),
      held("while embedding", embedded, CHUNKS_NOTE),
      held("while searching", searched, CHUNKS_NOTE),
      ...[
        { name: "a search, texts and snippets included", value: median(times), unit: "ms", reach: undefined },
        { name: "first answer after a start", value: answer, unit: "ms", reach: 500 },
      ].map((figure) => ({ ...figure, note: CHUNKS_NOTE })),
      {
        ...{ name: "building anew / start", value: indexed.tookMs / answer, unit: "x", reach: undefined, least: 8 },
        note: `${(indexed.tookMs / 1000).toFixed(1)} s to build, vectors come later`,
      },
      ...(await benchNotes(home, open)),
      ...(await benchFirstRemember(open)),
      await benchVectorIndex(home),
    ];
  } finally {
    await opened.value.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** The same words every time, common ones far more often than rare ones. */
async function writeCorpus(folder: string): Promise<void> {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const word = () => `word${Math.floor(WORDS ** random())}`;
  await mkdir(folder, { recursive: true });
  for (let file = 0; file * CHUNKS_A_FILE < CHUNKS; file += 1) {
    const parts = Array.from({ length: CHUNKS_A_FILE }, (_, part) => {
      return `## Part ${part}\n\n${Array.from({ length: WORDS_A_CHUNK }, word).join(" ")}`;
    });
    await writeFile(join(folder, `file${file}.md`), parts.join("\n\n"));
  }
}

async function index(memory: TestMemory, folder: string): Promise<void> {
  for await (const progress of memory.index({ kind: "folder", folder }, never)) {
    if (!progress.ok) throw new Error(progress.failure.message);
  }
}

type Watched = { readonly tookMs: number; readonly heldMs: number; readonly idleMs: number };

/** How long work took, and how long at most nothing else could run meanwhile. */
async function whileWatched(open: () => TestMemory, work: (memory: TestMemory) => Promise<void>): Promise<Watched> {
  const memory = open();
  // Loading DuckDB is part of a start, which has a figure of its own.
  await memory.find("word1");
  try {
    return await watched(() => work(memory));
  } finally {
    await memory.close();
  }
}

async function watched(work: () => Promise<void>): Promise<Watched> {
  const idle = idleThread();
  await once(idle, "message");
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const startMs = performance.now();
  await work();
  const tookMs = performance.now() - startMs;
  // A hold is seen when it is over.
  await setTimeout(DELAY_RESOLUTION_MS * 2);
  delay.disable();
  idle.postMessage("tell");
  const [idleMs] = (await once(idle, "message")) as [number];
  await idle.terminate();
  return { tookMs, heldMs: delay.max / NANOSECONDS_A_MS, idleMs };
}

/** Where other processes take the processor away, a loop is late that does nothing at all: so late was one, beside. */
function idleThread(): Worker {
  return new Worker(
    `const { monitorEventLoopDelay } = require("node:perf_hooks");
     const { parentPort } = require("node:worker_threads");
     const delay = monitorEventLoopDelay({ resolution: ${DELAY_RESOLUTION_MS} });
     delay.enable();
     parentPort.on("message", () => parentPort.postMessage(delay.max / ${NANOSECONDS_A_MS}));
     parentPort.postMessage("ready");`,
    { eval: true },
  );
}

async function timeFirstAnswer(open: () => TestMemory): Promise<number> {
  const startMs = performance.now();
  const memory = open();
  const found = await memory.find("word3 word77", { mode: "lexical" });
  const tookMs = performance.now() - startMs;
  await memory.close();
  if (found.length === 0) throw new Error("nothing found after a start");
  return tookMs;
}

/** Many at once, as an agent that remembers a list does; SQLite writes them one by one, each safe before the next. */
async function benchNotes(home: string, open: () => TestMemory): Promise<readonly Figure[]> {
  const texts = Array.from({ length: NOTES }, (_, at) => `note ${at} says that word${at} is ${at * 7}`);
  const own: number[] = [];
  const sqlite: number[] = [];
  const memory = open();
  const database = new DatabaseSync(join(home, "notes.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE notes(text TEXT)");
  const insert = database.prepare("INSERT INTO notes VALUES (?)");
  for (let pass = 0; pass < STARTS; pass += 1) {
    const startMs = performance.now();
    const kept = await Promise.all(
      texts.map((text) => memory.remember({ text: `${text} (${pass})`, author: "agent", viewer, scope: "person" })),
    );
    if (kept.some(({ ok }) => !ok)) throw new Error("a note was not kept");
    const halfMs = performance.now();
    for (const text of texts) insert.run(`${text} (${pass})`);
    own.push((halfMs - startMs) / NOTES);
    sqlite.push((performance.now() - halfMs) / NOTES);
  }
  const alone: number[] = [];
  const sqliteAlone: number[] = [];
  for (const text of texts.slice(0, SEARCHES)) {
    const startMs = performance.now();
    await memory.remember({ text: `${text} alone`, author: "agent", viewer, scope: "person" });
    const halfMs = performance.now();
    insert.run(`${text} alone`);
    alone.push(halfMs - startMs);
    sqliteAlone.push(performance.now() - halfMs);
  }
  database.close();
  await memory.close();
  const ratio = median(own) / median(sqlite);
  return [
    {
      ...{ name: "remember, many at once / SQLite WAL FULL", value: ratio, unit: "x", reach: 1 },
      note: `${median(own).toFixed(3)} ms a note, similar ones looked for`,
    },
    {
      ...{
        name: "remember, one alone / SQLite WAL FULL",
        value: median(alone) / median(sqliteAlone),
        unit: "x",
        reach: 12,
      },
      note: `${median(alone).toFixed(2)} ms a note`,
    },
  ];
}

/** All notes are read from their journal, and looked through for similar ones. */
async function benchFirstRemember(open: () => TestMemory): Promise<readonly Figure[]> {
  const memory = open();
  const seen = await watched(async () => {
    const kept = await memory.remember({ text: "the first after a start", author: "agent", viewer, scope: "person" });
    if (!kept.ok) throw new Error(kept.failure.message);
  });
  const counted = await memory.stats();
  await memory.close();
  const note = `${counted.ok ? counted.value.notes : 0} notes`;
  return [
    { name: "first remember after a start", value: seen.tookMs, unit: "ms", reach: undefined, note },
    held("by it", seen, note),
  ];
}

/** A tool's index comes from its journal at its first use. */
async function benchVectorIndex(home: string): Promise<Figure> {
  const journal = await openJournal({ dir: join(home, "vectors"), now: Date.now });
  if (!journal.ok) throw new Error(journal.failure.message);
  const pool = memoryPool(WORKER_FILE);
  const random = randomNumbers(11);
  const vector = () => Float32Array.from({ length: DIMENSIONS }, random);
  const draft = () => ({ vector: vector(), metadata: "", text: "", type: "", source: "", embedder: "" });
  const open = () =>
    openVectorIndices({
      journal: () => Promise.resolve(journal),
      nearest: (request, signal) => pool.run("nearest", request, "front", signal),
      now: Date.now,
    });
  const filled = open();
  await filled.create({ name: "bench", dimension: DIMENSIONS, maxElements: VECTORS, metric: "cosine" });
  for (let from = 0; from < VECTORS; from += VECTORS_AT_ONCE) {
    const added = await filled.add("bench", Array.from({ length: VECTORS_AT_ONCE }, draft));
    if (!added.ok) throw new Error(added.failure.message);
  }
  const fresh = open();
  const query = { vector: vector(), embedder: "", limit: 10 };
  const seen = await watched(async () => {
    const found = await fresh.search("bench", query, never);
    if (!found.ok) throw new Error(found.failure.message);
  });
  await pool.close();
  await journal.value.close();
  const note = `${VECTORS} of ${DIMENSIONS} numbers, answered in ${seen.tookMs.toFixed(0)} ms`;
  return held("by the first use of a vector index", seen, note);
}

function held(when: string, { heldMs, idleMs }: Watched, note: string): Figure {
  const beside = `${note}; a thread that did nothing: ${idleMs.toFixed(1)} ms`;
  return { name: `loop held ${when}, longest`, value: heldMs, unit: "ms", reach: 50, note: beside };
}

if (import.meta.main) printFigures("memory", await benchMemory());
