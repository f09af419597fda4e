import type { Viewer } from "./memory.ts";

/** What memory holds about words, as the model gets to read it. */
export type Recalled = {
  /** Data for the model, with whose words each part is; never empty. */
  readonly text: string;
  /** Ids of the hits that it was made of, best first. */
  readonly memoryIds: readonly string[];
};

/**
 * Asks memory what it holds about words that a person has just said. Never throws: a memory that fails or has nothing gives
 * undefined, since a turn goes on without it.
 */
export type TurnRecall = (words: string, viewer: Viewer, signal: AbortSignal) => Promise<Recalled | undefined>;
