/** Lets at most `slots` jobs run at one moment; the others wait in order. */
export type SlotQueue = {
  /** Calls `job` when a slot is free; `job` gives the slot back by calling its argument, once. */
  enter(job: (leave: () => void) => void): void;
};

export function slotQueue(slots: number): SlotQueue {
  const waiting: ((leave: () => void) => void)[] = [];
  let running = 0;

  function next(): void {
    while (running < slots) {
      const job = waiting.shift();
      if (!job) return;
      running += 1;
      let left = false;
      job(() => {
        if (left) return;
        left = true;
        running -= 1;
        next();
      });
    }
  }

  return {
    enter(job) {
      waiting.push(job);
      next();
    },
  };
}
