import type { Event, EventBody } from "./event.ts";
import type { Failure, Result } from "./failure.ts";

/** Journals that hold something else than a conversation: the notes of the memory, the profile, and what hooks and plugins keep. */
export const RESERVED_JOURNALS: ReadonlySet<string> = new Set(["memory", "profile", "hooks", "plugins"]);

/** The last event of a journal; `seq` 0 and no body for one that holds nothing. */
export type Head = {
  readonly sessionId: string;
  readonly seq: number;
  readonly changedAtMs: number;
  readonly lastBody: EventBody["case"] | undefined;
  /** The turn that it names before anything else, as a hook's receipt does; empty for none. */
  readonly lastTurnId: string;
};

/** Thrown by `read` when the journal's bytes are not what was written. */
export class JournalError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message, { cause: failure.cause });
    this.name = "JournalError";
    this.failure = failure;
  }
}

/**
 * The port to what is precious. One journal a session, events numbered 1, 2, 3 … without a gap.
 *
 * - `append` resolves when every event is durable. `expectedSeq` is the number of the last event the writer knows:
 *   another one means `conflict` and nothing is written. A full disk gives `exhausted` and leaves the journal as it was;
 *   a failed sync gives `unavailable` and closes the journal for good, because nobody knows what is on disk.
 * - `read` yields the events after a number; with `follow` it goes on with what is appended, without a gap, until the
 *   signal aborts (then it just ends). A missing journal gives nothing without `follow`. Broken bytes throw
 *   `JournalError` after the last good event.
 * - `create` makes an empty journal; `conflict` when there is one.
 * - `heads` goes from the latest changed to the oldest and reads only the end of each journal.
 */
export type Journal = {
  create(sessionId: string): Promise<Result<void>>;
  append(sessionId: string, expectedSeq: number, bodies: readonly EventBody[]): Promise<Result<readonly Event[]>>;
  read(sessionId: string, from: { after: number; follow: boolean }, signal: AbortSignal): AsyncIterable<Event>;
  heads(): AsyncIterable<Head>;
  remove(sessionId: string): Promise<Result<void>>;
  verify(sessionId: string): Promise<Result<{ readonly events: number; readonly headHash: string }>>;
};
