import { closeSync, openSync, readSync } from "node:fs";
import { type ComputedEmbedder, identityOf, type VectorMaker } from "./vector-task.ts";

/** Read at once, and more while a line is longer: some 50 to 100 ms of work. */
const READ_BYTES = 262_144;
const NEWLINE = 10;

export type ComputeTextsRequest = {
  readonly name: ComputedEmbedder;
  /** JSON lines as the store writes them: `{"row":0,"title":"…","text":"…"}`. */
  readonly file: string;
  readonly fromByte: number;
  /** Shared memory, so that no vector is copied on its way: row after row, and a byte a row that is set to 1. */
  readonly numbers: Float32Array;
  readonly present: Uint8Array;
};

/** How far it came; the file's end is reached when `rows` is 0. */
export type ComputedTexts = { readonly nextByte: number; readonly rows: number };

type Line = { readonly row: number; readonly title: string; readonly text: string };

/** Makes vectors of the next texts of a file: so few that others who need the thread wait for a moment only. */
export function computeTexts(request: ComputeTextsRequest, maker: VectorMaker): ComputedTexts {
  const { name, numbers, present, fromByte } = request;
  const { dimensions } = identityOf(name);
  const bytes = readLines(request.file, fromByte);
  const lines = bytes.toString("utf8").split("\n").filter(Boolean);
  for (const line of lines) {
    const { row, title, text } = JSON.parse(line) as Line;
    const [vector] = maker.documents({ name, texts: [`${title}\n${text}`] });
    if (vector === undefined) continue;
    numbers.set(vector, row * dimensions);
    present[row] = 1;
  }
  return { nextByte: fromByte + bytes.length, rows: lines.length };
}

/** Whole lines only; nothing at the end. */
function readLines(path: string, from: number): Buffer {
  const file = openSync(path, "r");
  try {
    for (let size = READ_BYTES; ; size *= 2) {
      const bytes = Buffer.allocUnsafe(size);
      const read = readSync(file, bytes, 0, size, from);
      const end = bytes.subarray(0, read).lastIndexOf(NEWLINE) + 1;
      if (end > 0 || read < size) return bytes.subarray(0, end);
    }
  } finally {
    closeSync(file);
  }
}
