import { ok, type Result } from "../../domain/failure.ts";
import type { Analyzer } from "../lexical/analyzer.ts";
import { type RankedSegment, termStatistics } from "../lexical/query-plan.ts";
import { createHashEmbedder, HASH_DIMENSIONS, HASH_EMBEDDER_ID, type HashEmbedder } from "../vector/hash-embedder.ts";
import { MOCK_DIMENSIONS, MOCK_EMBEDDER_ID, mockVector } from "../vector/mock-embedder.ts";
import { buildVectorBlock, type VectorBlock } from "../vector/vector-block.ts";
import { loadVectorBlock, writeVectorFile } from "../vector/vector-file.ts";

/** Embedders that need nobody but a thread. */
export type ComputedEmbedder = "builtin" | "mock";

export type EmbedRequest = {
  /** "builtin" when absent. */
  readonly name?: ComputedEmbedder;
  readonly texts: readonly string[];
};

/** Vectors as they were gathered, in shared memory: row after row, and a byte a row that is 1 where there is one. */
export type MakeVectorsRequest = {
  readonly sheet: {
    readonly rows: number;
    readonly dimensions: number;
    readonly numbers: Float32Array;
    readonly present: Uint8Array;
  };
  /** Keep them as floats too. */
  readonly exact: boolean;
  /** Where to keep them; undefined for vectors that only memory has. */
  readonly file: string | undefined;
};

/** Vectors of the computed embedders; one a thread. */
export type VectorMaker = {
  documents(request: EmbedRequest): readonly Float32Array[];
  /** How rare its words are among what lives in these segments decides what they weigh. */
  query(name: ComputedEmbedder, text: string, segments: readonly RankedSegment[]): Float32Array;
};

/** Vectors are kept under this name: another way to compute them is another name. */
export function identityOf(name: ComputedEmbedder): { readonly id: string; readonly dimensions: number } {
  if (name === "mock") return { id: MOCK_EMBEDDER_ID, dimensions: MOCK_DIMENSIONS };
  return { id: HASH_EMBEDDER_ID, dimensions: HASH_DIMENSIONS };
}

export function createVectorMaker(analyze: Analyzer): VectorMaker {
  let hashing: HashEmbedder | undefined;
  const hash = () => {
    hashing ??= createHashEmbedder(analyze);
    return hashing;
  };
  return {
    documents: ({ name, texts }) => texts.map((text) => (name === "mock" ? mockVector(text) : hash().document(text))),
    query: (name, text, segments) =>
      name === "mock" ? mockVector(text) : hash().query(text, termStatistics(segments)),
  };
}

/** Makes the block of a segment. One with a file is read back from it, so that its floats take no room in memory. */
export function makeVectors({ sheet, exact, file }: MakeVectorsRequest): Result<VectorBlock> {
  const { rows, dimensions, numbers, present } = sheet;
  const vectors = Array.from({ length: rows }, (_, row) =>
    present[row] === 1 ? numbers.subarray(row * dimensions, (row + 1) * dimensions) : undefined,
  );
  const block = buildVectorBlock(dimensions, vectors, exact);
  if (file === undefined) return ok(block);
  const written = writeVectorFile(file, block);
  if (!written.ok) return written;
  return ok(exact ? (loadVectorBlock(file) ?? block) : block);
}
