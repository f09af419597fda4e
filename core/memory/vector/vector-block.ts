import { crc32 } from "node:zlib";
import { nearShareOf } from "./bit-share.ts";
import { createSharedMemory, DIMENSIONS_LIMIT, type SharedMemory } from "./kernel.ts";
import { normalize, quantizeRow, writeSigns } from "./quantize.ts";

// The vectors of one segment in one shared memory, laid out as in their file: a header, what is needed to score all rows
// (quantized to bytes), and behind it the same rows as 32-bit floats, which only the best few are scored with again.

const MAGIC = 0x636c_7631;
export const HEADER_BYTES = 64;
const HEADER_WORDS = HEADER_BYTES / 4;
/** The kernel takes so many bytes of a row at a time; sections start at such steps too, as lines of caches do. */
const STEP_BYTES = 64;

/** Shares are kept as whole multiples of one part in so many. */
const SHARE_UNIT = 65_536;
/** Bits pay when many large blocks are scanned together; a smaller one goes without them. */
const BITS_LEAST_NUMBERS = 4_000_000;

/**
 * Vectors by the row that they have in their segment. Plain data: it can be posted to other threads, which then read the
 * same memory. Nothing in it ever changes.
 */
export type VectorBlock = {
  readonly memory: SharedMemory;
  readonly dimensions: number;
  /** With and without a vector. */
  readonly rows: number;
  /** Rows with a vector. */
  readonly present: number;
  /** Rows without one because the vector that was given for them was of another size. */
  readonly misfits: number;
  /**
   * Whether rows have their signs as bits too, and how many of them have to be looked at by their bits' distance to miss
   * hardly any that is near: 1 for all of them, 0 for a block without bits.
   */
  readonly nearShare: number;
  /** Whether the 32-bit floats are in this memory. */
  readonly exactInMemory: boolean;
};

export type BlockLayout = {
  /** Of the rows as bytes, of one as floats. */
  readonly strideBytes: number;
  readonly exactStrideBytes: number;
  readonly bitStrideBytes: number;
  /** Addresses; a section ends where the next one starts. */
  readonly scales: number;
  readonly sums: number;
  /** CRC-32 of each row as floats, so that one row can be trusted without reading the others. */
  readonly checks: number;
  readonly bits: number;
  readonly bytes: number;
  readonly exact: number;
  readonly endWithExact: number;
};

export type BlockViews = {
  readonly scales: Float32Array;
  readonly sums: Int32Array;
  readonly checks: Uint32Array;
};

/**
 * Makes the block of a segment; vector i belongs to row i. Those of another size are left out and counted. Zero vectors and
 * such that are not finite have the cosine 0 with everything. CPU-bound: some 20 µs a row of 1,536 numbers.
 * @param exact keep the vectors as 32-bit floats too: the best few are then scored with them, which finds what a scan of
 *   floats would find. Costs four times the room, of which a file's readers load nothing.
 */
export function buildVectorBlock(
  dimensions: number,
  vectors: readonly (Float32Array | undefined)[],
  exact: boolean,
): VectorBlock {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > DIMENSIONS_LIMIT)
    throw new RangeError(`vectors have 1 to ${DIMENSIONS_LIMIT} dimensions, not ${dimensions}`);
  const bits = exact && vectors.length * dimensions >= BITS_LEAST_NUMBERS;
  const shape = { dimensions, rows: vectors.length, nearShare: bits ? 1 : 0 };
  const layout = layOutBlock(shape);
  const memory = createSharedMemory(exact ? layout.endWithExact : layout.exact);
  if (memory === undefined) throw new RangeError(`${vectors.length} vectors are too many for one block`);
  let [present, misfits] = [0, 0];
  const { scales, sums, checks } = viewBlock(memory, layout);
  scales.fill(Number.NaN);
  const spare = new Float32Array(dimensions);
  for (const [row, vector] of vectors.entries()) {
    if (vector?.length !== dimensions) {
      if (vector !== undefined) misfits += 1;
      continue;
    }
    present += 1;
    const floats = exact ? exactRow(memory, layout, row) : undefined;
    const unit = normalize(
      vector,
      floats === undefined ? spare : new Float32Array(memory.buffer, floats.byteOffset, dimensions),
    );
    const bytes = new Int8Array(memory.buffer, layout.bytes + row * layout.strideBytes, dimensions);
    const { scale, sum } = quantizeRow(unit, bytes);
    if (bits)
      writeSigns(unit, new Uint8Array(memory.buffer, layout.bits + row * layout.bitStrideBytes, layout.bitStrideBytes));
    scales[row] = scale;
    sums[row] = sum;
    if (floats !== undefined) checks[row] = crc32(floats);
  }
  const nearShare = bits ? nearShareOf({ ...shape, memory }, layout) : 0;
  const block = { ...shape, memory, present, misfits, nearShare, exactInMemory: exact };
  writeHeader(block, layout, exact);
  return block;
}

