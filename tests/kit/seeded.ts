/** Numbers from 0 up to 1, the same ones for the same seed: a failure can be run again. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Whole numbers from 0 to `below`, the same ones for the same seed. */
export function seededBelow(seed: number): (below: number) => number {
  const next = seeded(seed);
  return (below) => Math.floor(next() * below);
}
