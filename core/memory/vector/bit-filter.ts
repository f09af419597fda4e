import { type KernelHouse, SCAN_LIMIT_ROWS, scratchAddresses } from "./kernel.ts";
import { layOutBlock, type VectorBlock } from "./vector-block.ts";

// Where very many vectors are scanned, reading their bytes takes long. The signs of their numbers are an eighth of that, and
// say which few rows are worth it.

/** With fewer numbers in all rows together, bytes are read in some milliseconds. */
export const FILTER_LEAST_NUMBERS = 150_000_000;
/** Bits that leave more than this save nothing. */
const USEFUL_LIMIT_SHARE = 1 / 8;
/** However few rows a share is: so many for each row that is scored again. */
const LEAST_ROWS_A_WANTED = 4;

type Part = {
  readonly block: VectorBlock;
  readonly mask: Uint8Array;
  readonly from?: number;
  readonly to?: number;
};

/**
 * The same parts, each with a mask of those rows only whose signs are near those of the query in scratch memory. Unchanged
 * where there is too little to scan, or bits do not help. All parts are of the query's dimensions.
 */
export function narrowByBits<T extends Part>(
  kernels: KernelHouse,
  parts: readonly T[],
  wanted: number,
  leastNumbers: number,
): readonly T[] {
  const useful = parts.filter(({ block }) => block.nearShare > 0 && block.nearShare <= USEFUL_LIMIT_SHARE);
  const atMost = useful.reduce((sum, { block }) => sum + block.rows * block.dimensions, 0);
  if (useful.length === 0 || atMost < leastNumbers) return parts;
  const live = new Map(useful.map((part) => [part, countLive(part)]));
  const numbers = useful.reduce((sum, part) => sum + (live.get(part) ?? 0) * part.block.dimensions, 0);
  if (numbers < leastNumbers) return parts;
  const histogram = new Uint32Array(2 ** 16);
  const distances = new Map(useful.map((part) => [part, measure(kernels, part, histogram)]));
  const share = useful.reduce((sum, part) => sum + (live.get(part) ?? 0) * part.block.nearShare, 0);
  const limit = distanceOf(histogram, Math.max(share, wanted * LEAST_ROWS_A_WANTED));
  return parts.map((part) => {
    const own = distances.get(part);
    return own === undefined ? part : { ...part, mask: maskOf(part, own, limit) };
  });
}

function countLive({ mask, block, from = 0, to = block.rows }: Part): number {
  let count = 0;
  for (let row = from; row < to; row += 1) count += mask[row] ?? 0;
  return count;
}

/** The distance of each row that may be found, counted in the histogram too. */
function measure(kernels: KernelHouse, part: Part, histogram: Uint32Array): Uint16Array {
  const { block, mask, from = 0, to = block.rows } = part;
  const kernel = kernels.kernelOf(block.memory);
  const { bits, bitStrideBytes } = layOutBlock(block);
  const { queryBits, distances } = scratchAddresses;
  const all = new Uint16Array(block.rows);
  for (let base = from; base < to; base += SCAN_LIMIT_ROWS) {
    const end = Math.min(base + SCAN_LIMIT_ROWS, to);
    kernel.scanBits(bits, bitStrideBytes, base, end, queryBits, distances);
    all.set(kernels.scratch.distances.subarray(0, end - base), base);
  }
  for (let row = from; row < to; row += 1) {
    if (mask[row] !== 1) continue;
    const distance = all[row] ?? 0;
    histogram[distance] = (histogram[distance] ?? 0) + 1;
  }
  return all;
}

/** The smallest distance within which there are so many rows. */
function distanceOf(histogram: Uint32Array, rows: number): number {
  let counted = 0;
  for (let distance = 0; distance < histogram.length; distance += 1) {
    counted += histogram[distance] ?? 0;
    if (counted >= rows) return distance;
  }
  return histogram.length;
}

function maskOf({ mask, block, from = 0, to = block.rows }: Part, distances: Uint16Array, limit: number): Uint8Array {
  const near = new Uint8Array(block.rows);
  for (let row = from; row < to; row += 1) if ((distances[row] ?? 0) <= limit) near[row] = mask[row] ?? 0;
  return near;
}
