import { fail, ok, type Result } from "../domain/failure.ts";
import type { IndexProgress } from "../domain/memory.ts";
import { storedSegment } from "./embedded-segments.ts";
import type { IndexDesk, Troubles } from "./index-desk.ts";
import type { EmbeddedSegment, SearchVectors } from "./search-vectors.ts";
import { openStore, ownBytes, vectorBytes } from "./store/open-store.ts";
import { enterSide, leaveSide, swapIn } from "./store/side-folder.ts";
import type { Store } from "./store/store.ts";
import { givenUp, type OpenStore, type StoreHolder } from "./store/store-holder.ts";
import { expectRoomFor } from "./survey.ts";
import { stopped } from "./unless-aborted.ts";
import { within } from "./within.ts";

/** So long the store before goes on answering while vectors of the new one are made; those that are missing then come later. */
const VECTORS_WAIT_MS = 60_000;

export type RebuildMeans = {
  /** Memory's folder. */
  readonly dir: string;
  readonly desk: IndexDesk;
  readonly holder: StoreHolder;
  readonly vectors: SearchVectors;
  readonly closing: AbortSignal;
};

/** Makes the store anew beside the one that is searched, and puts it in its place when it is whole. */
export type Rebuild = {
  /** Cancelled, failed or killed, it leaves the store that was there. Index runs wait for its end, searches do not. */
  run(report: (progress: IndexProgress) => void, signal: AbortSignal): Promise<Result<IndexProgress>>;
  isUnderWay(): boolean;
  /** What is filled, for its vectors. */
  segments(): readonly EmbeddedSegment[];
};

/** The store that is filled; its users are waited for before it is closed. */
type SideStore = {
  readonly open: OpenStore;
  readonly segments: () => readonly EmbeddedSegment[];
  close(): Promise<void>;
};

const WHAT = "the rebuilding";

export function openRebuild({ dir, desk, holder, vectors, closing }: RebuildMeans): Rebuild {
  let underWay = false;
  let filled: SideStore | undefined;

  async function fillAndSwap(
    report: (progress: IndexProgress) => void,
    signal: AbortSignal,
  ): Promise<Result<IndexProgress>> {
    const side = await enterSide(dir);
    if (!side.ok) return side;
    try {
      const room = await expectRoomFor(side.value, await ownBytes(dir));
      if (!room.ok) return room;
      const store = await openSideStore(side.value);
      if (!store.ok) return store;
      const done = await fillAndClose(store.value, report, signal);
      if (!done.ok) return done;
      if (signal.aborted) return stopped(WHAT);
      const swapped = await holder.whileClosed(() => swapIn(dir));
      if (!swapped.ok) return swapped;
      desk.replaced(done.value.troubles);
      return ok(done.value.progress);
    } finally {
      await leaveSide(dir);
    }
  }

  async function fillAndClose(
    store: SideStore,
    report: (progress: IndexProgress) => void,
    signal: AbortSignal,
  ): ReturnType<typeof fill> {
    try {
      return await fill(store, report, signal);
    } finally {
      filled = undefined;
      await store.close();
    }
  }

  async function openSideStore(folder: string): Promise<Result<SideStore>> {
    const opened = await openStore(folder);
    if (!opened.ok) return opened;
    // What it may take is judged by what will be there when it has taken its place.
    const usedBytes = async () => (await opened.value.usedBytes()) + (await vectorBytes(dir));
    return ok(sideStore({ ...opened.value, usedBytes }));
  }

  async function fill(
    side: SideStore,
    report: (progress: IndexProgress) => void,
    signal: AbortSignal,
  ): Promise<Result<{ readonly progress: IndexProgress; readonly troubles: Troubles }>> {
    let removed = 0;
    const tell = (progress: IndexProgress) => {
      removed = progress.removed;
      report({ ...progress, done: false });
    };
    const troubles = await desk.refill(side.open, { report: tell, signal });
    if (!troubles.ok) return troubles;
    const counted = await side.open.store.counts();
    if (!counted.ok) return counted;
    filled = side;
    vectors.wake();
    await within(VECTORS_WAIT_MS, vectors.settled(), signal);
    if (signal.aborted) return stopped(WHAT);
    if (!side.open.store.isInPlace()) {
      return fail("unavailable", `somebody deleted what was being made anew in ${dir}`, { hint: "rebuild it again" });
    }
    const { files, pieces, skipped } = counted.value;
    const progress = { files, filesTotal: files, chunks: pieces, skipped, removed, done: true };
    return ok({ progress, troubles: troubles.value });
  }

  return {
    run(report, signal) {
      const stop = AbortSignal.any([signal, closing]);
      const work = async () => {
        underWay = true;
        try {
          return await fillAndSwap(report, stop);
        } finally {
          underWay = false;
        }
      };
      return desk.alone(work, signal, WHAT);
    },
    isUnderWay: () => underWay,
    segments: () => filled?.segments() ?? [],
  };
}

function sideStore(store: Store): SideStore {
  const retired = new AbortController();
  const users = new Set<Promise<unknown>>();
  const open: OpenStore = { store, segments: [], retired: retired.signal };

  function lend<T>(work: (retired: AbortSignal) => Promise<Result<T>>): Promise<Result<T>> {
    if (retired.signal.aborted) return Promise.resolve(givenUp());
    const user = work(retired.signal);
    users.add(user);
    const done = () => users.delete(user);
    user.then(done, done);
    return user;
  }

  return {
    open,
    segments: () => open.segments.map((segment) => storedSegment(segment, store, lend)),
    async close() {
      retired.abort();
      await Promise.allSettled(users);
      await store.close();
    },
  };
}
