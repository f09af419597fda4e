/** How much of something a plugin may do: at once so much, and then so much a second. */
export type Budget = {
  /** Takes from what is there; false, and takes nothing, when that is not enough. */
  take(cost: number): boolean;
};

/** @param now milliseconds; a clock that is set back takes nothing away */
export function openBudget(atOnce: number, perSecond: number, now: () => number): Budget {
  let left = atOnce;
  let filledAtMs = now();
  return {
    take(cost) {
      const nowMs = now();
      left = Math.min(atOnce, left + (Math.max(0, nowMs - filledAtMs) * perSecond) / 1000);
      filledAtMs = nowMs;
      if (left < cost) return false;
      left -= cost;
      return true;
    },
  };
}
