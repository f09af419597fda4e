import { openTokenBucket } from "../../core/domain/token-bucket.ts";

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
  const bucket = openTokenBucket(RESTARTS_LIMIT, (RESTARTS_LIMIT * 1000) / WINDOW_MS, now);
  return { take: () => (bucket.take(1) ? 0 : bucket.waitMs(1)) };
}
