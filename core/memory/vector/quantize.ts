/** Rows are quantized to [-127, 127], queries to [-63, 63]: plus 64, a query's bytes suit the dot product of processors. */
const ROW_RANGE = 127;
const QUERY_RANGE = 63;
export const QUERY_OFFSET = 64;

// Loops count: iterators and callbacks over typed arrays cost several times as much.

/**
 * A vector of length one in the same direction; all zeros for one that has no direction: zero, or not finite somewhere.
 * It is written to the start of `unit`.
 */
export function normalize(vector: Float32Array, unit: Float32Array = new Float32Array(vector.length)): Float32Array {
  let squares = 0;
  for (let at = 0; at < vector.length; at += 1) {
    const number = vector[at] ?? 0;
    squares += number * number;
  }
  // Cosine with such a vector is said to be 0.
  if (squares === 0 || !Number.isFinite(squares)) return unit.fill(0);
  const factor = 1 / Math.sqrt(squares);
  for (let at = 0; at < vector.length; at += 1) unit[at] = (vector[at] ?? 0) * factor;
  return unit;
}

/** Writes a row as signed bytes; number i is about `target[i] * scale`. Gives the scale and the sum of the bytes. */
export function quantizeRow(vector: Float32Array, target: Int8Array): { readonly scale: number; readonly sum: number } {
  const most = largest(vector);
  if (most === 0) return { scale: 0, sum: 0 };
  const factor = ROW_RANGE / most;
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) {
    const byte = Math.round((vector[at] ?? 0) * factor);
    target[at] = byte;
    sum += byte;
  }
  return { scale: most / ROW_RANGE, sum };
}

/** Writes a query as bytes in [1, 127]; number i is about `(target[i] - QUERY_OFFSET) * scale`. Gives the scale. */
export function quantizeQuery(vector: Float32Array, target: Uint8Array): number {
  const most = largest(vector);
  if (most === 0) return 0;
  const factor = QUERY_RANGE / most;
  for (let at = 0; at < vector.length; at += 1) target[at] = Math.round((vector[at] ?? 0) * factor) + QUERY_OFFSET;
  return most / QUERY_RANGE;
}

/** Writes the signs of a vector, one bit a number; bits that are set stay set. */
export function writeSigns(vector: Float32Array, target: Uint8Array): void {
  for (let at = 0; at < vector.length; at += 1)
    if ((vector[at] ?? 0) > 0) target[at >> 3] = (target[at >> 3] ?? 0) | (1 << (at & 7));
}

function largest(vector: Float32Array): number {
  let most = 0;
  for (let at = 0; at < vector.length; at += 1) most = Math.max(most, Math.abs(vector[at] ?? 0));
  return most;
}
