/** When a hook is turned off because its process had to be killed. */
export type BreakerLimits = {
  /** The kill that makes it so many turns it off. */
  readonly killsAllowed: number;
  /** Within this time, milliseconds. */
  readonly killWindowMs: number;
};

/** Counts the kills of each hook. What it has counted ends with the daemon; a hook that it turned off stays off. */
export type HookBreaker = {
  /** Notes a kill; the reason to turn the hook off when it was one too many. */
  killed(hook: string, sourceHash: string): string | undefined;
  /** Begins to count anew. */
  reset(hook: string): void;
};

export function hookBreaker({ killsAllowed, killWindowMs }: BreakerLimits, now: () => number): HookBreaker {
  const counted = new Map<string, { readonly sourceHash: string; readonly timesMs: readonly number[] }>();
  return {
    killed(hook, sourceHash) {
      const before = counted.get(hook);
      const nowMs = now();
      const earlier = before?.sourceHash === sourceHash ? before.timesMs : [];
      const timesMs = [...earlier.filter((timeMs) => nowMs - timeMs < killWindowMs), nowMs];
      counted.set(hook, { sourceHash, timesMs });
      if (timesMs.length < killsAllowed) return undefined;
      counted.delete(hook);
      return `its process had to be killed ${timesMs.length} times within ${Math.ceil(killWindowMs / 1000)} seconds`;
    },
    reset: (hook) => void counted.delete(hook),
  };
}
