const TICK_MS = 50;

/** A time limit that stands still while it is told to. */
export type Deadline = {
  /** Aborted when the time is over, or when what it was made from is aborted. */
  readonly signal: AbortSignal;
  /** True when it was the time, and not who gave the order. */
  isOver(): boolean;
  /** The clock stands still until the work has settled: a question to a person takes as long as it takes. */
  uncounted<T>(work: () => Promise<T> | T): Promise<T>;
  stop(): void;
};

/** Counts ticks instead of looking at a clock, so that a machine that slept or a starved loop is nobody's delay. */
export function startDeadline(limitMs: number, signal: AbortSignal): Deadline {
  const over = new AbortController();
  let leftMs = limitMs;
  let pauses = 0;
  const timer = setInterval(() => {
    if (pauses > 0) return;
    leftMs -= TICK_MS;
    if (leftMs > 0) return;
    clearInterval(timer);
    over.abort();
  }, TICK_MS);
  return {
    signal: AbortSignal.any([signal, over.signal]),
    isOver: () => over.signal.aborted,
    async uncounted(work) {
      pauses += 1;
      try {
        return await work();
      } finally {
        pauses -= 1;
      }
    },
    stop: () => clearInterval(timer),
  };
}

/** Settles as the work does, or rejects as soon as the signal is aborted; the work is then left to itself. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
