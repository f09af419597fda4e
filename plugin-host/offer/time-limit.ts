/** A time limit that stands still while a person is waited for. */
export type TimeLimit = {
  /** Resolves when the time is up. */
  readonly over: Promise<void>;
  /** The time that this takes does not count. */
  hold<T>(work: Promise<T>): Promise<T>;
  /** From now on it is never over. */
  close(): void;
};

/** Starts at once. `now` is in milliseconds. */
export function openTimeLimit(limitMs: number, now: () => number): TimeLimit {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let leftMs = limitMs;
  let holds = 0;
  let closed = false;
  let sinceMs = now();
  let timer = setTimeout(resolve, leftMs);

  function stop(): void {
    clearTimeout(timer);
    leftMs = Math.max(0, leftMs - (now() - sinceMs));
  }

  function goOn(): void {
    sinceMs = now();
    timer = setTimeout(resolve, leftMs);
  }

  return {
    over,
    async hold(work) {
      holds += 1;
      if (holds === 1 && !closed) stop();
      try {
        return await work;
      } finally {
        holds -= 1;
        if (holds === 0 && !closed) goOn();
      }
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
