import { PLAIN_KERNEL, RELAXED_KERNEL } from "./kernel-bytes.ts";

// The scans run in WebAssembly: its SIMD reads rows as fast as memory gives them. A block of vectors is one shared memory;
// what a scan writes goes to a scratch memory of its thread, so any number of threads may scan one block at once.

const PAGE_BYTES = 65_536;
/** WebAssembly addresses memory with 32 bits. */
const MEMORY_LIMIT_BYTES = 2 ** 32;
/** The largest vectors; the query has its place in scratch memory by it. */
export const DIMENSIONS_LIMIT = 16_384;
/** How many rows a scan takes at once: its mask has its place in scratch memory. */
export const SCAN_LIMIT_ROWS = 16_384;
/** How many rows a scan may report at once. */
export const REPORT_LIMIT_ROWS = 1_024;

/** A shared `WebAssembly.Memory`; can be posted to other threads, which then read the same bytes. */
export type SharedMemory = { readonly buffer: SharedArrayBuffer };

type Scratch = {
  readonly memory: object;
  /** One byte a row: 1 when it may be reported. */
  readonly mask: Uint8Array;
  /** The query as bytes in [1, 127]; as 32-bit floats. Up to DIMENSIONS_LIMIT each, padded with 64 and 0. */
  readonly queryBytes: Uint8Array;
  readonly queryFloats: Float32Array;
  /** Pairs of row and score that `scanInt8` reports, in turns. */
  readonly rows: Int32Array;
  readonly scores: Float32Array;
  /** The signs of the query, one bit a number. */
  readonly queryBits: Uint8Array;
  /** In how many bits each row of a scan differs. */
  readonly distances: Uint16Array;
};

type Exports = {
  scanInt8(
    ...numbers: [
      rows: number,
      scales: number,
      sums: number,
      strideBytes: number,
      from: number,
      to: number,
      mask: number,
      query: number,
      out: number,
      room: number,
      least: number,
    ]
  ): [stoppedAt: number, reported: number];
  scanFloat32(
    ...numbers: [rows: number, strideBytes: number, from: number, to: number, query: number, out: number]
  ): void;
  scanBits(...numbers: [rows: number, strideBytes: number, from: number, to: number, query: number, out: number]): void;
};

/** The scans of kernel.wat over one memory. Addresses that they take are of `scratchAddresses` or of the block. */
export type Kernel = Exports;

type WasmModule = { readonly wasm: unique symbol };
type Wasm = {
  readonly Memory: new (limits: {
    initial: number;
    maximum: number;
    shared: boolean;
  }) => { readonly buffer: ArrayBufferLike };
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
};

// Neither ES2024 nor Node's types declare it.
const wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;

export const scratchAddresses = layOutScratch();

/** @returns undefined when so much cannot be addressed. */
export function createSharedMemory(bytes: number): SharedMemory | undefined {
  if (bytes > MEMORY_LIMIT_BYTES) return undefined;
  const pages = Math.max(1, Math.ceil(bytes / PAGE_BYTES));
  return new wasm.Memory({ initial: pages, maximum: pages, shared: true }) as SharedMemory;
}

export const KERNEL_VARIANTS = ["relaxed", "plain"] as const;
export type KernelVariant = (typeof KERNEL_VARIANTS)[number];

/** What a thread needs to scan: a kernel for each memory, and the scratch memory that they share. */
export type KernelHouse = {
  readonly scratch: Scratch;
  kernelOf(memory: SharedMemory): Kernel;
};

/** @param variant the faster one that this machine runs, when absent. */
export function openKernelHouse(variant?: KernelVariant): KernelHouse {
  const relaxed = Buffer.from(RELAXED_KERNEL, "base64");
  const module = new wasm.Module(
    variant === "plain" || !wasm.validate(relaxed) ? Buffer.from(PLAIN_KERNEL, "base64") : relaxed,
  );
  const scratch = openScratch();
  const kernels = new WeakMap<SharedMemory, Kernel>();
  return {
    scratch,
    kernelOf(memory) {
      const known = kernels.get(memory);
      if (known !== undefined) return known;
      const { exports } = new wasm.Instance(module, { memory: { block: memory, scratch: scratch.memory } });
      const kernel = exports as Kernel;
      kernels.set(memory, kernel);
      return kernel;
    },
  };
}

let house: KernelHouse | undefined;

/** The house of this thread, made at first need. */
export function threadKernels(): KernelHouse {
  house ??= openKernelHouse();
  return house;
}

function layOutScratch() {
  const mask = 0;
  const report = mask + SCAN_LIMIT_ROWS;
  const queryBytes = report + REPORT_LIMIT_ROWS * 8;
  const queryFloats = queryBytes + DIMENSIONS_LIMIT;
  const queryBits = queryFloats + DIMENSIONS_LIMIT * 4;
  const distances = queryBits + DIMENSIONS_LIMIT / 8;
  return { mask, report, queryBytes, queryFloats, queryBits, distances, endBytes: distances + SCAN_LIMIT_ROWS * 2 };
}

function openScratch(): Scratch {
  const pages = Math.ceil(scratchAddresses.endBytes / PAGE_BYTES);
  const memory = new wasm.Memory({ initial: pages, maximum: pages, shared: false });
  const { mask, report, queryBytes, queryFloats, queryBits, distances } = scratchAddresses;
  return {
    memory,
    mask: new Uint8Array(memory.buffer, mask, SCAN_LIMIT_ROWS),
    rows: new Int32Array(memory.buffer, report, REPORT_LIMIT_ROWS * 2),
    scores: new Float32Array(memory.buffer, report, REPORT_LIMIT_ROWS * 2),
    queryBytes: new Uint8Array(memory.buffer, queryBytes, DIMENSIONS_LIMIT),
    queryFloats: new Float32Array(memory.buffer, queryFloats, DIMENSIONS_LIMIT),
    queryBits: new Uint8Array(memory.buffer, queryBits, DIMENSIONS_LIMIT / 8),
    distances: new Uint16Array(memory.buffer, distances, SCAN_LIMIT_ROWS),
  };
}