export type BlockShape = Pick<VectorBlock, "dimensions" | "rows" | "nearShare">;

export function layOutBlock({ dimensions, rows, nearShare }: BlockShape): BlockLayout {
  const strideBytes = roundUp(dimensions, STEP_BYTES);
  const exactStrideBytes = roundUp(dimensions * 4, STEP_BYTES);
  const wordsBytes = roundUp(rows * 4, STEP_BYTES);
  const scales = HEADER_BYTES;
  const sums = scales + wordsBytes;
  const checks = sums + wordsBytes;
  const bitStrideBytes = roundUp(Math.ceil(dimensions / 8), STEP_BYTES);
  const bits = checks + wordsBytes;
  const bytes = bits + (nearShare > 0 ? rows * bitStrideBytes : 0);
  const exact = bytes + rows * strideBytes;
  const endWithExact = exact + rows * exactStrideBytes;
  return { strideBytes, exactStrideBytes, bitStrideBytes, scales, sums, checks, bits, bytes, exact, endWithExact };
}

export function viewBlock({ buffer }: SharedMemory, { scales, sums, checks, bits }: BlockLayout): BlockViews {
  return {
    scales: new Float32Array(buffer, scales, (sums - scales) / 4),
    sums: new Int32Array(buffer, sums, (checks - sums) / 4),
    checks: new Uint32Array(buffer, checks, (bits - checks) / 4),
  };
}

/** The bytes of one row of floats in a memory that has them. */
export function exactRow({ buffer }: SharedMemory, layout: BlockLayout, row: number): Uint8Array {
  return new Uint8Array(buffer, layout.exact + row * layout.exactStrideBytes, layout.exactStrideBytes);
}

export type BlockHeader = Omit<VectorBlock, "memory" | "exactInMemory"> & {
  /** Whether floats follow in the file. */
  readonly exact: boolean;
  /** CRC-32 of everything between header and floats. */
  readonly check: number;
};

/** @returns undefined when these bytes are no header of this build's form. */
export function readHeader(bytes: Uint8Array): BlockHeader | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const words = new Uint32Array(bytes.slice(0, HEADER_BYTES).buffer);
  const [magic, dimensions = 0, rows = 0, present = 0, misfits = 0, exact = 0, check = 0, near = 0] = words;
  if (magic !== MAGIC || words[HEADER_WORDS - 1] !== checkHeader(words)) return undefined;
  if (dimensions < 1 || dimensions > DIMENSIONS_LIMIT) return undefined;
  return { dimensions, rows, present, misfits, nearShare: near / SHARE_UNIT, exact: exact === 1, check };
}

function writeHeader(block: VectorBlock, layout: BlockLayout, exact: boolean): void {
  const words = new Uint32Array(block.memory.buffer, 0, HEADER_WORDS);
  const check = crc32(new Uint8Array(block.memory.buffer, HEADER_BYTES, layout.exact - HEADER_BYTES));
  words.set([
    MAGIC,
    block.dimensions,
    block.rows,
    block.present,
    block.misfits,
    exact ? 1 : 0,
    check,
    block.nearShare * SHARE_UNIT,
  ]);
  words[HEADER_WORDS - 1] = checkHeader(words);
}

function checkHeader(words: Uint32Array): number {
  return crc32(new Uint8Array(words.buffer, words.byteOffset, HEADER_BYTES - 4));
}

function roundUp(count: number, step: number): number {
  return Math.ceil(count / step) * step;
}
