import { closeSync, openSync, readSync, statSync } from "node:fs";
import { crc32 } from "node:zlib";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { writeDurably } from "./durable-file.ts";
import { createSharedMemory } from "./kernel.ts";
import {
  type BlockHeader,
  type BlockLayout,
  exactRow,
  HEADER_BYTES,
  layOutBlock,
  readHeader,
  type VectorBlock,
  viewBlock,
} from "./vector-block.ts";

// A block as a file, byte for byte as it lies in memory. Everything here waits for the disk: call it in a worker.

/** One read; larger ones are cut by the system anyway. */
const READ_LIMIT_BYTES = 1 << 26;

/** Durable, all of it or nothing. */
export function writeVectorFile(path: string, block: VectorBlock): Result<void> {
  const layout = layOutBlock(block);
  try {
    writeDurably(
      path,
      new Uint8Array(block.memory.buffer, 0, block.exactInMemory ? layout.endWithExact : layout.exact),
    );
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `vectors could not be written to ${path}: ${said(cause)}`, {
      hint: "see that the disk has room and the folder may be written",
      cause,
    });
  }
}

/** Loads all but the floats of a file. Undefined when it is not there, torn, or not what was written. */
export function loadVectorBlock(path: string): VectorBlock | undefined {
  return withFile(path, (file) => {
    const header = readFileHeader(file, path);
    if (header === undefined) return undefined;
    const layout = layOutBlock(header);
    const memory = createSharedMemory(layout.exact);
    if (memory === undefined) return undefined;
    const bytes = new Uint8Array(memory.buffer, 0, layout.exact);
    if (!readFully(file, bytes, 0) || crc32(bytes.subarray(HEADER_BYTES)) !== header.check) return undefined;
    const { dimensions, rows, present, misfits, nearShare } = header;
    return { memory, dimensions, rows, present, misfits, nearShare, exactInMemory: false };
  });
}

/** Whether every byte of a file is as it was written, the floats too. Reads all of it. */
export function verifyVectorFile(path: string): boolean {
  const block = loadVectorBlock(path);
  if (block === undefined) return false;
  const whole = withFile(path, (file) => {
    if (readFileHeader(file, path)?.exact !== true) return true;
    const layout = layOutBlock(block);
    const { scales } = viewBlock(block.memory, layout);
    const row = new Uint8Array(layout.exactStrideBytes);
    for (let number = 0; number < block.rows; number += 1)
      if (!Number.isNaN(scales[number]) && !readExactRow(file, block, layout, number, row)) return false;
    return true;
  });
  return whole === true;
}

/** Opens the floats behind a block; undefined when the file is gone. Whoever opens it closes it. */
export function openExactRows(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}

/** Reads one row of floats from where the block has them. False when it cannot be read or is damaged. */
export function readExactRow(
  file: number | undefined,
  { memory, exactInMemory }: VectorBlock,
  layout: BlockLayout,
  row: number,
  target: Uint8Array,
): boolean {
  if (exactInMemory) {
    target.set(exactRow(memory, layout, row));
    return true;
  }
  const { checks } = viewBlock(memory, layout);
  return (
    file !== undefined &&
    readFully(file, target, layout.exact + row * layout.exactStrideBytes) &&
    crc32(target) === checks[row]
  );
}

function readFileHeader(file: number, path: string): BlockHeader | undefined {
  const bytes = new Uint8Array(HEADER_BYTES);
  const header = readFully(file, bytes, 0) ? readHeader(bytes) : undefined;
  if (header === undefined) return undefined;
  const { exact, endWithExact } = layOutBlock(header);
  return statSync(path).size === (header.exact ? endWithExact : exact) ? header : undefined;
}

function readFully(file: number, target: Uint8Array, from: number): boolean {
  for (let at = 0; at < target.length; ) {
    const read = readSync(file, target, at, Math.min(target.length - at, READ_LIMIT_BYTES), from + at);
    if (read === 0) return false;
    at += read;
  }
  return true;
}

function withFile<T>(path: string, work: (file: number) => T): T | undefined {
  try {
    const file = openSync(path, "r");
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // A file that cannot be read is as good as none: it is made anew.
    return undefined;
  }
}

function said(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
