/** Some 20 MB. With fewer, the words of one segment would drive each other out. */
const CACHE_LIMIT_TOKENS = 131_072;
/** A power of two, and twice the tokens, so that a probe soon meets an empty place. */
const CACHE_SLOTS = CACHE_LIMIT_TOKENS * 2;
/** Longer ones are rare, and read anew every time. */
export const CACHED_LIMIT_UNITS = 40;
const FIRST_TOKENS = 1_024;
const FIRST_UNITS = 8_192;

/** What is known of tokens, by their units: finding one makes no string. Forgets all when it is full. */
export type TokenCache<T> = {
  find(units: Uint16Array, start: number, end: number, hash: number): T | undefined;
  /** Gives back what is to be kept, unless the token is too long for it. */
  keep(units: Uint16Array, start: number, end: number, hash: number, found: T): T;
};

export function createTokenCache<T>(): TokenCache<T> {
  /** A token's number and 1, at a place that its hash says; 0 for none. */
  let slots = new Int32Array(0);
  let hashes = new Int32Array(FIRST_TOKENS);
  /** Where the units of each token begin, and at last where the next ones will. */
  let starts = new Uint32Array(FIRST_TOKENS + 1);
  let arena = new Uint16Array(FIRST_UNITS);
  let known: T[] = [];

  function find(units: Uint16Array, start: number, end: number, hash: number): T | undefined {
    if (slots.length === 0) return undefined;
    let slot = slotOf(hash);
    for (let taken = slots[slot] ?? 0; taken !== 0; taken = slots[slot] ?? 0) {
      if (hashes[taken - 1] === hash && isToken(taken - 1, units, start, end)) return known[taken - 1];
      slot = (slot + 1) & (CACHE_SLOTS - 1);
    }
    return undefined;
  }

  function isToken(number: number, units: Uint16Array, start: number, end: number): boolean {
    const from = starts[number] ?? 0;
    if ((starts[number + 1] ?? 0) - from !== end - start) return false;
    for (let at = 0; at < end - start; at += 1) if (arena[from + at] !== units[start + at]) return false;
    return true;
  }

  function keep(units: Uint16Array, start: number, end: number, hash: number, found: T): T {
    if (end - start > CACHED_LIMIT_UNITS) return found;
    if (slots.length === 0 || known.length >= CACHE_LIMIT_TOKENS) {
      slots = new Int32Array(CACHE_SLOTS);
      known = [];
    }
    const number = known.length;
    const from = starts[number] ?? 0;
    if (number === hashes.length) {
      hashes = copied(hashes, new Int32Array(number * 2));
      starts = copied(starts, new Uint32Array(number * 2 + 1));
    }
    if (from + CACHED_LIMIT_UNITS > arena.length) arena = copied(arena, new Uint16Array(arena.length * 2));
    arena.set(units.subarray(start, end), from);
    starts[number + 1] = from + end - start;
    hashes[number] = hash;
    known.push(found);
    let slot = slotOf(hash);
    while (slots[slot] !== 0) slot = (slot + 1) & (CACHE_SLOTS - 1);
    slots[slot] = number + 1;
    return found;
  }

  return { find, keep };
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (CACHE_SLOTS - 1);
}

function copied<T extends Int32Array | Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
