import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeltaSchema } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { Event } from "../domain/event.ts";
import type { Failure } from "../domain/failure.ts";
import { type Journal, JournalError } from "../domain/journal.ts";

export type Delta = MessageInitShape<typeof DeltaSchema>;

/** What a subscriber hears: durable events without a gap, deltas as far as it keeps up, and at most one fault, last. */
export type News =
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "delta"; readonly delta: Delta }
  | { readonly kind: "caughtUp"; readonly seq: number }
  | { readonly kind: "fault"; readonly failure: Failure };

/** Deltas kept for a subscriber that reads slowly; older ones are dropped, since the event that follows has it all. */
const DELTA_LIMIT = 4096;
/** Events kept before the reader of the journal waits. */
const EVENT_LIMIT = 256;

/** A bounded queue between those who tell and the one who listens. */
export type Mailbox = {
  /** Resolves when there is room for the next; drops everything once closed. */
  put(news: News): Promise<void>;
  /** Never waits: a full mailbox drops its oldest deltas. */
  offer(delta: Delta): void;
  /** Lets the listener read what is there and then ends it. */
  close(): void;
  /** For one listener; `leave` runs when it stops listening, however that comes. */
  listen(leave: () => void): AsyncGenerator<News, void, undefined>;
};

/** What a subscriber asked for. */
export type Listener = {
  /** The last event it has. */
  readonly after: number;
  readonly follow: boolean;
  /** A person there can answer questions. */
  readonly canAnswer: boolean;
  /** It waits for the turn's end. */
  readonly attended: boolean;
};

export function mailbox(): Mailbox {
  let waiting: News[] = [];
  let deltas = 0;
  let closed = false;
  let wakeListener: (() => void) | undefined;
  let wakeTeller: (() => void) | undefined;

  function wake(): void {
    wakeListener?.();
    wakeListener = undefined;
  }

  function release(): void {
    wakeTeller?.();
    wakeTeller = undefined;
  }

  return {
    async put(news) {
      while (!closed && waiting.length - deltas >= EVENT_LIMIT) {
        await new Promise<void>((resolve) => {
          wakeTeller = resolve;
        });
      }
      if (closed) return;
      waiting.push(news);
      wake();
    },
    offer(delta) {
      if (closed) return;
      if (deltas >= DELTA_LIMIT) {
        waiting = waiting.filter((news) => news.kind !== "delta");
        deltas = 0;
      }
      waiting.push({ kind: "delta", delta });
      deltas += 1;
      wake();
    },
    close() {
      closed = true;
      wake();
      release();
    },
    async *listen(leave) {
      try {
        while (true) {
          const batch = waiting;
          waiting = [];
          deltas = 0;
          release();
          yield* batch;
          if (waiting.length > 0) continue;
          if (closed) return;
          await new Promise<void>((resolve) => {
            wakeListener = resolve;
          });
        }
      } finally {
        leave();
      }
    },
  };
}

/** Brings a session's events to a mailbox, past and future, and says where the past ended (`present`). */
export async function deliverNews(
  journal: Journal,
  sessionId: string,
  listener: Listener,
  present: number,
  box: Mailbox,
  signal: AbortSignal,
): Promise<void> {
  const { after, follow } = listener;
  let caughtUp = after >= present;
  if (caughtUp) await box.put({ kind: "caughtUp", seq: after });
  try {
    for await (const event of journal.read(sessionId, { after, follow }, signal)) {
      await box.put({ kind: "event", event });
      if (caughtUp || event.seq < present) continue;
      caughtUp = true;
      await box.put({ kind: "caughtUp", seq: event.seq });
    }
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    await box.put({ kind: "fault", failure: error.failure });
  }
  box.close();
}
