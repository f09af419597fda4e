/** Lets pieces of work touch the same thing one after the other, in the order of asking. */
export type TurnQueue = {
  /** Runs the work when all before it is over, however that ended. */
  take<T>(work: () => Promise<T>): Promise<T>;
  /** True while work runs or waits. */
  isBusy(): boolean;
};

export function turnQueue(): TurnQueue {
  let last: Promise<unknown> = Promise.resolve();
  let count = 0;
  return {
    take(work) {
      count += 1;
      const turn = last.then(work).finally(() => {
        count -= 1;
      });
      // The one who asked sees the error; whoever comes next only needs to know that the turn is over.
      last = turn.catch(() => {});
      return turn;
    },
    isBusy: () => count > 0,
  };
}
