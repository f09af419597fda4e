export type Scored = {
  /** Breaks ties: the smaller one is first. */
  readonly id: number;
  readonly score: number;
};

/** Negative when `a` is the better one. */
export function compareScored(a: Scored, b: Scored): number {
  return b.score - a.score || a.id - b.id;
}

/** Keeps the best so many of all that it is offered. */
export type BestScored<T extends Scored> = {
  /** What a score must reach to have a chance; -Infinity while there is room. */
  least(): number;
  offer(found: T): void;
  /** Best first. Ends its use. */
  take(): T[];
};

export function bestScored<T extends Scored>(limit: number): BestScored<T> {
  // A heap with the worst one on top.
  const heap: T[] = [];

  function sink(found: T): void {
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      let below = heap[child];
      if (below === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && compareScored(right, below) > 0) {
        child += 1;
        below = right;
      }
      if (compareScored(found, below) > 0) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = found;
  }

  function rise(found: T): void {
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || compareScored(above, found) > 0) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = found;
  }

  return {
    least: () => (heap.length < limit ? Number.NEGATIVE_INFINITY : (heap[0]?.score ?? Number.POSITIVE_INFINITY)),
    offer(found) {
      if (heap.length < limit) rise(found);
      else if (heap[0] !== undefined && compareScored(found, heap[0]) < 0) sink(found);
    },
    take: () => heap.sort(compareScored),
  };
}
