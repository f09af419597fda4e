import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { checkLine, LINE_LIMIT_BYTES } from "./line-codec.ts";

/** A place between two lines: how many bytes and events lie before it, and the hash of the last of them. */
export type Position = { readonly offset: number; readonly seq: number; readonly hash: string };

export const START: Position = { offset: 0, seq: 0, hash: "" };

/**
 * - `torn`: the end of the file, and only the end, is something that no finished write leaves behind.
 * - `unterminated`: the last line is whole but for its newline.
 * - `broken`: a line was finished once and is not what it was, or something else lies where it should be.
 */
export type Flaw = {
  readonly sort: "torn" | "unterminated" | "broken";
  readonly at: Position;
  readonly because: string;
};

export type ChainPart =
  | { readonly kind: "line"; readonly bytes: Buffer; readonly after: Position }
  | { readonly kind: "flaw"; readonly flaw: Flaw };

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
const NUL = 0;

/**
 * Reads the lines between a place and `endOffset` (bytes) and proves each against the one before. After a flaw there
 * is nothing more. Rejects with the system's error when the file cannot be read. No file handle is held between two
 * parts, however long the reader takes.
 */
export async function* readChain(path: string, from: Position, endOffset: number): AsyncGenerator<ChainPart, void> {
  let at = from;
  let rest: Buffer = Buffer.alloc(0);
  for (let offset = from.offset; offset < endOffset; ) {
    // A line longer than a chunk makes the chunks grow, so that the copying below stays linear.
    const chunk = await readChunk(path, offset, Math.min(endOffset - offset, Math.max(CHUNK_BYTES, rest.length)));
    if (chunk.length === 0) return yield broken(at, "the file is shorter than it was");
    offset += chunk.length;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    // Split on \n only: U+2028 is legal inside a JSON string, and node:readline would split there.
    for (let end = bytes.indexOf(NEWLINE, rest.length); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const line = bytes.subarray(start, end);
      const check = checkLine(line, at.seq + 1, at.hash);
      const nextOffset = at.offset + line.length + 1;
      if (!check.intact) return yield brokenLine(at, line, nextOffset === endOffset, check.because);
      at = { offset: nextOffset, seq: at.seq + 1, hash: check.hash };
      yield { kind: "line", bytes: line, after: at };
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > LINE_LIMIT_BYTES) return yield broken(at, `it is longer than ${LINE_LIMIT_BYTES} bytes`);
  }
  if (rest.length > 0) yield brokenEnd(at, rest);
}

/** At most `limitBytes` from an offset on; fewer at the end of the file. */
export async function readChunk(path: string, offset: number, limitBytes: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(limitBytes), 0, limitBytes, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function broken(at: Position, because: string): ChainPart {
  return { kind: "flaw", flaw: { sort: "broken", at, because } };
}

/**
 * A line with its newline was finished, so it may have been acknowledged: it is evidence, even as the last one. The one
 * exception is a hole of zeros at the end: after a power failure a file may have its new length before its new bytes,
 * which means that the sync had not returned. We never write a zero ourselves.
 */
function brokenLine(at: Position, line: Buffer, isLast: boolean, because: string): ChainPart {
  return { kind: "flaw", flaw: { sort: isLast && line.includes(NUL) ? "torn" : "broken", at, because } };
}

/** Bytes without a newline were never acknowledged, because the newline is part of what is synced. */
function brokenEnd(at: Position, rest: Buffer): ChainPart {
  const isWhole = checkLine(rest, at.seq + 1, at.hash).intact;
  return { kind: "flaw", flaw: { sort: isWhole ? "unterminated" : "torn", at, because: "it does not end" } };
}
