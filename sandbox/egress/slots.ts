type Line = { running: number; readonly waiting: Set<() => void> };

/** So many pieces of work of each user are under way at once. */
export type Slots = {
  /** Does the work as soon as its user has a slot free. Rejects with the signal's reason when that comes first. */
  take<T>(user: object, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
};

export function slotsByUser(limit: number): Slots {
  const lines = new WeakMap<object, Line>();
  return {
    async take(user, signal, work) {
      const line = lines.get(user) ?? { running: 0, waiting: new Set() };
      lines.set(user, line);
      if (line.running >= limit) await nextTurn(line, signal);
      else line.running += 1;
      try {
        return await work();
      } finally {
        const [next] = line.waiting;
        // A slot is handed on, so that nobody who comes now takes it.
        if (next) next();
        else line.running -= 1;
      }
    },
  };
}

/** Resolves with a slot that its holder hands on. */
function nextTurn(line: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      line.waiting.delete(go);
      signal.removeEventListener("abort", giveUp);
    };
    const go = () => {
      leave();
      resolve();
    };
    const giveUp = () => {
      leave();
      reject(signal.reason);
    };
    if (signal.aborted) return giveUp();
    line.waiting.add(go);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}
