import { fail, ok, type Result } from "../../domain/failure.ts";
import { isInvalidated } from "./duckdb.ts";
import { moveAside, openStore } from "./open-store.ts";
import type { BuildSegmentFile, Store, StoredSegment } from "./store.ts";

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
 * when its last user is done, and the work is done once more on a fresh one. A store that nobody used for a while is
 * closed, its memory given back, and opened again at the next use.
 */
export type StoreHolder = {
  use<T>(work: (open: OpenStore) => Promise<Result<T>>): Promise<Result<T>>;
  /** Waits until nobody uses the store, closes it, and does something with its files before anybody opens it again. */
  whileClosed<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export type StoreHolderOptions = {
  /** Folder of the store. */
  readonly dir: string;
  /** Brings a freshly made store up to date before anybody else gets it. */
  readonly refill: (open: OpenStore) => Promise<Result<void>>;
  readonly build: BuildSegmentFile;
  /** Unused for so long, a store is closed. */
  readonly idleTimeoutMs: number;
};

type Lent = OpenStore & {
  users: number;
  readonly stop: AbortController;
  readonly gone: Promise<void>;
  readonly release: () => void;
};

export function holdStore({ dir, refill, build, idleTimeoutMs }: StoreHolderOptions): StoreHolder {
  let opening: Promise<Result<Lent>> | undefined;
  let giving: Promise<void> = Promise.resolve();
  let closed = false;
  let idle: NodeJS.Timeout | undefined;

  async function open(): Promise<Result<Lent>> {
    await giving;
    const opened = await openStore(dir);
    if (!opened.ok) return opened;
    const lent = lend(opened.value);
    let filled: Result<void>;
    try {
      filled = opened.value.fresh ? await refill(lent) : await load(lent);
    } catch (cause) {
      // Left open, it would refuse every later opening.
      retire(lent, false);
      throw cause;
    }
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
    const read = await lent.store.segments();
    if (!read.ok) return read;
    lent.segments = read.value.segments;
    return read.value.anyLost ? repair(lent) : ok(undefined);
  }

  /** The texts are all there: lost segments are built from them again. */
  async function repair(lent: Lent): Promise<Result<void>> {
    const nothing = { freshIds: [], goneIds: [], watermarks: new Map<string, number>() };
    const published = await lent.store.publish({ ...nothing, build, signal: lent.retired });
    if (!published.ok) return published;
    lent.segments = published.value;
    return ok(undefined);
  }

  /** The store is closed, and if damaged moved aside, as soon as nobody uses it. */
  function retire(lent: Lent, damaged: boolean): void {
    if (lent.retired.aborted) return;
    clearTimeout(idle);
    lent.stop.abort();
    opening = undefined;
    giving = lent.gone.then(async () => {
      await lent.store.close();
      if (damaged) await moveAside(dir);
    });
    if (lent.users === 0) lent.release();
  }

  function rest(lent: Lent): void {
    clearTimeout(idle);
    if (lent.retired.aborted) lent.release();
    else idle = setTimeout(() => retire(lent, false), idleTimeoutMs).unref();
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
    // Somebody deleted its files: it is made anew, as it would be after a restart.
    if (!lent.value.store.isInPlace()) retire(lent.value, false);
    // Or it went to rest between two turns of the loop.
    if (lent.value.retired.aborted && lent.value.users === 0) return useOnce(work);
    clearTimeout(idle);
    lent.value.users += 1;
    try {
      const result = await work(lent.value);
      if (!result.ok && result.failure.code === "corrupt") retire(lent.value, true);
      else if (!result.ok && isInvalidated(result.failure)) retire(lent.value, false);
      return result;
    } finally {
      lent.value.users -= 1;
      if (lent.value.users === 0) rest(lent.value);
    }
  }

  return {
    async use(work) {
      const result = await useOnce(work);
      return !result.ok && result.failure.code === "corrupt" ? useOnce(work) : result;
    },
    async whileClosed(work) {
      // No wait between the last look and the promise that openings wait for.
      for (let mine = opening; mine !== undefined; mine = opening) {
        const lent = await mine;
        if (lent.ok) retire(lent.value, false);
        if (opening === mine) opening = undefined;
      }
      const done = giving.then(work);
      giving = done.then(
        () => undefined,
        () => undefined,
      );
      return done;
    },
    async close() {
      closed = true;
      const lent = await opening;
      if (lent?.ok) retire(lent.value, false);
      await giving;
    },
  };
}

/** What was begun with a store ends with it. */
export function givenUp(): Result<never> {
  return fail("unavailable", "the store that vectors are made for was closed meanwhile", {
    hint: "it is tried again by itself",
  });
}
