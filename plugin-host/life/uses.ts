/** Counts who uses one process at this moment. */
export type Uses = {
  count(): number;
  /** Until the value is called; calling it again does nothing. */
  take(): () => void;
  /** Resolves when nobody uses it, at once when that is so now. */
  ended(): Promise<void>;
};

/** @param onChange hears of every use that begins or ends, when it is counted */
export function countUses(onChange: () => void): Uses {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    count: () => count,
    take: () => {
      count++;
      onChange();
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        count--;
        if (count === 0) {
          for (const resolve of waiting) resolve();
          waiting = [];
        }
        onChange();
      };
    },
    ended: async () => {
      if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
