import { type Journal, RESERVED_JOURNALS } from "../domain/journal.ts";
import type { IndexDesk } from "./index-desk.ts";
import { within } from "./within.ts";

/** So long a search waits for what was said a moment ago; then it answers from what there is. */
const WAIT_MS = 2_000;
/** The same while something else is brought in, which may take minutes. */
const BUSY_WAIT_MS = 250;

export type CatchUpOptions = {
  readonly journal: Journal;
  readonly desk: Pick<IndexDesk, "bring" | "isBusy">;
  /** Whether anything but notes was ever indexed. */
  readonly hasStore: () => Promise<boolean>;
  /** The store is made anew: nothing shows before that is done, and it takes what was said with it. */
  readonly isRebuilding: () => boolean;
  readonly closing: AbortSignal;
};

/** Brings in what was said meanwhile, and resolves when that is done or takes longer than somebody would wait for a search. */
export function openCatchUp({
  journal,
  desk,
  hasStore,
  isRebuilding,
  closing,
}: CatchUpOptions): (signal: AbortSignal) => Promise<void> {
  let current: { readonly waitMs: number; readonly done: Promise<unknown> } | undefined;

  return async (signal) => {
    if (isRebuilding()) return;
    if (!((await hasConversations(journal)) || (await hasStore()))) return;
    current ??= {
      waitMs: desk.isBusy() ? BUSY_WAIT_MS : WAIT_MS,
      done: desk.bring({ kind: "conversations" }, closing).finally(() => {
        current = undefined;
      }),
    };
    await within(current.waitMs, current.done, signal);
  };
}

async function hasConversations(journal: Journal): Promise<boolean> {
  for await (const { sessionId } of journal.heads()) if (!RESERVED_JOURNALS.has(sessionId)) return true;
  return false;
}
