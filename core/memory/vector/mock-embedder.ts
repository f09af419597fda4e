import { createHash } from "node:crypto";
import type { Embedder } from "../../domain/embedder.ts";
import { ok } from "../../domain/failure.ts";

export const MOCK_EMBEDDER_ID = "mock-sha256";
export const MOCK_DIMENSIONS = 32;

/**
 * For tests of everything around embedders: the SHA-256 of a text, its 32 bytes mapped to [-1, 1]. Equal texts have equal
 * vectors, other texts are near each other by chance only.
 */
export function createMockEmbedder(): Embedder {
  return {
    id: MOCK_EMBEDDER_ID,
    dimensions: MOCK_DIMENSIONS,
    embed: async (texts) => ok(texts.map(mockVector)),
  };
}

export function mockVector(text: string): Float32Array {
  return Float32Array.from(createHash("sha256").update(text).digest(), (byte) => byte / 127.5 - 1);
}
