import { bestScored } from "../lexical/best-scored.ts";
import { type KernelHouse, type SharedMemory, scratchAddresses, threadKernels } from "./kernel.ts";
import { normalize, writeSigns } from "./quantize.ts";
import type { BlockLayout, BlockShape } from "./vector-block.ts";

// How well signs alone tell near rows from others differs from model to model, so each block measures it on its own rows.

const SAMPLES = 32;
const SAMPLE_NEAREST = 10;
/** So many of the nearest rows of the samples are within the share. */
const SAMPLE_RECALL = 0.99;
/** Questions are less like rows than rows are like each other. */
const MARGIN = 2;
/** How much of another row there is in a sample: a question lies between rows. */
const OTHER_WEIGHT = 0.5;
const SHARE_STEPS = 65_536;

type Block = BlockShape & { readonly memory: SharedMemory };

/**
 * Which share of a block's rows must be taken, those with the nearest signs first, to have nearly all that are nearest.
 * Measured with mixtures of its rows as queries; a multiple of 1 / 65,536, from one of those to 1. A larger set has nearer
 * ones among as many rows, so the share of a block is enough for many.
 */
export function nearShareOf(block: Block, layout: BlockLayout): number {
  const kernels = threadKernels();
  const shares: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const row = Math.floor((sample * block.rows) / SAMPLES);
    const other = (row * 31 + 7) % block.rows;
    const otherFloats = floatsOf(block, layout, other);
    const mixed = floatsOf(block, layout, row).map((number, at) => number + OTHER_WEIGHT * (otherFloats[at] ?? 0));
    const distances = measureSigns(kernels, block, layout, mixed);
    // The rows themselves are near by any measure, and tell nothing.
    for (const near of nearestRows(kernels, block, layout, normalize(mixed)))
      if (near !== row && near !== other) shares.push(shareWithin(distances, distances[near] ?? 0));
  }
  shares.sort((a, b) => a - b);
  const share = shares[Math.floor(shares.length * SAMPLE_RECALL)] ?? 1;
  return Math.min(Math.ceil(share * MARGIN * SHARE_STEPS), SHARE_STEPS) / SHARE_STEPS;
}

function floatsOf({ memory, dimensions }: Block, layout: BlockLayout, row: number): Float32Array {
  return new Float32Array(memory.buffer, layout.exact + row * layout.exactStrideBytes, dimensions);
}

function measureSigns(kernels: KernelHouse, block: Block, layout: BlockLayout, query: Float32Array): Uint16Array {
  const { scratch } = kernels;
  const { queryBits, distances } = scratchAddresses;
  scratch.queryBits.fill(0);
  writeSigns(query, scratch.queryBits);
  const all = new Uint16Array(block.rows);
  for (let from = 0; from < block.rows; from += scratch.distances.length) {
    const to = Math.min(from + scratch.distances.length, block.rows);
    kernels.kernelOf(block.memory).scanBits(layout.bits, layout.bitStrideBytes, from, to, queryBits, distances);
    all.set(scratch.distances.subarray(0, to - from), from);
  }
  return all;
}

function nearestRows(kernels: KernelHouse, block: Block, layout: BlockLayout, query: Float32Array): readonly number[] {
  const { scratch } = kernels;
  const { queryFloats, report } = scratchAddresses;
  scratch.queryFloats.fill(0);
  scratch.queryFloats.set(query);
  const best = bestScored(SAMPLE_NEAREST);
  for (let from = 0; from < block.rows; from += scratch.scores.length) {
    const to = Math.min(from + scratch.scores.length, block.rows);
    kernels.kernelOf(block.memory).scanFloat32(layout.exact, layout.exactStrideBytes, from, to, queryFloats, report);
    for (let row = from; row < to; row += 1) {
      const score = scratch.scores[row - from] ?? 0;
      if (score > best.least()) best.offer({ id: row, score });
    }
  }
  return best.take().map(({ id }) => id);
}

function shareWithin(distances: Uint16Array, limit: number): number {
  let within = 0;
  for (let row = 0; row < distances.length; row += 1) if ((distances[row] ?? 0) <= limit) within += 1;
  return within / distances.length;
}
