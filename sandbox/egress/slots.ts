type Line = { running: number; readonly waiting: Set<() => void> };

/** So many pieces of work are under way at once; others wait, in the order of coming. */
export type Slots = {
  /** Does the work as soon as a slot is free. Rejects with the signal's reason when that comes first. */
  take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
};

export function openSlots(limit: number): Slots {
  const line: Line = { running: 0, waiting: new Set() };
  return {
    async take(signal, work) {
      signal.throwIfAborted();
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

/** Slots of each user's own, so that one cannot hold up another. */
export function slotsByUser(limit: number): (user: object) => Slots {
  const slots = new WeakMap<object, Slots>();
  return (user) => {
    const own = slots.get(user) ?? openSlots(limit);
    slots.set(user, own);
    return own;
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
    line.waiting.add(go);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}
