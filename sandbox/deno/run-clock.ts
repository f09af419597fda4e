/** The wall time of one run, which stands still while a person is asked. */
export type RunClock = {
  /** Waits for an answer; meanwhile no time passes. */
  hold<T>(answer: Promise<T>): Promise<T>;
  /** True when the time is over. */
  readonly isOver: boolean;
  stop(): void;
};

/** @param onOver is called once, when the time is over */
export function startRunClock(limitMs: number, now: () => number, onOver: () => void): RunClock {
  let leftMs = limitMs;
  let held = 0;
  let isOver = false;
  let stopped = false;
  let startedMs = now();
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    startedMs = now();
    timer = setTimeout(() => {
      isOver = true;
      onOver();
    }, leftMs);
  }

  function halt(): void {
    clearTimeout(timer);
    leftMs = Math.max(0, leftMs - (now() - startedMs));
  }

  start();
  return {
    async hold(answer) {
      held += 1;
      if (held === 1) halt();
      try {
        return await answer;
      } finally {
        held -= 1;
        if (held === 0 && !isOver && !stopped) start();
      }
    },
    get isOver() {
      return isOver;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
