/** The vectors of a segment's rows in shared memory, as a worker makes a block of them. */
export type VectorSheet = {
  readonly rows: number;
  readonly dimensions: number;
  /** Row after row; zeros for a row without a vector. */
  readonly numbers: Float32Array;
  /** A byte a row, 1 where there is a vector. */
  readonly present: Uint8Array;
};

/** A sheet while it is filled. */
export type SheetFiller = {
  /** In words what is wrong with the vector: it has another length than those before it. */
  put(row: number, vector: Float32Array): string | undefined;
  /** @param dimensions for a sheet that has no vector at all. */
  finish(dimensions: number): VectorSheet;
};

export function emptySheet(rows: number, dimensions: number): VectorSheet {
  const numbers = new Float32Array(new SharedArrayBuffer(rows * dimensions * Float32Array.BYTES_PER_ELEMENT));
  return { rows, dimensions, numbers, present: new Uint8Array(new SharedArrayBuffer(rows)) };
}

/** How long vectors are tells the first of them. */
export function fillSheet(rows: number): SheetFiller {
  const present = new Uint8Array(new SharedArrayBuffer(rows));
  let dimensions = 0;
  let numbers = new Float32Array(new SharedArrayBuffer(0));
  return {
    put(row, vector) {
      if (dimensions === 0) {
        dimensions = vector.length;
        numbers = new Float32Array(new SharedArrayBuffer(rows * dimensions * Float32Array.BYTES_PER_ELEMENT));
      }
      if (vector.length !== dimensions) return `a vector has ${vector.length} numbers, others have ${dimensions}`;
      numbers.set(vector, row * dimensions);
      present[row] = 1;
      return undefined;
    },
    finish: (otherwise) => (dimensions > 0 ? { rows, dimensions, numbers, present } : emptySheet(rows, otherwise)),
  };
}
