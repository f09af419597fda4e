/** Cuts a stream of bytes into lines. What it costs grows with the bytes alone, in however small pieces they come. */
export type LineBuffer = {
  /** The lines that a piece ends, without their ends; undefined once a line is longer than it may be. */
  take(chunk: Buffer): readonly string[] | undefined;
};

const NEWLINE = 0x0a;
const FIRST_BYTES = 1024;

export function openLineBuffer(maxBytes: number): LineBuffer {
  let kept: Buffer = Buffer.alloc(0);
  let length = 0;

  /** Copies: a piece of one byte may hold on to a block of many. */
  function keep(piece: Buffer): boolean {
    if (length + piece.byteLength > maxBytes) return false;
    if (length + piece.byteLength > kept.byteLength) {
      const larger = Buffer.alloc(Math.max(FIRST_BYTES, length + piece.byteLength, kept.byteLength * 2));
      kept.copy(larger, 0, 0, length);
      kept = larger;
    }
    piece.copy(kept, length);
    length += piece.byteLength;
    return true;
  }

  return {
    take(chunk) {
      const lines: string[] = [];
      let rest = chunk;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        if (!keep(rest.subarray(0, end))) return undefined;
        lines.push(kept.toString("utf8", 0, length));
        length = 0;
        rest = rest.subarray(end + 1);
      }
      return keep(rest) ? lines : undefined;
    },
  };
}
