import { openSegment, type Segment } from "../lexical/segment.ts";

/** A thread keeps what it made of a segment that was not searched in the last so many searches, and no longer. */
const KEPT_SEARCHES = 32;

export type NamedSegment = {
  /** Names these bytes as long as this process lives: no other bytes ever have this number. */
  readonly key: number;
  readonly buffer: SharedArrayBuffer;
};

/**
 * The segments that this thread has opened. Shared memory arrives as another object with every task, so it is known by
 * its number; views, decoded groups and whatever hangs on a segment are made once.
 */
export type OpenedSegments = (segments: readonly NamedSegment[]) => readonly Segment[];

export function openedSegments(): OpenedSegments {
  const opened = new Map<number, { readonly segment: Segment; lastSearch: number }>();
  let search = 0;

  function open({ key, buffer }: NamedSegment): Segment {
    const known = opened.get(key);
    if (known !== undefined) {
      known.lastSearch = search;
      return known.segment;
    }
    const segment = openSegment(buffer);
    if (segment === undefined) throw new Error("a segment in memory is damaged");
    opened.set(key, { segment, lastSearch: search });
    return segment;
  }

  return (segments) => {
    search += 1;
    const wanted = segments.map(open);
    for (const [key, { lastSearch }] of opened) if (search - lastSearch > KEPT_SEARCHES) opened.delete(key);
    return wanted;
  };
}
