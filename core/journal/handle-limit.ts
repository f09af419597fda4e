/** Something with an open file handle. `rest` gives the handle back unless it is in use; true when it did. */
export type HandleHolder = { rest(): boolean };

/** Keeps the number of open handles bounded by giving back the one that was used longest ago. */
export type HandleLimit = {
  used(holder: HandleHolder): void;
  closed(holder: HandleHolder): void;
};

/** Handles in use count too but are never taken away, so a burst may go over the limit while it lasts. */
export function handleLimit(limit: number): HandleLimit {
  const holders = new Set<HandleHolder>();
  return {
    used(holder) {
      holders.delete(holder);
      holders.add(holder);
      if (holders.size <= limit) return;
      for (const oldest of holders) {
        if (oldest !== holder && oldest.rest()) holders.delete(oldest);
        if (holders.size <= limit) return;
      }
    },
    closed(holder) {
      holders.delete(holder);
    },
  };
}
