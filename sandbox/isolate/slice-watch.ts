/** Notices slices that do not end. One timer for all: setting one for each slice costs more than most slices. */
export type SliceWatch = {
  /** From now on `onLate` is called once when the slice has not ended within so many milliseconds. */
  begin(limitMs: number, onLate: () => void): SliceMark;
  end(mark: SliceMark): void;
};

export type SliceMark = { readonly dueMs: number; readonly onLate: () => void };

/** How often it looks: by so much is a slice noticed too late, milliseconds. */
const LOOK_MS = 100;
/** It looks on for so many times when nothing runs, so that a busy host does not set a timer for every slice. */
const LOOKS_AT_REST = 20;

/** @param now milliseconds */
export function sliceWatch(now: () => number): SliceWatch {
  const running = new Set<SliceMark>();
  let looking = false;
  let restedLooks = 0;

  function look(): void {
    const nowMs = now();
    for (const mark of running) {
      if (mark.dueMs > nowMs) continue;
      running.delete(mark);
      mark.onLate();
    }
    restedLooks = running.size === 0 ? restedLooks + 1 : 0;
    looking = restedLooks < LOOKS_AT_REST;
    if (looking) setTimeout(look, LOOK_MS);
  }

  return {
    begin(limitMs, onLate) {
      const mark = { dueMs: now() + limitMs, onLate };
      running.add(mark);
      restedLooks = 0;
      if (!looking) setTimeout(look, LOOK_MS);
      looking = true;
      return mark;
    },
    end: (mark) => void running.delete(mark),
  };
}
