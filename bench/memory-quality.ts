import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EvalFigures, SearchMode } from "../core/domain/memory.ts";
import type { EvalDocument } from "../core/memory/eval/data-set.ts";
import { type EvalIndex, evaluateDataSet } from "../core/memory/eval/evaluate.ts";
import { evaluationIndex } from "../core/memory/evaluation-index.ts";
import { numberBuffers } from "../core/memory/search.ts";
import { type MemoryPool, memoryPool } from "../core/memory/worker/memory-pool.ts";
import { chatSet } from "./eval-chat.ts";
import { codeSet } from "./eval-code.ts";
import { docsSet } from "./eval-docs.ts";
import { type EvalSet, mistypedSet, writeEvalSet } from "./eval-set.ts";
import type { Figure } from "./figure.ts";

const ROOT = join(import.meta.dirname, "..");
/** As the daemon runs it; `npm run bundle` makes it. */
const WORKER_FILE = join(ROOT, "dist/memory-worker.js");

/** The sets that are made of what lies in this repository. */
export function ownSets(): readonly { readonly name: string; readonly set: EvalSet }[] {
  return [
    { name: "documents", set: docsSet(ROOT) },
    { name: "code", set: codeSet(ROOT) },
    { name: "conversations", set: chatSet() },
  ];
}

export type Quality = {
  readonly queries: number;
  /** nDCG@10 of each mode … */
  readonly own: Readonly<Record<SearchMode, number>>;
  /** … of words with two mistakes in each question … */
  readonly mistyped: number;
  /** … and of FTS5 as it comes. */
  readonly sqlite: number;
};

/** How well the right documents are found. One pool serves many sets, with one `numberOf`. */
export async function measureQuality(
  set: EvalSet,
  { pool, numberOf }: { readonly pool: MemoryPool; readonly numberOf: (buffer: SharedArrayBuffer) => number },
): Promise<Quality> {
  const folder = await mkdtemp(join(tmpdir(), "clawd-quality-"));
  const ask = async (name: string, asked: EvalSet, index: EvalIndex) => {
    await writeEvalSet(join(folder, name), asked);
    return figuresOf(join(folder, name), index);
  };
  const ownIndex = () => evaluationIndex(pool, numberOf, new AbortController().signal);
  try {
    const own = await ask("clean", set, ownIndex());
    const mistyped = await ask("mistyped", mistypedSet(set), ownIndex());
    const sqlite = await ask("peer", set, sqliteIndex());
    return {
      queries: set.queries.length,
      own: { hybrid: at(own, "hybrid"), lexical: at(own, "lexical"), vector: at(own, "vector") },
      mistyped: at(mistyped, "lexical"),
      sqlite: at(sqlite, "lexical"),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function figuresOf(folder: string, index: EvalIndex): Promise<readonly EvalFigures[]> {
  const figures: EvalFigures[] = [];
  for await (const each of evaluateDataSet(folder, index, new AbortController().signal)) {
    if (!each.ok) throw new Error(each.failure.message);
    figures.push(each.value);
  }
  return figures;
}

function at(figures: readonly EvalFigures[], mode: SearchMode): number {
  return figures.find((each) => each.mode === mode)?.ndcgAt10 ?? Number.NaN;
}

/** FTS5 as it comes: any of the words, no stemming. */
export function sqliteIndex(): EvalIndex {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE texts USING fts5(title, text)");
  const insert = database.prepare("INSERT INTO texts(rowid, title, text) VALUES (?, ?, ?)");
  const select = database.prepare("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?");
  let rows = 0;
  return {
    async add(documents: readonly EvalDocument[]) {
      for (const { title, text } of documents) insert.run(++rows, title, text);
      return { ok: true, value: undefined };
    },
    async ask(_mode, text, limit) {
      const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`);
      const found = select.all(words.join(" OR "), limit);
      return { ok: true, value: found.map(({ rowid }) => Number(rowid) - 1) };
    },
  };
}

/** Ratios and thousandths of nDCG@10 on each set. */
export async function benchMemoryQuality(): Promise<readonly Figure[]> {
  const pool = memoryPool(WORKER_FILE);
  const numberOf = numberBuffers();
  try {
    const figures: Figure[] = [];
    for (const { name, set } of ownSets()) {
      const { queries, own, mistyped, sqlite } = await measureQuality(set, { pool, numberOf });
      const note = `nDCG@10 ${own.lexical.toFixed(3)}, ${queries} questions`;
      const line = { unit: "x", reach: undefined } as const;
      figures.push(
        { ...line, name: `${name}: words / FTS5`, value: own.lexical / sqlite, least: 1.1, note },
        {
          ...line,
          name: `${name}: what vectors add`,
          value: (own.hybrid - own.lexical) * 1_000,
          unit: "‰",
          least: -5,
          note,
        },
        { ...line, name: `${name}: two mistakes / none`, value: mistyped / own.lexical, least: 0.85, note },
      );
    }
    return figures;
  } finally {
    await pool.close();
  }
}
