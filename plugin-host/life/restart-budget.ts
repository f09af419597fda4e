/** Restarts that all plugins together may make at once, and in any such window on. */
const RESTARTS_LIMIT = 10;
const WINDOW_MS = 10_000;

/** Keeps a cause that fells many plugins at once from becoming a storm of starts. One for all plugins of a host. */
export type RestartBudget = {
  /** 0 when a restart may happen now, which is counted; otherwise how many milliseconds it should wait. */
  take(): number;
};

/** @param now milliseconds since 1970-01-01 UTC */
export function createRestartBudget(now: () => number): RestartBudget {
  const perMs = RESTARTS_LIMIT / WINDOW_MS;
  let tokens = RESTARTS_LIMIT;
  let atMs = now();
  return {
    take: () => {
      const nowMs = now();
      // A clock that was set back gives nothing, and takes nothing.
      tokens = Math.min(RESTARTS_LIMIT, tokens + Math.max(0, nowMs - atMs) * perMs);
      atMs = nowMs;
      if (tokens < 1) return Math.ceil((1 - tokens) / perMs);
      tokens--;
      return 0;
    },
  };
}
