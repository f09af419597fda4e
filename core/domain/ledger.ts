import type { Event, EventBody } from "./event.ts";
import { fail, ok, type Result } from "./failure.ts";
import { type Journal, JournalError } from "./journal.ts";

/** Changes that one append takes together. */
const BATCH_MAX = 64;

/** Looks at the fold and says what to append and what to answer. A failure appends nothing. */
export type Work<Fold, T> = (fold: Fold) => Result<{ readonly bodies: readonly EventBody[]; readonly value: T }>;

/**
 * A journal of facts outside every conversation, and what they fold to. Work is done in the order of asking; it sees what
 * the work before it decided, and is answered only when that is durable. Nothing rejects.
 */
export type Ledger<Fold> = {
  read<T>(look: (fold: Fold) => T): Promise<Result<T>>;
  append(...bodies: EventBody[]): Promise<Result<void>>;
  work<T>(work: Work<Fold, T>): Promise<Result<T>>;
};

export type LedgerParts<Fold> = {
  readonly journal: Journal;
  /** The journal's reserved id; it is made with the first fact. */
  readonly id: string;
  /** What nothing folds to. */
  begin(): Fold;
  /** Changes the fold by one fact; passes over those that it does not know. */
  apply(fold: Fold, body: EventBody): void;
  /** Hears of each fact once it is durable, after it was applied: only then it has a time. */
  stamp?(fold: Fold, event: Event): void;
};

type Folded<Fold> = { readonly fold: Fold; lastSeq: number };
type Queued<Fold> = { run(fold: Fold): readonly EventBody[]; settle(written: Result<void>): void };

/** Reads the journal at its first use. */
export function openLedger<Fold>(parts: LedgerParts<Fold>): Ledger<Fold> {
  const { journal, id, apply } = parts;
  let folded: Folded<Fold> | undefined;
  let queue: Queued<Fold>[] = [];
  /** How many at the queue's beginning have been taken out of it. */
  let taken = 0;
  let draining = false;

  async function load(): Promise<Result<Folded<Fold>>> {
    if (folded) return ok(folded);
    const loaded = await foldJournal(parts);
    if (loaded.ok) folded = loaded.value;
    return loaded;
  }

  /** Decides a batch on the fold and appends it as one. A rival writer means: fold again, decide again, once. */
  async function write(batch: readonly Queued<Fold>[]): Promise<Result<void>> {
    for (let attempt = 1; ; attempt += 1) {
      const loaded = await load();
      if (!loaded.ok) return loaded;
      const now = loaded.value;
      const bodies = batch.flatMap((work) => work.run(now.fold));
      if (bodies.length === 0) return ok(undefined);
      const appended = await appendTo(journal, id, now.lastSeq, bodies);
      if (appended.ok) {
        for (const event of appended.value) parts.stamp?.(now.fold, event);
        now.lastSeq += bodies.length;
        return ok(undefined);
      }
      // The fold is ahead of the disk: the next one reads what is really there.
      folded = undefined;
      if (appended.failure.code !== "conflict" || attempt > 1) return appended;
    }
  }

  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    while (taken < queue.length) {
      const batch = queue.slice(taken, taken + BATCH_MAX);
      taken += batch.length;
      // Only when at least half of it goes: to move what is left after each batch would take the square of its length.
      if (taken * 2 >= queue.length) {
        queue = queue.slice(taken);
        taken = 0;
      }
      const written = await write(batch).catch((cause: unknown) => {
        folded = undefined;
        return fail("unavailable", `the journal of ${id} cannot be used`, { cause });
      });
      for (const work of batch) work.settle(written);
    }
    draining = false;
  }

  function work<T>(decide: Work<Fold, T>): Promise<Result<T>> {
    return new Promise((resolve) => {
      let decided: ReturnType<Work<Fold, T>> | undefined;
      queue.push({
        run(fold) {
          decided = decide(fold);
          if (!decided.ok) return [];
          for (const body of decided.value.bodies) apply(fold, body);
          return decided.value.bodies;
        },
        settle(written) {
          // Nothing was decided where the journal could not be read.
          if (decided?.ok === false) resolve(decided);
          else if (!written.ok) resolve(written);
          else if (decided !== undefined) resolve(ok(decided.value.value));
        },
      });
      void drain();
    });
  }

  return {
    work,
    read: (look) => work((fold) => ok({ bodies: [], value: look(fold) })),
    append: (...bodies) => work<void>(() => ok({ bodies, value: undefined })),
  };
}

async function appendTo(journal: Journal, id: string, lastSeq: number, bodies: readonly EventBody[]) {
  if (lastSeq === 0) {
    const created = await journal.create(id);
    // "conflict" is the ordinary case of a journal that is there and empty.
    if (!created.ok && created.failure.code !== "conflict") return created;
  }
  return journal.append(id, lastSeq, bodies);
}

async function foldJournal<Fold>(parts: LedgerParts<Fold>): Promise<Result<Folded<Fold>>> {
  const { journal, id, begin, apply } = parts;
  const folded: Folded<Fold> = { fold: begin(), lastSeq: 0 };
  try {
    const events = journal.read(id, { after: 0, follow: false }, new AbortController().signal);
    for await (const event of events) {
      // A newer daemon's fact has no body that this one knows; it is counted all the same.
      if (event.body.case !== undefined) {
        apply(folded.fold, event.body);
        parts.stamp?.(folded.fold, event);
      }
      folded.lastSeq = event.seq;
    }
    return ok(folded);
  } catch (cause) {
    if (cause instanceof JournalError) return { ok: false, failure: cause.failure };
    throw cause;
  }
}
