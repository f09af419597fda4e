import type { FoundRow } from "../vector/vector-scan.ts";
import type { FusionRules } from "./fusion.ts";
import type { SearchRequest } from "./search-task.ts";

/**
 * Half of a scan, which either of two threads may do: whoever comes first takes it, and the other one reads what was found.
 * So a search never waits for a thread that is busy, starting or gone.
 */
export type ScanShare = SharedArrayBuffer;

const [STATE, COUNT] = [0, 1];
const [FREE, TAKEN, DONE] = [0, 1, 2];
const HEADER_BYTES = 8;
const ROW_NUMBERS = 4;
/** A leg gives so many for each one that is wanted, and at least so many: with fewer, ranks would say too little. */
const LEG_HITS_A_RESULT = 3;
const LEG_LEAST_HITS = 100;
/** More numbers than that are scanned by two threads; with fewer, telling the second one takes longer than it saves. */
const SHARED_LEAST_NUMBERS = 8_000_000;
/** Whoever took it was stopped, or this machine is that slow: then it is done twice. */
const WAIT_LIMIT_MS = 1_000;

/** How many hits each leg of a search gives. */
export function depthOf({ limit }: FusionRules): number {
  return Math.max(limit * LEG_HITS_A_RESULT, LEG_LEAST_HITS);
}

/** A share of a search's scan; undefined for a search that one thread does as fast. */
export function shareOf({ mode, queryVector, segments, rules }: SearchRequest): ScanShare | undefined {
  if (mode === "lexical" || queryVector === undefined) return undefined;
  let numbers = 0;
  for (const { vectors } of segments)
    if (vectors !== undefined) numbers += vectors.block.rows * vectors.block.dimensions;
  return numbers < SHARED_LEAST_NUMBERS ? undefined : makeScanShare(depthOf(rules));
}

/** @param limit how many rows it may find. */
export function makeScanShare(limit: number): ScanShare {
  return new SharedArrayBuffer(HEADER_BYTES + limit * ROW_NUMBERS * Float64Array.BYTES_PER_ELEMENT);
}

/** Does it and gives what was found to the other thread, unless that one has taken it. */
export function helpWith(share: ScanShare, scan: () => readonly FoundRow[]): void {
  if (!take(share)) return;
  const [words, rows] = [wordsOf(share), rowsOf(share)];
  let state = FREE;
  try {
    const found = scan().slice(0, rows.length / ROW_NUMBERS);
    rows.set(found.flatMap(({ block, row, id, score }) => [block, row, id, score]));
    words[COUNT] = found.length;
    state = DONE;
  } finally {
    Atomics.store(words, STATE, state);
    Atomics.notify(words, STATE);
  }
}

/** What was found, by this thread or the other one. Waits, so never call it on the main thread. */
export function finishShare(share: ScanShare, scan: () => readonly FoundRow[]): readonly FoundRow[] {
  if (take(share)) return scan();
  const words = wordsOf(share);
  Atomics.wait(words, STATE, TAKEN, WAIT_LIMIT_MS);
  if (Atomics.load(words, STATE) !== DONE) return scan();
  const rows = rowsOf(share);
  return Array.from({ length: words[COUNT] ?? 0 }, (_, index) => {
    const [block = 0, row = 0, id = 0, score = 0] = rows.subarray(index * ROW_NUMBERS, (index + 1) * ROW_NUMBERS);
    return { block, row, id, score };
  });
}

function take(share: ScanShare): boolean {
  return Atomics.compareExchange(wordsOf(share), STATE, FREE, TAKEN) === FREE;
}

function wordsOf(share: ScanShare): Int32Array<SharedArrayBuffer> {
  return new Int32Array(share, 0, 2);
}

function rowsOf(share: ScanShare): Float64Array {
  return new Float64Array(share, HEADER_BYTES);
}
