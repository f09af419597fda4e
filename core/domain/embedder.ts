import type { Result } from "./failure.ts";

/** Turns texts into vectors. */
export type Embedder = {
  /** Names the model in this form for ever: vectors of different ids are never compared. */
  readonly id: string;
  /** Numbers of a vector; 0 while that is unknown, which ends with the first answer. */
  readonly dimensions: number;
  /** One vector a text, in their order, each of `dimensions` numbers. */
  embed(
    texts: readonly string[],
    kind: "query" | "document",
    signal: AbortSignal,
  ): Promise<Result<readonly Float32Array[]>>;
};
