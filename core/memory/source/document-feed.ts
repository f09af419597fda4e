import type { Result } from "../../domain/failure.ts";
import type { ReadDocument } from "./source-chunk.ts";

/** What a feed may know of what is there already. */
export type FeedContext = {
  /** Hashes of the versions that are kept of a document; empty for an unknown one. */
  hashesOf(key: string): readonly string[];
  /** How far each conversation was read: session id to number of the last event. */
  readonly watermarks: ReadonlyMap<string, number>;
};

export type FeedBatch = {
  /** New, changed or the same: those with a hash that is known are not stored again. */
  readonly documents: readonly ReadDocument[];
  /** Documents that are there already in this very version, for a feed that knows without cutting them. */
  readonly same: readonly { readonly key: string; readonly hash: string }[];
  /** Left out on purpose, and those that could not be read. */
  readonly skipped: number;
  readonly errors: number;
  /** Conversations that are gone. */
  readonly goneSessionIds: readonly string[];
  /** How far conversations were read with this batch; kept when it is published. */
  readonly watermarks: ReadonlyMap<string, number>;
  /** How many documents there will be, as far as is known; 0 for unknown. */
  readonly total: number;
};

/**
 * Documents of one source, batch by batch (some 64 documents or a mebibyte of text each). Never throws; a failure is the last
 * item, and then nothing is removed.
 */
export type DocumentFeed = {
  /** As in `ReadDocument.source`. */
  readonly source: string;
  /** "all": what it does not name is gone. "changes": what it does not name stays. */
  readonly gives: "all" | "changes";
  batches(context: FeedContext, signal: AbortSignal): AsyncIterable<Result<FeedBatch>>;
};

export const EMPTY_BATCH: FeedBatch = {
  documents: [],
  same: [],
  skipped: 0,
  errors: 0,
  goneSessionIds: [],
  watermarks: new Map(),
  total: 0,
};
