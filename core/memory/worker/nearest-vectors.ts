import { bestScored } from "../lexical/best-scored.ts";

// Exact search over vectors as they were given, for the named indices of tools. Memory's own search has vectors in another form.

export const METRICS = ["l2", "cosine", "ip"] as const;
/** Distances: the square of the Euclidean one, 1 - cosine, and 1 - inner product. */
export type Metric = (typeof METRICS)[number];

export type NearestRequest = {
  /** Of float32 rows, `rowsPerBlock` each. */
  readonly blocks: readonly SharedArrayBuffer[];
  readonly rowsPerBlock: number;
  readonly dimension: number;
  /** The label of each row, -1 for one that is gone. */
  readonly labels: Int32Array;
  readonly metric: Metric;
  readonly query: Float32Array;
  readonly limit: number;
};

export type Nearest = { readonly label: number; readonly distance: number };

/** The nearest rows, nearest first, the smaller label first of equals. */
export function nearestVectors(request: NearestRequest): Nearest[] {
  const { blocks, rowsPerBlock, dimension, labels, query, limit } = request;
  const distanceTo = measureBy(request.metric, query);
  const rows = blocks.map((block) => new Float32Array(block));
  const best = bestScored(limit);
  for (let row = 0; row < labels.length; row += 1) {
    const label = labels[row] ?? -1;
    const block = rows[Math.floor(row / rowsPerBlock)];
    if (label < 0 || block === undefined) continue;
    best.offer({ id: label, score: -distanceTo(block, (row % rowsPerBlock) * dimension) });
  }
  return best.take().map(({ id, score }) => ({ label: id, distance: -score }));
}

type Distance = (block: Float32Array, start: number) => number;

function measureBy(metric: Metric, query: Float32Array): Distance {
  switch (metric) {
    case "l2":
      return (block, start) => squaredDistance(block, start, query);
    case "ip":
      return (block, start) => 1 - dot(block, start, query);
    case "cosine": {
      const ownNorm = Math.sqrt(squareOf(query, 0, query.length));
      return (block, start) => {
        const norm = ownNorm * Math.sqrt(squareOf(block, start, query.length));
        return norm === 0 ? 1 : 1 - dot(block, start, query) / norm;
      };
    }
  }
}

function dot(block: Float32Array, start: number, query: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < query.length; index += 1) sum += (block[start + index] ?? 0) * (query[index] ?? 0);
  return sum;
}

function squareOf(block: Float32Array, start: number, length: number): number {
  let sum = 0;
  for (let index = start; index < start + length; index += 1) sum += (block[index] ?? 0) ** 2;
  return sum;
}

function squaredDistance(block: Float32Array, start: number, query: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < query.length; index += 1) {
    const difference = (block[start + index] ?? 0) - (query[index] ?? 0);
    sum += difference * difference;
  }
  return sum;
}
