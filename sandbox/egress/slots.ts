type Line = { running: number; readonly waiting: Set<() => void> };

/** So many pieces of work of each user are under way at once. */
export type Slots = {
  /** Does the work as soon as its user has a slot free, or when the signal comes: the work sees to that itself. */
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
        if (next) next();
        else line.running -= 1;
      }
    },
  };
}

/** Resolves with a slot that its holder hands on, or with one of its own when it need not wait for one any more. */
function nextTurn(line: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      line.waiting.delete(go);
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = () => {
      line.running += 1;
      go();
    };
    line.waiting.add(go);
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
}
