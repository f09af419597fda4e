/** How much of something may be done: at once so much, and then so much a second. */
export type TokenBucket = {
  /** Takes from what is there; false, and takes nothing, when that is not enough. */
  take(cost: number): boolean;
  /** Milliseconds until there is enough; 0 when there is now. */
  waitMs(cost: number): number;
};

/** @param now milliseconds; a clock that is set back gives nothing, and takes nothing away */
export function openTokenBucket(atOnce: number, perSecond: number, now: () => number): TokenBucket {
  let left = atOnce;
  let filledAtMs = now();
  const fill = () => {
    const nowMs = now();
    left = Math.min(atOnce, left + (Math.max(0, nowMs - filledAtMs) * perSecond) / 1000);
    filledAtMs = nowMs;
  };
  return {
    take(cost) {
      fill();
      if (left < cost) return false;
      left -= cost;
      return true;
    },
    waitMs(cost) {
      fill();
      return Math.max(0, Math.ceil(((cost - left) * 1000) / perSecond));
    },
  };
}
