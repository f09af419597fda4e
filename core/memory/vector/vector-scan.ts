import { closeSync } from "node:fs";
import { type BestScored, bestScored, compareScored } from "../lexical/best-scored.ts";
import { FILTER_LEAST_NUMBERS, narrowByBits } from "./bit-filter.ts";
import {
  createSharedMemory,
  type Kernel,
  type KernelHouse,
  REPORT_LIMIT_ROWS,
  SCAN_LIMIT_ROWS,
  type SharedMemory,
  scratchAddresses,
  threadKernels,
} from "./kernel.ts";
import { normalize, QUERY_OFFSET, quantizeQuery, writeSigns } from "./quantize.ts";
import { type BlockLayout, layOutBlock, type VectorBlock } from "./vector-block.ts";
import { openExactRows, readExactRow } from "./vector-file.ts";

// Nearest neighbours by cosine, without an index to build: all rows are scored as bytes, the best few again as floats. Where
// there are very many, the signs of their numbers choose the rows whose bytes are looked at.

/** How many rows are scored again: bytes alone put one in some fifty wanted rows out of the first ones. */
const RESCORED_PER_HIT = 2;
const RESCORED_LEAST_ROWS = 40;
/** Room for rows that are scored again, sixteen of the largest. */
const RESCORE_BYTES = 1 << 20;
/** A report starts small, because the first rows all look like the best ones. */
const FIRST_REPORT_ROWS = 64;
/** What one thread scans in about a millisecond: telling a second one costs a tenth of that, and its caches are cold. */
const SPLIT_LEAST_BYTES = 8_000_000;

/** A row that a scan found. */
export type FoundRow = {
  /** Number of its block in the scan. */
  readonly block: number;
  readonly row: number;
  readonly id: number;
  readonly score: number;
};

/** One block to scan. Masks and ids go by row. */
export type ScanPart = {
  readonly block: VectorBlock;
  /** 1 for rows that may be found, 0 for all others: filters, scopes and rows that are gone. */
  readonly mask: Uint8Array;
  /** Break ties. */
  readonly ids: ArrayLike<number>;
  /** Where its floats are when they are not in memory; without either, bytes decide. */
  readonly file?: string;
  /** Only rows from the one to before the other; all when absent. */
  readonly from?: number;
  readonly to?: number;
};

/**
 * The rows nearest to a query, best first; those of equal score by id. `score` is the cosine, from -1 to 1. A query without
 * direction, or of another size than a block, finds nothing there. CPU-bound: call it in a worker.
 * @param filterLeastNumbers from so many numbers on, signs choose the rows that are looked at.
 */
export function scanBlocks(
  parts: readonly ScanPart[],
  query: Float32Array,
  limit: number,
  kernels: KernelHouse = threadKernels(),
  filterLeastNumbers: number = FILTER_LEAST_NUMBERS,
): FoundRow[] {
  const unit = normalize(query);
  const scale = loadQuery(kernels, unit);
  if (scale === 0 || limit < 1) return [];
  const wanted = Math.max(limit * RESCORED_PER_HIT, RESCORED_LEAST_ROWS);
  const best = bestScored<FoundRow>(wanted);
  const fitting = parts
    .map((part, number) => ({ ...part, number }))
    .filter(({ block }) => block.dimensions === query.length);
  for (const part of narrowByBits(kernels, fitting, wanted, filterLeastNumbers))
    scanPart(kernels, part.number, part, best);
  const found = best.take().map((row) => ({ ...row, score: cosine(row.score * scale) }));
  return rescore(kernels, parts, found).sort(compareScored).slice(0, limit);
}

/**
 * Cuts one scan into about equal ones, at most so many; each keeps the numbers of the blocks. Too little work stays whole.
 * Give the outcomes to `mergeFound`.
 */
export function splitScan(parts: readonly ScanPart[], threads: number): readonly (readonly ScanPart[])[] {
  const workBytes = parts.map(({ block }) => block.rows * layOutBlock(block).strideBytes);
  const totalBytes = workBytes.reduce((sum, bytes) => sum + bytes, 0);
  if (threads < 2 || totalBytes < SPLIT_LEAST_BYTES) return [parts];
  return Array.from({ length: threads }, (_, thread) => {
    let before = 0;
    return parts.map((part, number) => {
      const bytes = workBytes[number] ?? 0;
      const rowAt = (share: number) => {
        const inside = Math.min(Math.max((totalBytes * share) / threads - before, 0), bytes);
        return bytes === 0 ? 0 : Math.round((inside / bytes) * part.block.rows);
      };
      const [from, to] = [rowAt(thread), rowAt(thread + 1)];
      before += bytes;
      return { ...part, from, to };
    });
  });
}

/** One outcome of the outcomes of `splitScan`'s parts. */
export function mergeFound(outcomes: readonly (readonly FoundRow[])[], limit: number): FoundRow[] {
  return outcomes.flat().sort(compareScored).slice(0, limit);
}

