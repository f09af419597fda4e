import type { Event } from "../domain/event.ts";
import type { Failure } from "../domain/failure.ts";
import type { Position } from "./chain-reader.ts";

/** What one commit made durable. */
export type Batch = { readonly before: Position; readonly after: Position; readonly events: readonly Event[] };

/** Why nothing more will come: the journal is gone, or its disk failed. */
export type FeedEnd = { readonly reason: "removed" } | { readonly reason: "failed"; readonly failure: Failure };

/** Batches kept for a follower that is slower than the writer; beyond this it reads the file again. Bytes on disk. */
const BACKLOG_LIMIT_BYTES = 1024 * 1024;

/** The live end of a journal, as one follower sees it. */
export type Feed = {
  /** From now on batches are kept for `take`, beginning with the next. */
  goLive(): void;
  /** The next batch without a gap to the one before; undefined when none is there. */
  take(): Batch | undefined;
  /** True when a batch was thrown away since `goLive`, so that the file has to be read. */
  missedSome(): boolean;
  end(): FeedEnd | undefined;
  /** Resolves with the next piece of news, or when the signal aborts. */
  news(signal: AbortSignal): Promise<void>;
};

/** The journal's hand on a feed. */
export type FeedSource = { offer(batch: Batch): void; finish(end: FeedEnd): void };

/** `leave` runs when the follower disposes of its feed. */
export function feed(leave: () => void): Feed & FeedSource & Disposable {
  let backlog: Batch[] = [];
  let backlogBytes = 0;
  let mode: "reading" | "live" | "missed" = "reading";
  let ended: FeedEnd | undefined;
  let hasNews = false;
  let wake: (() => void) | undefined;

  function nudge(): void {
    hasNews = true;
    wake?.();
  }

  return {
    [Symbol.dispose]: leave,
    offer(batch) {
      const bytes = batch.after.offset - batch.before.offset;
      if (mode === "live" && backlogBytes + bytes > BACKLOG_LIMIT_BYTES) mode = "missed";
      if (mode === "live") {
        backlog.push(batch);
        backlogBytes += bytes;
      }
      nudge();
    },
    finish(end) {
      ended ??= end;
      nudge();
    },
    goLive() {
      backlog = [];
      backlogBytes = 0;
      mode = "live";
    },
    take() {
      const batch = backlog.shift();
      if (batch !== undefined) backlogBytes -= batch.after.offset - batch.before.offset;
      return batch;
    },
    missedSome: () => mode === "missed",
    end: () => ended,
    async news(signal) {
      if (!hasNews && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener("abort", nudge, { once: true });
        });
        signal.removeEventListener("abort", nudge);
        wake = undefined;
      }
      hasNews = false;
    },
  };
}
