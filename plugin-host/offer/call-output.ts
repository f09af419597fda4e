const NEWLINE = 0x0a;
/** All output of one call together. */
export const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;
/** Kept of the beginning, and as many of the end; a model gets to read less. */
const WINDOW_BYTES = 128 * 1024;
/** What is shown at once of lines that came since the last time. */
const LINES_LIMIT_BYTES = 2_000;

/** The output of one call: its beginning and its end are kept, and what is between is counted. */
export type CallOutput = {
  /** False when it is more than a call may put out. */
  add(data: Uint8Array): boolean;
  /** Whole lines that came since the last time, the last ones when they are many; "" when there is none. */
  takeLines(): string;
  /** All that was kept, with a note where something is left out. */
  print(): string;
};

/** Works on bytes throughout, so that a character may be cut by the border of two pieces. */
export function collectOutput(): CallOutput {
  // Most calls put out nothing, and need no room.
  let head = new Uint8Array(0);
  /** Byte n of what follows the head lies at n modulo its size. */
  let ring = new Uint8Array(0);
  let total = 0;
  let taken = 0;

  function addToHead(data: Uint8Array): number {
    const size = Math.min(data.length, WINDOW_BYTES - total);
    if (size <= 0) return 0;
    if (head.length < total + size) {
      const grown = new Uint8Array(Math.min(WINDOW_BYTES, Math.max(total + size, 2 * head.length)));
      grown.set(head);
      head = grown;
    }
    head.set(data.subarray(0, size), total);
    return size;
  }

  function addToRing(data: Uint8Array, from: number): void {
    if (data.length === 0) return;
    if (ring.length === 0) ring = new Uint8Array(WINDOW_BYTES);
    const kept = data.subarray(Math.max(0, data.length - WINDOW_BYTES));
    const at = (from + data.length - kept.length) % WINDOW_BYTES;
    const untilEnd = Math.min(kept.length, WINDOW_BYTES - at);
    ring.set(kept.subarray(0, untilEnd), at);
    ring.set(kept.subarray(untilEnd), 0);
  }

  /** Bytes from `from` to the end; as many must be kept. */
  function end(from: number): Uint8Array {
    const inHead = head.subarray(Math.min(from, WINDOW_BYTES), Math.min(total, WINDOW_BYTES));
    if (total <= WINDOW_BYTES) return inHead;
    const bytes = new Uint8Array(total - from);
    bytes.set(inHead);
    const first = Math.max(0, from - WINDOW_BYTES);
    const last = total - WINDOW_BYTES;
    const untilSeam = Math.min(last - first, WINDOW_BYTES - (first % WINDOW_BYTES));
    bytes.set(ring.subarray(first % WINDOW_BYTES, (first % WINDOW_BYTES) + untilSeam), inHead.length);
    bytes.set(ring.subarray(0, last - first - untilSeam), inHead.length + untilSeam);
    return bytes;
  }

  return {
    add(data) {
      if (total + data.length > OUTPUT_LIMIT_BYTES) return false;
      const intoHead = addToHead(data);
      addToRing(data.subarray(intoHead), Math.max(0, total - WINDOW_BYTES));
      total += data.length;
      return true;
    },
    takeLines() {
      const from = Math.max(taken, total - LINES_LIMIT_BYTES);
      const news = end(from);
      const last = news.lastIndexOf(NEWLINE);
      if (last < 0) return "";
      // Where the beginning is left out, so is the rest of its line, unless nothing else is there.
      const begin = from === taken ? 0 : news.indexOf(NEWLINE) + 1;
      taken = from + last + 1;
      return decode(news.subarray(begin > last ? news.findIndex(beginsCharacter) : begin, last)).replace(/\r$/gm, "");
    },
    print() {
      if (total <= 2 * WINDOW_BYTES) return decode(end(0));
      const left = (total - 2 * WINDOW_BYTES).toLocaleString("en-US");
      // Half a character on either side of the gap is part of what is left out.
      const first = decode(head).replace(/\uFFFD$/, "");
      const last = end(total - WINDOW_BYTES);
      return `${first}\n[… ${left} bytes left out …]\n${decode(last.subarray(last.findIndex(beginsCharacter)))}`;
    },
  };
}

function beginsCharacter(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