/** Gives the scale of the query's bytes, 0 for one without direction. */
function loadQuery({ scratch }: KernelHouse, unit: Float32Array): number {
  if (unit.length > scratch.queryBytes.length) return 0;
  scratch.queryBytes.fill(QUERY_OFFSET);
  scratch.queryFloats.fill(0);
  scratch.queryFloats.set(unit);
  scratch.queryBits.fill(0);
  writeSigns(unit, scratch.queryBits);
  return quantizeQuery(unit, scratch.queryBytes);
}

function scanPart(kernels: KernelHouse, number: number, part: ScanPart, best: BestScored<FoundRow>): void {
  const { block, mask, ids } = part;
  const { scratch } = kernels;
  const layout = layOutBlock(block);
  const kernel = kernels.kernelOf(block.memory);
  const [from, end] = [Math.max(part.from ?? 0, 0), Math.min(part.to ?? block.rows, block.rows)];
  let room = FIRST_REPORT_ROWS;
  for (let base = from; base < end; base += SCAN_LIMIT_ROWS) {
    const to = Math.min(base + SCAN_LIMIT_ROWS, end);
    loadMask(scratch.mask, mask.subarray(base, to));
    for (let row = base; row < to; ) {
      const [stopped, reported] = scanBytes(kernel, layout, { row, to, base, room, least: best.least() });
      for (let index = 0; index < reported * 2; index += 2) {
        const at = scratch.rows[index] ?? 0;
        best.offer({ block: number, row: at, id: ids[at] ?? 0, score: scratch.scores[index + 1] ?? 0 });
      }
      row = stopped;
      room = Math.min(room * 2, REPORT_LIMIT_ROWS);
    }
  }
}

type Range = {
  readonly row: number;
  readonly to: number;
  /** The row that the mask in scratch memory starts with. */
  readonly base: number;
  readonly room: number;
  readonly least: number;
};

function scanBytes(kernel: Kernel, layout: BlockLayout, { row, to, base, room, least }: Range): [number, number] {
  const { mask, queryBytes, report } = scratchAddresses;
  return kernel.scanInt8(
    layout.bytes,
    layout.scales,
    layout.sums,
    layout.strideBytes,
    row,
    to,
    mask - base,
    queryBytes,
    report,
    room,
    least,
  );
}

/** Rows that a mask is too short for may not be found. */
function loadMask(target: Uint8Array, mask: Uint8Array): void {
  target.set(mask);
  target.fill(0, mask.length);
}

/** The same rows, scored with their floats where those can be had. */
function rescore(kernels: KernelHouse, parts: readonly ScanPart[], found: readonly FoundRow[]): FoundRow[] {
  const scored: FoundRow[] = [];
  for (const [number, part] of parts.entries()) {
    const rows = found.filter(({ block }) => block === number);
    if (rows.length === 0) continue;
    if (part.block.exactInMemory) scored.push(...rescorePart(kernels, part.block, undefined, rows));
    else if (part.file === undefined) scored.push(...rows);
    else {
      const file = openExactRows(part.file);
      try {
        scored.push(...rescorePart(kernels, part.block, file, rows));
      } finally {
        if (file !== undefined) closeSync(file);
      }
    }
  }
  return scored;
}

function rescorePart(
  kernels: KernelHouse,
  block: VectorBlock,
  file: number | undefined,
  rows: readonly FoundRow[],
): FoundRow[] {
  const memory = rescoreMemory();
  const layout = layOutBlock(block);
  const { exactStrideBytes } = layout;
  const batchRows = Math.min(Math.floor(RESCORE_BYTES / exactStrideBytes), REPORT_LIMIT_ROWS);
  const scored: FoundRow[] = [];
  for (let at = 0; at < rows.length; at += batchRows) {
    const batch = rows.slice(at, at + batchRows);
    const readable = batch.map((found, index) =>
      readExactRow(
        file,
        block,
        layout,
        found.row,
        new Uint8Array(memory.buffer, index * exactStrideBytes, exactStrideBytes),
      ),
    );
    const { queryFloats, report } = scratchAddresses;
    kernels.kernelOf(memory).scanFloat32(0, exactStrideBytes, 0, batch.length, queryFloats, report);
    for (const [index, found] of batch.entries()) {
      // What cannot be read, because the segment was just replaced or its file is damaged, keeps the score of its bytes.
      scored.push(readable[index] ? { ...found, score: cosine(kernels.scratch.scores[index] ?? 0) } : found);
    }
  }
  return scored;
}

/** Rounding may carry a score a little beyond its range. */
function cosine(score: number): number {
  return Math.min(Math.max(score, -1), 1);
}

let rescoring: SharedMemory | undefined;

/** Where this thread gathers rows that it scores again. */
function rescoreMemory(): SharedMemory {
  rescoring ??= createSharedMemory(RESCORE_BYTES);
  if (rescoring === undefined) throw new Error("no memory for a scan");
  return rescoring;
}
