import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { openJournal } from "../core/journal/jsonl-journal.ts";
import { openTestMemory, type TestMemory } from "../core/memory/fixtures/memory-bench.ts";
import { memoryPool } from "../core/memory/worker/memory-pool.ts";
import { type Figure, printFigures } from "./figure.ts";
import { median } from "./house.ts";

/** As the daemon runs it; `npm run bundle` makes it. */
const WORKER_FILE = join(import.meta.dirname, "../dist/memory-worker.js");
const CHUNKS = Number(process.env.BENCH_MEMORY_CHUNKS ?? 100_000);
const CHUNKS_A_FILE = 100;
const WORDS = 20_000;
const WORDS_A_CHUNK = 150;
const SEARCHES = 100;
const STARTS = 9;
const NOTES = 1_000;
const DELAY_RESOLUTION_MS = 1;
const NANOSECONDS_A_MS = 1e6;

const never = new AbortController().signal;
const builtin = () => ({ kind: "computed", name: "builtin" }) as const;

/** What memory costs as a whole: its start, its hold on the loop, its notes. How fast the legs are is measured beside. */
export async function benchMemory(): Promise<readonly Figure[]> {
  const home = await mkdtemp(join(tmpdir(), "clawd-bench-memory-"));
  const opened = await openJournal({ dir: join(home, "journal"), now: Date.now });
  if (!opened.ok) throw new Error(opened.failure.message);
  const open = () => {
    const pool = memoryPool(WORKER_FILE);
    return openTestMemory(join(home, "memory"), opened.value, { embedder: builtin, now: Date.now, pool });
  };
  try {
    await writeCorpus(join(home, "corpus"));
    const indexed = await whileWatched(open, (memory) => index(memory, join(home, "corpus")));
    const searched = await whileWatched(open, async (memory) => {
      await memory.embedded();
      for (let at = 0; at < SEARCHES; at += 1) await memory.find(`word${at * 7} word${at * 131}`);
    });
    const starts = [];
    for (let pass = 0; pass < STARTS; pass += 1) starts.push(await timeFirstAnswer(open));
    const rebuilt = await whileWatched(open, async (memory) => {
      for await (const progress of memory.rebuild(never)) if (!progress.ok) throw new Error(progress.failure.message);
    });
    return [
      ...[
        { name: "loop held while indexing, longest", value: indexed.heldMs, unit: "ms", reach: 50 },
        { name: "loop held while searching, longest", value: searched.heldMs, unit: "ms", reach: 50 },
        { name: "first answer after a start", value: median(starts), unit: "ms", reach: 500 },
      ].map((figure) => ({ ...figure, note: `${CHUNKS} chunks` })),
      {
        ...{
          name: "rebuilding / start",
          value: rebuilt.tookMs / median(starts),
          unit: "x",
          reach: undefined,
          least: 8,
        },
        note: `${(rebuilt.tookMs / 1000).toFixed(1)} s to rebuild`,
      },
      ...(await benchNotes(home, open)),
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

/** How long work took, and how long at most nothing else could run meanwhile. */
async function whileWatched(
  open: () => TestMemory,
  work: (memory: TestMemory) => Promise<void>,
): Promise<{ readonly tookMs: number; readonly heldMs: number }> {
  const memory = open();
  // Loading DuckDB is part of a start, which has a figure of its own.
  await memory.find("word1");
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const startMs = performance.now();
  await work(memory);
  const tookMs = performance.now() - startMs;
  delay.disable();
  await memory.close();
  return { tookMs, heldMs: delay.max / NANOSECONDS_A_MS };
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
  const viewer = { workspace: "", sessionId: "" };
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
  database.close();
  await memory.close();
  const ratio = median(own) / median(sqlite);
  return [
    {
      ...{ name: "remember, many at once / SQLite WAL FULL", value: ratio, unit: "x", reach: 1 },
      note: `${median(own).toFixed(3)} ms a note, similar ones looked for`,
    },
  ];
}

if (import.meta.main) printFigures("memory", await benchMemory());
