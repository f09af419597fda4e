/** Gives back its place, once; more often does nothing. */
export type Leave = () => void;

/**
 * Lets at most so many jobs run at one moment, and of one owner only one. Owners that wait take turns, so that one with
 * many jobs does not hold up the others.
 */
export type SlotQueue = {
  /** Calls `job` when there is a place for it, which may be now. */
  enter(owner: number, job: (leave: Leave) => void): void;
  /** Whether a job of this owner is running. */
  isRunning(owner: number): boolean;
  /** Forgets what this owner has waiting. */
  drop(owner: number): void;
};

export function slotQueue(slots: number): SlotQueue {
  /** Owners with waiting jobs, the next one first. */
  const waiting = new Map<number, ((leave: Leave) => void)[]>();
  const running = new Set<number>();
  let picking = false;

  function start(owner: number, job: (leave: Leave) => void): void {
    running.add(owner);
    let left = false;
    job(() => {
      if (left) return;
      left = true;
      running.delete(owner);
      next();
    });
  }

  /** The next waiting job of an owner that has none running. */
  function pick(): { owner: number; job: (leave: Leave) => void } | undefined {
    for (const [owner, jobs] of waiting) {
      if (running.has(owner)) continue;
      const job = jobs.shift();
      waiting.delete(owner);
      if (jobs.length > 0) waiting.set(owner, jobs);
      if (job) return { owner, job };
    }
    return undefined;
  }

  /** Jobs may end within their call, so that this is called from within itself: the outer one goes on then. */
  function next(): void {
    if (picking) return;
    picking = true;
    while (running.size < slots) {
      const picked = pick();
      if (!picked) break;
      start(picked.owner, picked.job);
    }
    picking = false;
  }

  return {
    enter(owner, job) {
      const jobs = waiting.get(owner);
      if (!jobs && running.size < slots && !running.has(owner)) {
        start(owner, job);
      } else if (jobs) jobs.push(job);
      else waiting.set(owner, [job]);
    },
    isRunning: (owner) => running.has(owner),
    drop: (owner) => void waiting.delete(owner),
  };
}
