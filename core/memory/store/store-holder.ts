import { fail, ok, type Result } from "../../domain/failure.ts";
import { moveAside, openStore } from "./open-store.ts";
import type { Store, StoredSegment } from "./store.ts";

/** An open store with what is searched of it. */
export type OpenStore = {
  readonly store: Store;
  /** Replaced as a whole by a publication. */
  segments: readonly StoredSegment[];
  /** Aborts when the store is given up. */
  readonly retired: AbortSignal;
};

/**
 * Holds at most one open store. `use` opens it when needed and lends it out; a store that turns out damaged is moved aside
 * when its last user is done, and the work is done once more on a fresh one.
 */
export type StoreHolder = {
  use<T>(work: (open: OpenStore) => Promise<Result<T>>): Promise<Result<T>>;
  close(): Promise<void>;
};

type Lent = OpenStore & {
  users: number;
  readonly stop: AbortController;
  readonly gone: Promise<void>;
  readonly release: () => void;
};

/** @param refill brings a freshly made store up to date before anybody else gets it. */
export function holdStore(file: string, refill: (open: OpenStore) => Promise<Result<void>>): StoreHolder {
  let opening: Promise<Result<Lent>> | undefined;
  let giving: Promise<void> = Promise.resolve();
  let closed = false;

  async function open(): Promise<Result<Lent>> {
    await giving;
    const opened = await openStore(file);
    if (!opened.ok) return opened;
    const lent = lend(opened.value);
    const filled = opened.value.fresh ? await refill(lent) : await load(lent);
    if (filled.ok) return ok(lent);
    retire(lent, filled.failure.code === "corrupt");
    return filled;
  }

  function lend(store: Store): Lent {
    const stop = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    return { store, segments: [], retired: stop.signal, stop, users: 0, gone: promise, release: resolve };
  }

  async function load(lent: Lent): Promise<Result<void>> {
    const segments = await lent.store.segments();
    if (!segments.ok) return segments;
    lent.segments = segments.value;
    return ok(undefined);
  }

  /** The store is closed, and if damaged moved aside, as soon as nobody uses it. */
  function retire(lent: Lent, damaged: boolean): void {
    if (lent.retired.aborted) return;
    lent.stop.abort();
    opening = undefined;
    giving = lent.gone.then(async () => {
      lent.store.close();
      if (damaged) await moveAside(file);
    });
    if (lent.users === 0) lent.release();
  }

  async function useOnce<T>(work: (open: OpenStore) => Promise<Result<T>>): Promise<Result<T>> {
    if (closed) return fail("unavailable", "memory is closed", { hint: "the daemon is ending; start it again" });
    opening ??= open();
    const mine = opening;
    const lent = await mine;
    if (!lent.ok) {
      if (opening === mine) opening = undefined;
      return lent;
    }
    lent.value.users += 1;
    try {
      const result = await work(lent.value);
      if (!result.ok && result.failure.code === "corrupt") retire(lent.value, true);
      return result;
    } finally {
      lent.value.users -= 1;
      if (lent.value.users === 0 && lent.value.retired.aborted) lent.value.release();
    }
  }

  return {
    async use(work) {
      const result = await useOnce(work);
      return !result.ok && result.failure.code === "corrupt" ? useOnce(work) : result;
    },
    async close() {
      closed = true;
      const lent = await opening;
      if (lent?.ok) retire(lent.value, false);
      await giving;
    },
  };
}
