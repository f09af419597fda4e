import { create } from "@bufbuild/protobuf";
import { EventSchema } from "../../../proto/gen/clawd/v1/event_pb.ts";
import type { Event, EventBody } from "../../domain/event.ts";
import { evolve } from "../../domain/evolve.ts";
import { type Failure, ok, type Result } from "../../domain/failure.ts";
import type { Journal } from "../../domain/journal.ts";
import type { Session } from "../../domain/session.ts";

/** Events that may wait for company are written after this long at the latest, milliseconds. */
const HOLD_LIMIT_MS = 250;

/** Answers with the events to append, given the session as it will be when they are appended. */
export type Produce = (session: Session) => Result<readonly EventBody[]>;

/**
 * The only hand that writes a session's journal. Whatever is asked while a write is under way goes out together with
 * the next one, in the order of asking: one write and one sync for all of it.
 */
export type SingleWriter = {
  /** The session as far as it is durable. */
  state(): Session;
  /** Resolves when the events are durable and folded into `state`. */
  write(produce: Produce): Promise<Result<readonly Event[]>>;
  /**
   * Sends events on their way to the disk and resolves before they are durable, when `ahead` has them: for what no client
   * hears of until it is. A failure shows in `failure` and in every write that follows.
   */
  post(bodies: readonly EventBody[]): Promise<void>;
  /** The session as it will be once everything that is on its way has arrived. */
  ahead(): Session;
  /** Like `post`, but the events may wait up to 250 ms for the next `write`. */
  hold(bodies: readonly EventBody[]): void;
  /**
   * Resolves with the first state, from the present one on, that the test accepts, or with the last there is when the
   * writer fails; rejects when the signal aborts.
   */
  until(test: (session: Session) => boolean, signal: AbortSignal): Promise<Session>;
  /** Why nothing can be written any more; undefined while all is well. */
  failure(): Failure | undefined;
};

type Entry = {
  readonly produce: Produce;
  /** Called when the events are on their way. */
  readonly sent: () => void;
  readonly settle: (result: Result<readonly Event[]>) => void;
};
type Planned = { readonly entry: Entry; readonly bodies: readonly EventBody[] };

/** Takes over a folded session. `onFailure` is told once, when the journal refuses and the state in memory is void. */
export function singleWriter(journal: Journal, opened: Session, onFailure: (failure: Failure) => void): SingleWriter {
  let session = opened;
  let ahead = opened;
  let broken: Failure | undefined;
  let queue: Entry[] = [];
  let writing = false;
  let holdTimer: NodeJS.Timeout | undefined;
  const watchers = new Set<(session: Session) => void>();

  async function drain(): Promise<void> {
    if (writing) return;
    writing = true;
    clearTimeout(holdTimer);
    holdTimer = undefined;
    while (queue.length > 0) {
      const entries = queue;
      queue = [];
      const plan = planWrites(session, entries);
      ahead = plan.ahead;
      for (const { entry } of plan.writes) entry.sent();
      await commit(plan.writes);
    }
    writing = false;
  }

  async function commit(planned: readonly Planned[]): Promise<void> {
    const bodies = planned.flatMap((one) => one.bodies);
    const appended: Result<readonly Event[]> = broken
      ? { ok: false, failure: broken }
      : bodies.length === 0
        ? ok([])
        : await journal.append(session.id, session.seq, bodies);
    if (!appended.ok) {
      for (const { entry } of planned) entry.settle(appended);
      if (broken !== undefined) return;
      broken = appended.failure;
      onFailure(appended.failure);
      for (const watch of watchers) watch(session);
      return;
    }
    for (const event of appended.value) session = evolve(session, event);
    let from = 0;
    for (const { entry, bodies: own } of planned) {
      entry.settle(ok(appended.value.slice(from, from + own.length)));
      from += own.length;
    }
    for (const watch of watchers) watch(session);
  }

  return {
    state: () => session,
    failure: () => broken,
    write: (produce) =>
      new Promise((settle) => {
        queue.push({ produce, settle, sent: ignore });
        void drain();
      }),
    ahead: () => ahead,
    post: (bodies) =>
      new Promise((sent) => {
        queue.push({ produce: () => ok(bodies), settle: ignore, sent });
        void drain();
      }),
    hold(bodies) {
      if (bodies.length === 0) return;
      queue.push({ produce: () => ok(bodies), settle: ignore, sent: ignore });
      if (!writing) holdTimer ??= setTimeout(() => void drain(), HOLD_LIMIT_MS);
    },
    until: (test, signal) =>
      new Promise((resolve, reject) => {
        if (test(session) || broken !== undefined) return resolve(session);
        const stop = () => {
          watchers.delete(watch);
          reject(signal.reason);
        };
        const watch = (state: Session) => {
          if (!test(state) && broken === undefined) return;
          watchers.delete(watch);
          signal.removeEventListener("abort", stop);
          resolve(state);
        };
        if (signal.aborted) return reject(signal.reason);
        watchers.add(watch);
        signal.addEventListener("abort", stop, { once: true });
      }),
  };
}

function ignore(): void {}

/** Asks each entry for its events, each seeing what the ones before it are about to write; refused ones settle here. */
function planWrites(
  session: Session,
  entries: readonly Entry[],
): { readonly writes: readonly Planned[]; readonly ahead: Session } {
  const writes: Planned[] = [];
  let ahead = session;
  for (const entry of entries) {
    const produced = entry.produce(ahead);
    if (!produced.ok) {
      entry.settle(produced);
      continue;
    }
    writes.push({ entry, bodies: produced.value });
    // Only the body matters to the rules; number and time come from the journal.
    for (const body of produced.value) ahead = evolve(ahead, create(EventSchema, { seq: ahead.seq + 1, body }));
  }
  return { writes, ahead };
}
