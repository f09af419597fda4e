import { ok, type Result } from "../domain/failure.ts";
import type { MemoryStats } from "../domain/memory.ts";
import { countVectors } from "./embedded-segments.ts";
import type { IndexDesk } from "./index-desk.ts";
import type { Notes } from "./note/notes.ts";
import { noteColumns } from "./note-columns.ts";
import type { EmbeddedSegment, SearchVectors } from "./search-vectors.ts";
import { storeBytes } from "./store/open-store.ts";
import type { CheckVectorFiles, Store } from "./store/store.ts";
import type { StoreHolder } from "./store/store-holder.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";

export type CaretakerMeans = {
  readonly dir: string;
  readonly storeLimitBytes: number;
  readonly pool: MemoryPool;
  readonly notes: Notes;
  readonly desk: IndexDesk;
  readonly holder: StoreHolder;
  readonly vectors: SearchVectors;
  /** Whether anything but notes was ever indexed. */
  hasStore(): Promise<boolean>;
  /** All that is searched. */
  segments(): Promise<Result<readonly EmbeddedSegment[]>>;
};

/** Looks after what is kept: counts and checks it, writes it out. */
export type Caretaker = {
  stats(): Promise<Result<MemoryStats>>;
  verify(signal: AbortSignal): Promise<Result<readonly string[]>>;
  exportTo(folder: string): Promise<Result<readonly string[]>>;
  /** Another text means another content; undefined while there is no store. */
  revision(): Promise<Result<string | undefined>>;
};

const NO_COUNTS = { files: 0, messages: 0, pieces: 0, skipped: 0, removed: 0, errors: 0 } as const;

export function openCaretaker(means: CaretakerMeans): Caretaker {
  const { dir, pool, notes, desk, holder, vectors, hasStore } = means;
  const openings = new WeakMap<Store, number>();
  let openingCount = 0;

  async function stats(): Promise<Result<MemoryStats>> {
    const noted = await notes.count();
    if (!noted.ok) return noted;
    const { folders, sources } = await desk.listed();
    const counted = (await hasStore()) ? await holder.use(({ store }) => store.counts()) : ok(NO_COUNTS);
    if (!counted.ok) return counted;
    const segments = await means.segments();
    if (!segments.ok) return segments;
    const { files, messages, pieces, skipped, removed, errors } = counted.value;
    // After a start vectors are read when they are first needed: whoever looks at how many there are wants them there.
    vectors.wake();
    return ok({
      ...{ files, chunks: pieces, notes: noted.value, storeBytes: await storeBytes(dir), folders, sources, messages },
      ...{ skipped, removed, errors, embedder: vectors.state().embedderId, storeLimitBytes: means.storeLimitBytes },
      ...countVectors(segments.value, vectors),
    });
  }

  async function verify(signal: AbortSignal): Promise<Result<readonly string[]>> {
    const found: string[] = [];
    const noted = await notes.segments();
    if (!noted.ok) found.push(noted.failure.message);
    if (!(await hasStore())) return ok(found);
    const areWhole: CheckVectorFiles = (files, stop) => pool.run("checkVectors", files, "back", stop);
    const stored = await holder.use(({ store }) => store.problems(areWhole, signal));
    return stored.ok ? ok([...found, ...stored.value]) : stored;
  }

  /** A store that was closed and opened again counts from the beginning. */
  async function revision(): Promise<Result<string | undefined>> {
    if (!(await hasStore())) return ok(undefined);
    return holder.use(async ({ store }) => ok(`${numberOfOpening(store)}.${store.revision()}`));
  }

  function numberOfOpening(store: Store): number {
    const known = openings.get(store);
    if (known !== undefined) return known;
    openingCount += 1;
    openings.set(store, openingCount);
    return openingCount;
  }

  async function exportTo(folder: string): Promise<Result<readonly string[]>> {
    const all = await notes.everything();
    if (!all.ok) return all;
    return holder.use(({ store }) => store.exportTo(folder, noteColumns(all.value)));
  }

  return { stats, verify, exportTo, revision };
}
