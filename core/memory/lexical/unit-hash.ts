export const HASH_START = 0x811c_9dc5;
export const HASH_FACTOR = 0x0100_0193;

/** FNV-1a over UTF-16 units, 32 bits with a sign. Go on with the hash of what stands before by giving it as `start`. */
export function hashUnits(text: string, start: number = HASH_START, from = 0, to: number = text.length): number {
  let hash = start;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), HASH_FACTOR);
  return hash;
}

/** Spreads the bits of a hash over 32, the last step of MurmurHash 3: the low ones of FNV depend on too few characters. */
export function spreadBits(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
