import type { Event } from "../domain/event.ts";
import type { Failure } from "../domain/failure.ts";
import { type Journal, JournalError } from "../domain/journal.ts";
import type { Delta } from "./turn/turn-context.ts";

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
  /** Passes a delta on once the event `afterSeq` has been. Never waits: a full mailbox drops its oldest deltas. */
  offer(delta: Delta, afterSeq: number): void;
  /** The last event that the listener has taken. */
  taken(): number;
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
  /** The only call whose questions it hears, beside those of strangers; undefined for all. */
  readonly callId?: string;
  /** It waits for the turn's end. */
  readonly attended: boolean;
};

/** `after` is the last event that the listener has already. */
export function mailbox(after: number): Mailbox {
  let waiting: News[] = [];
  /** Deltas in `waiting`. */
  let deltas = 0;
  /** Deltas that would overtake events which the journal has and the listener has not. */
  let early: { readonly delta: Delta; readonly afterSeq: number }[] = [];
  let lastPut = after;
  let lastTaken = after;
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

  function pass(delta: Delta): void {
    if (deltas >= DELTA_LIMIT) {
      waiting = waiting.filter((news) => news.kind !== "delta");
      deltas = 0;
    }
    waiting.push({ kind: "delta", delta });
    deltas += 1;
  }

  return {
    taken: () => lastTaken,
    async put(news) {
      while (!closed && waiting.length - deltas >= EVENT_LIMIT) {
        await new Promise<void>((resolve) => {
          wakeTeller = resolve;
        });
      }
      if (closed) return;
      waiting.push(news);
      if (news.kind === "event") {
        lastPut = news.event.seq;
        const ready = early.findIndex(({ afterSeq }) => afterSeq > lastPut);
        for (const { delta } of early.splice(0, ready < 0 ? early.length : ready)) pass(delta);
      }
      wake();
    },
    offer(delta, afterSeq) {
      if (closed) return;
      if (afterSeq > lastPut) {
        if (early.length >= DELTA_LIMIT) early = [];
        early.push({ delta, afterSeq });
        return;
      }
      pass(delta);
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
          for (const news of batch) {
            yield news;
            if (news.kind === "event") lastTaken = news.event.seq;
          }
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
    const failure: Failure =
      error instanceof JournalError
        ? error.failure
        : { code: "unavailable", message: `session ${sessionId} cannot be read: ${String(error)}`, cause: error };
    await box.put({ kind: "fault", failure });
  }
  box.close();
}
