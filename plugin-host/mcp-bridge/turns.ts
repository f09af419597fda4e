/** Lets so many pieces of work run at once; the others wait in the order of their coming. */
export type Turns = {
  /** Rejects with the signal's reason when it aborts before the turn comes. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
};

export function createTurns(atOnce: number): Turns {
  let free = atOnce;
  const line: (() => void)[] = [];

  async function enter(signal: AbortSignal | undefined): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      line.splice(line.indexOf(resolve), 1);
      reject(signal?.reason);
    };
    line.push(resolve);
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  function leave(): void {
    const next = line.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async run(work, signal) {
      signal?.throwIfAborted();
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
