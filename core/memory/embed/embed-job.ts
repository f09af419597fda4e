import type { Embedder } from "../../domain/embedder.ts";
import { type Failed, fail, ok, type Result } from "../../domain/failure.ts";
import type { SegmentText, Store } from "../store/store.ts";
import { fillSheet, type SheetFiller, type VectorSheet } from "./vector-sheet.ts";

/** A segment, stored or in memory, that has no block of vectors yet. */
export type EmbedJob = {
  /** Names it for ever, e.g. "segment 12". */
  readonly name: string;
  /** All rows of the segment, dead ones too. */
  readonly rows: number;
  /** Those that are not dead, each once. */
  texts(): AsyncIterable<Result<readonly Omit<SegmentText, "id">[]>>;
  /** Does all of it in one go, where the embedder is a thread of ours: then nothing is asked, kept or finished. */
  readonly compute?: (report: (rows: number) => void, signal: AbortSignal) => Promise<Result<void>>;
  /** Makes the block and lets searches have it. */
  finish(sheet: VectorSheet, signal: AbortSignal): Promise<Result<void>>;
};

/** Where vectors are kept between runs and restarts. */
export type VectorCache = Pick<Store, "vectorsOf" | "putVectors">;

export type EmbedMeans = {
  readonly embedder: Embedder;
  /** Undefined for vectors that are cheaper to compute than to keep. */
  readonly cache: VectorCache | undefined;
  /** How many rows have their vector, or were refused one. */
  readonly report: (rows: number) => void;
  readonly signal: AbortSignal;
};

export type EmbeddedJob = {
  readonly sheet: VectorSheet;
  /** Texts that the embedder refuses; their rows have no vector. */
  readonly refused: number;
};

const CACHE_PAGE_HASHES = 512;
/** What is lost at most when a run is cut off. */
const PAGE_TEXTS = 64;
/** So many texts refused and none accepted: it is not the texts. */
const REFUSED_LIMIT_TEXTS = 3;

/** One text of a job, with all rows that hold it. */
type Wanted = { readonly textHash: string; readonly text: string; readonly rows: number[] };

/**
 * Gets the vectors of one job: first those that are kept, then the embedder is asked, and what it gives is kept before the
 * next question. Cut off at any moment, the next call goes on from there.
 */
export async function embedTexts(job: EmbedJob, means: EmbedMeans): Promise<Result<EmbeddedJob>> {
  const wanted = await readTexts(job, means.signal);
  if (!wanted.ok) return wanted;
  const sheet = fillSheet(job.rows);
  const missing = await takeKept(wanted.value, sheet, means);
  if (!missing.ok) return missing;
  const tally: Tally = { done: rowsOf(wanted.value) - rowsOf(missing.value), accepted: 0, refused: 0 };
  means.report(tally.done);
  for (let from = 0; from < missing.value.length; from += PAGE_TEXTS) {
    const page = missing.value.slice(from, from + PAGE_TEXTS);
    const embedded = await embedPage(page, sheet, means, tally);
    if (!embedded.ok) return embedded;
  }
  return ok({ sheet: sheet.finish(means.embedder.dimensions || 1), refused: tally.refused });
}

/** Texts that stand in several rows are asked for once. */
async function readTexts(job: EmbedJob, signal: AbortSignal): Promise<Result<readonly Wanted[]>> {
  const wanted = new Map<string, Wanted>();
  for await (const batch of job.texts()) {
    if (!batch.ok) return batch;
    if (signal.aborted) return stopped(job.name);
    for (const { row, textHash, title, text } of batch.value) {
      const known = wanted.get(textHash);
      if (known === undefined) wanted.set(textHash, { textHash, text: `${title}\n${text}`, rows: [row] });
      else known.rows.push(row);
    }
  }
  return ok([...wanted.values()]);
}

/** Gives the texts that no vector is kept of. */
async function takeKept(
  wanted: readonly Wanted[],
  sheet: SheetFiller,
  { embedder, cache, signal }: EmbedMeans,
): Promise<Result<readonly Wanted[]>> {
  if (cache === undefined) return ok(wanted);
  const missing: Wanted[] = [];
  for (let from = 0; from < wanted.length; from += CACHE_PAGE_HASHES) {
    if (signal.aborted) return stopped("embedding");
    const page = wanted.slice(from, from + CACHE_PAGE_HASHES);
    const kept = await cache.vectorsOf(
      embedder.id,
      page.map(({ textHash }) => textHash),
    );
    if (!kept.ok) return kept;
    for (const item of page) {
      const vector = kept.value.get(item.textHash);
      if (vector === undefined) missing.push(item);
      else if (embedder.dimensions > 0 && embedder.dimensions !== vector.length) return otherModel(embedder);
      else if (putAll(sheet, item, vector) !== undefined) return otherModel(embedder);
    }
  }
  return ok(missing);
}

type Tally = { done: number; accepted: number; refused: number };

/** A page that is refused is asked for in halves, until the texts at fault stand alone and are left out. */
async function embedPage(
  page: readonly Wanted[],
  sheet: SheetFiller,
  means: EmbedMeans,
  tally: Tally,
): Promise<Result<void>> {
  const { embedder, cache, report, signal } = means;
  if (signal.aborted) return stopped("embedding");
  const texts = page.map(({ text }) => text);
  const embedded = await embedder.embed(texts, "document", signal);
  if (!embedded.ok) {
    if (embedded.failure.code !== "invalid") return embedded;
    if (page.length > 1) {
      const half = page.length >> 1;
      const first = await embedPage(page.slice(0, half), sheet, means, tally);
      return first.ok ? embedPage(page.slice(half), sheet, means, tally) : first;
    }
    tally.refused += 1;
    if (tally.accepted === 0 && tally.refused >= REFUSED_LIMIT_TEXTS) return embedded;
  } else {
    const rows: { textHash: string; vector: Float32Array }[] = [];
    for (const [at, item] of page.entries()) {
      const vector = embedded.value[at];
      if (vector === undefined) return fail("unavailable", `the embedder ${embedder.id} gave too few vectors`);
      if (putAll(sheet, item, vector) !== undefined) return otherModel(embedder);
      rows.push({ textHash: item.textHash, vector });
    }
    const put = await cache?.putVectors(embedder.id, rows);
    if (put?.ok === false) return put;
    tally.accepted += page.length;
  }
  tally.done += rowsOf(page);
  report(tally.done);
  return ok(undefined);
}

function putAll(sheet: SheetFiller, { rows }: Wanted, vector: Float32Array): string | undefined {
  let problem: string | undefined;
  for (const row of rows) problem ??= sheet.put(row, vector);
  return problem;
}

function rowsOf(items: readonly Wanted[]): number {
  return items.reduce((sum, { rows }) => sum + rows.length, 0);
}

function otherModel({ id, dimensions }: Embedder): Failed {
  return fail(
    "conflict",
    `the embedder ${id} now gives vectors of ${dimensions} numbers, those that are kept are of another length`,
    {
      hint: "name the new model in embedding_model under [memory]: then all vectors are asked for anew, under its name",
    },
  );
}

function stopped(what: string): Failed {
  return fail("cancelled", `${what} was stopped`, { hint: "it goes on by itself" });
}
