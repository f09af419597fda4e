// Vectors to measure with, as blocks and files, and how long this machine takes just to read them.
import { createRequire } from "node:module";
import { join } from "node:path";
import type openWabt from "wabt";
import { makeVectors } from "../core/memory/vector/fixtures/vectors.ts";
import { normalize } from "../core/memory/vector/quantize.ts";
import { buildVectorBlock, layOutBlock, type VectorBlock } from "../core/memory/vector/vector-block.ts";
import { loadVectorBlock, writeVectorFile } from "../core/memory/vector/vector-file.ts";
import { type Peer, type VectorSet, vectorAt } from "./memory-vector-peers.ts";

export const QUERIES = 40;
const SEGMENT_ROWS = 16_384;
const CLUSTERS = 500;

export type BenchBlock = {
  readonly whole: VectorBlock;
  readonly light: VectorBlock;
  readonly file: string;
  readonly first: number;
};

export function makeSet(
  count: number,
  dimensions: number,
): { readonly set: VectorSet; readonly queries: readonly Float32Array[] } {
  const rows = new Float32Array(count * dimensions);
  // In pieces, or millions of numbers lie there twice.
  for (let first = 0; first < count; first += SEGMENT_ROWS)
    for (const [row, vector] of makeVectors(
      first + 1,
      Math.min(SEGMENT_ROWS, count - first),
      dimensions,
      CLUSTERS,
    ).entries())
      rows.set(normalize(vector), (first + row) * dimensions);
  const queries = makeVectors(99, QUERIES, dimensions, 0).map((noise, index) => {
    const near = vectorAt(rows, (index * 7919) % count, dimensions);
    const unit = normalize(noise);
    return normalize(unit.map((number, at) => number * 0.5 + (near[at] ?? 0)));
  });
  return { set: { rows, count, dimensions }, queries };
}

export function blocksOf({ rows, count, dimensions }: VectorSet, folder: string): BenchBlock[] {
  const blocks: BenchBlock[] = [];
  for (let first = 0; first < count; first += SEGMENT_ROWS) {
    const vectors = Array.from({ length: Math.min(SEGMENT_ROWS, count - first) }, (_, row) =>
      vectorAt(rows, first + row, dimensions),
    );
    const whole = buildVectorBlock(dimensions, vectors, true);
    const file = join(folder, `${first}.vec`);
    writeVectorFile(file, whole);
    const light = loadVectorBlock(file);
    if (light === undefined) throw new Error(`${file} cannot be loaded`);
    blocks.push({ whole, light, file, first });
  }
  return blocks;
}

const READ_ALL = `(module (import "memory" "block" (memory 1 65536 shared))
  (func (export "read") (param $at i32) (param $end i32) (result i32) (local $a v128) (local $b v128)
    (loop $next
      (local.set $a (v128.xor (local.get $a) (v128.xor (v128.load (local.get $at)) (v128.load offset=16 (local.get $at)))))
      (local.set $b (v128.xor (local.get $b) (v128.xor (v128.load offset=32 (local.get $at)) (v128.load offset=48 (local.get $at)))))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $end))))
    (i32x4.extract_lane 0 (v128.xor (local.get $a) (local.get $b)))))`;

type Wasm = {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

/** Reads every byte of the floats once and does nothing with it. */
export async function readFloor(blocks: readonly BenchBlock[]): Promise<Peer["search"]> {
  const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly: Wasm };
  const wabt = await (createRequire(import.meta.url)("wabt") as typeof openWabt)();
  const parsed = wabt.parseWat("read.wat", READ_ALL, { simd: true, threads: true });
  const module = new wasm.Module(parsed.toBinary({}).buffer);
  parsed.destroy();
  const readers = blocks.map(({ whole }) => {
    const { exports } = new wasm.Instance(module, { memory: { block: whole.memory } });
    return { read: exports.read as (at: number, end: number) => number, ...layOutBlock(whole) };
  });
  return () => {
    for (const { read, exact, endWithExact } of readers)
      read(exact, exact + Math.floor((endWithExact - exact) / 64) * 64);
    return [];
  };
}
