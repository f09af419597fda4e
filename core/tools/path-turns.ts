const turns = new Map<string, Promise<unknown>>();

/** Runs steps on the same path one after the other, whichever session they are of. Forgets a path when nobody waits. */
export async function inTurn<T>(path: string, step: () => Promise<T>): Promise<T> {
  const before = turns.get(path);
  const mine = before === undefined ? step() : before.then(step, step);
  turns.set(path, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(path) === mine) turns.delete(path);
  }
}
