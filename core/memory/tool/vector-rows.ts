const BLOCK_BYTES = 1_048_576;
/** So many dead rows are always borne: they cost less than moving the others. */
const DEAD_ROWS_BORNE = 256;
const FLOAT_BYTES = 4;

/** What a search reads: none of it changes while the search runs. */
export type RowsSnapshot = {
  readonly blocks: readonly SharedArrayBuffer[];
  readonly rowsPerBlock: number;
  readonly labels: Int32Array;
};

/**
 * Vectors by their labels in memory that threads share. A row is written once and never again: a search that began before a
 * change reads what there was then.
 */
export type VectorRows = {
  put(label: number, vector: Float32Array): void;
  remove(label: number): void;
  get(label: number): Float32Array | undefined;
  snapshot(): RowsSnapshot;
  /** What it keeps in memory. */
  bytes(): number;
};

export function vectorRows(dimension: number): VectorRows {
  const rowsPerBlock = Math.max(1, Math.floor(BLOCK_BYTES / (dimension * FLOAT_BYTES)));
  let blocks: Float32Array<SharedArrayBuffer>[] = [];
  /** The label of each row that was written, -1 for one that is gone. */
  let labels: number[] = [];
  let rowOf = new Map<number, number>();

  function rowAt(row: number): Float32Array {
    const start = (row % rowsPerBlock) * dimension;
    const block = blocks[Math.floor(row / rowsPerBlock)];
    if (block === undefined) throw new Error(`there is no row ${row}`);
    return block.subarray(start, start + dimension);
  }

  function append(label: number, vector: Float32Array): void {
    const row = labels.length;
    if (row === blocks.length * rowsPerBlock) {
      blocks.push(new Float32Array(new SharedArrayBuffer(rowsPerBlock * dimension * FLOAT_BYTES)));
    }
    rowAt(row).set(vector);
    labels.push(label);
    rowOf.set(label, row);
  }

  /** Into fresh blocks, because a search may still read the old ones. */
  function compact(): void {
    const living = [...rowOf].map(([label, row]) => [label, rowAt(row)] as const);
    [blocks, labels, rowOf] = [[], [], new Map()];
    for (const [label, vector] of living) append(label, vector);
  }

  function remove(label: number): void {
    const row = rowOf.get(label);
    if (row === undefined) return;
    labels[row] = -1;
    rowOf.delete(label);
    if (labels.length - rowOf.size > rowOf.size + DEAD_ROWS_BORNE) compact();
  }

  return {
    put(label, vector) {
      remove(label);
      append(label, vector);
    },
    remove,
    get(label) {
      const row = rowOf.get(label);
      return row === undefined ? undefined : rowAt(row).slice();
    },
    snapshot: () => ({
      blocks: blocks.map(({ buffer }) => buffer),
      rowsPerBlock,
      labels: Int32Array.from(labels),
    }),
    bytes: () => blocks.length * rowsPerBlock * dimension * FLOAT_BYTES,
  };
}
