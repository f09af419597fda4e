import { ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import { type Awake, awakeSession } from "./awake-session.ts";
import { foldSession } from "./read-session.ts";

/** Sessions kept folded in memory though nothing happens in them. */
const AWAKE_LIMIT = 64;

/** The sessions that are folded in memory, each once: two would be two writers. */
export type AwakeSessions = {
  /** Gives a session that is in memory, or folds its journal. */
  wake(id: string): Promise<Result<Awake>>;
  /** Wakes a session and keeps it in memory until the work on it is done. */
  withSession<T>(id: string, work: (session: Awake) => Promise<Result<T>>): Promise<Result<T>>;
  /** One that is in memory or about to be. */
  find(id: string): Promise<Awake | undefined>;
  /** Those that are in memory or about to be. */
  all(): Promise<readonly Awake[]>;
  forget(id: string): void;
};

export type AwakeParts = {
  readonly journal: Journal;
  /** Settles what a stop left open, before anybody has the session. */
  readonly settleLeft: (session: Awake) => Promise<Result<void>>;
  /** A session with a turn is not forgotten. */
  readonly hasTurn: (id: string) => boolean;
};

export function awakeSessions({ journal, settleLeft, hasTurn }: AwakeParts): AwakeSessions {
  const awake = new Map<string, Promise<Result<Awake>>>();
  /** How many requests have a session in hand: until they are done it must not be forgotten, or it had two writers. */
  const inHand = new Map<string, number>();

  function wake(id: string): Promise<Result<Awake>> {
    const known = awake.get(id);
    if (known !== undefined) {
      // To the end of the line: the one not asked for longest is forgotten first.
      awake.delete(id);
      awake.set(id, known);
      return known;
    }
    const waking = wakeFromJournal(id).then((woken) => {
      if (!woken.ok) awake.delete(id);
      return woken;
    });
    awake.set(id, waking);
    void forgetIdle();
    return waking;
  }

  async function wakeFromJournal(id: string): Promise<Result<Awake>> {
    const folded = await foldSession(journal, id);
    if (!folded.ok) return folded;
    // After a failure what is in memory may be ahead of the disk: the next request folds what the journal really holds.
    const session = awakeSession(journal, folded.value, () => awake.delete(id));
    const left = await settleLeft(session);
    return left.ok ? ok(session) : left;
  }

  /** Keeps the number of folded sessions bounded; one with a turn or a listener stays. */
  async function forgetIdle(): Promise<void> {
    for (const [id, waking] of awake) {
      if (awake.size <= AWAKE_LIMIT) return;
      const session = await waking;
      if (hasTurn(id) || inHand.has(id) || (session.ok && session.value.listeners.size > 0)) continue;
      if (awake.get(id) === waking) awake.delete(id);
    }
  }

  return {
    wake,
    async withSession(id, work) {
      inHand.set(id, (inHand.get(id) ?? 0) + 1);
      try {
        const session = await wake(id);
        return session.ok ? await work(session.value) : session;
      } finally {
        const left = (inHand.get(id) ?? 1) - 1;
        if (left > 0) inHand.set(id, left);
        else inHand.delete(id);
      }
    },
    async find(id) {
      const session = await awake.get(id);
      return session?.ok ? session.value : undefined;
    },
    async all() {
      const woken = await Promise.all(awake.values());
      return woken.flatMap((session) => (session.ok ? [session.value] : []));
    },
    forget: (id) => void awake.delete(id),
  };
}
