import { embedder, servePlugin } from "clawd/plugin";

const DIMENSIONS = 256;

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) state = Math.imul(state ^ byte, 0x01000193) >>> 0;
  return state;
}

/** Words, and their pieces of three letters: "fishing" is then near "fish". */
function features(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const pieces = (word: string) => Array.from({ length: word.length - 2 }, (_, at) => word.slice(at, at + 3));
  return words.flatMap((word) => [word, ...pieces(`^${word}$`)]);
}

/** A unit vector, or all zeros for a text without words. A feature adds one, or takes one away, at a place of its own. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const feature of features(text)) {
    const code = hash(feature);
    const at = code % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + (code & 0x80000000 ? 1 : -1);
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

await servePlugin({
  name: "hash-embedder",
  version: "1.0.0",
  embedders: [embedder({ id: "hash-256-v1", embed: (texts) => texts.map(vectorOf) })],
});
