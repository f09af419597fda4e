/** Runs pieces of work one after the other, in the order of asking; what becomes of one is its own caller's. */
export type OneByOne = <T>(work: () => Promise<T>) => Promise<T>;

export function oneByOne(): OneByOne {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}
