/** Tells of guests that have come to rest, a moment later: most are asked something again before anybody needs to know. */
export type RestNews = {
  /** Calls `tell` when `unrest` does not come first. */
  rest(guest: number, tell: () => void): void;
  unrest(guest: number): void;
};

const AFTER_MS = 2;

export function restNews(): RestNews {
  const resting = new Map<number, () => void>();
  let telling = false;

  function tellAll(): void {
    telling = false;
    const tells = [...resting.values()];
    resting.clear();
    for (const tell of tells) tell();
  }

  return {
    rest(guest, tell) {
      resting.set(guest, tell);
      if (!telling) setTimeout(tellAll, AFTER_MS);
      telling = true;
    },
    unrest: (guest) => void resting.delete(guest),
  };
}
