import { openSegment, type Segment } from "../lexical/segment.ts";
import type { VectorBlock } from "../vector/vector-block.ts";

/** A thread keeps what it made of something that was not searched in the last so many searches, and no longer. */
const KEPT_SEARCHES = 32;

export type NamedSegment = {
  /** Names these bytes as long as this process lives: no other bytes ever have this number. */
  readonly key: number;
  readonly buffer: SharedArrayBuffer;
};

export type NamedBlock = {
  /** As that of a segment. */
  readonly key: number;
  readonly block: VectorBlock;
};

/**
 * The segments that this thread has opened. Shared memory arrives as another object with every task, so it is known by
 * its number; views, decoded groups and whatever hangs on a segment are made once.
 */
export type OpenedSegments = (segments: readonly NamedSegment[]) => readonly Segment[];

/** The same for blocks of vectors: on the object of a memory hangs the scan that was made for it. */
export type OpenedBlocks = (blocks: readonly NamedBlock[]) => readonly VectorBlock[];

export function openedSegments(): OpenedSegments {
  return keptByKey(({ buffer }) => {
    const segment = openSegment(buffer);
    if (segment === undefined) throw new Error("a segment in memory is damaged");
    return segment;
  });
}

export function openedBlocks(): OpenedBlocks {
  return keptByKey(({ block }) => block);
}

function keptByKey<Named extends { readonly key: number }, Opened>(make: (named: Named) => Opened) {
  const kept = new Map<number, { readonly opened: Opened; lastSearch: number }>();
  let search = 0;

  function open(named: Named): Opened {
    const known = kept.get(named.key);
    if (known !== undefined) {
      known.lastSearch = search;
      return known.opened;
    }
    const opened = make(named);
    kept.set(named.key, { opened, lastSearch: search });
    return opened;
  }

  return (wanted: readonly Named[]): readonly Opened[] => {
    search += 1;
    const opened = wanted.map(open);
    for (const [key, { lastSearch }] of kept) if (search - lastSearch > KEPT_SEARCHES) kept.delete(key);
    return opened;
  };
}
