/** Fractions from 0 up to 1 that nobody foresees, so that many who wait for the same do not come back at once. */
export function jitterFrom(random: (bytes: number) => Uint8Array): () => number {
  return () => Buffer.from(random(4)).readUInt32LE() / 2 ** 32;
}
