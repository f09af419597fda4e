import type { Result } from "./failure.ts";

export type MemoryHit = {
  readonly id: string;
  /** Absolute path; empty for a note. */
  readonly path: string;
  /** First line in that file, from 1; 0 for a note. */
  readonly line: number;
  readonly text: string;
  /** BM25; comparable within one search only. */
  readonly score: number;
  readonly author: "owner" | "agent" | "file";
};

export type IndexProgress = {
  readonly files: number;
  readonly filesTotal: number;
  readonly chunks: number;
  /** Binary, too large or unreadable. */
  readonly skipped: number;
  readonly done: boolean;
};

export type MemoryStats = {
  readonly files: number;
  readonly chunks: number;
  readonly notes: number;
  readonly storeBytes: number;
  readonly folders: readonly string[];
};

/** Long-term memory. Notes are journal events first; everything else here can be rebuilt. */
export type Memory = {
  /** Best first. An empty index gives no hits. `among` is "all" unless told. */
  search(
    query: string,
    limit: number,
    signal: AbortSignal,
    among?: "all" | "notes",
  ): Promise<Result<readonly MemoryHit[]>>;
  /** Yields progress, `done` last. Searches meanwhile answer from the last complete state. */
  index(folder: string, signal: AbortSignal): AsyncIterable<Result<IndexProgress>>;
  /** Resolves with the note's id when it is durable. */
  remember(text: string, author: "owner" | "agent", sessionId: string): Promise<Result<string>>;
  forget(id: string): Promise<Result<void>>;
  stats(): Promise<Result<MemoryStats>>;
  close(): Promise<void>;
};
