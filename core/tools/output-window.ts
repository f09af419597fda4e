import { stripVTControlCharacters } from "node:util";

/** Keeps the beginning and the end of a stream, and counts what is between. */
export type OutputWindow = {
  add(chunk: Uint8Array): void;
  /** Bytes seen. */
  readonly totalBytes: () => number;
  /** What was kept as text, with a note where something is left out. Colours and control characters are taken out. */
  print(): string;
};

/** @param limitBytes of the beginning, and as many of the end */
export function openOutputWindow(limitBytes: number): OutputWindow {
  const head = Buffer.alloc(limitBytes);
  const tail = Buffer.alloc(limitBytes); // a ring: byte n of what follows the head lies at n modulo its size
  let total = 0;

  return {
    add(chunk) {
      const intoHead = Math.min(chunk.length, Math.max(0, limitBytes - total));
      head.set(chunk.subarray(0, intoHead), total < limitBytes ? total : 0);
      const rest = chunk.subarray(intoHead);
      const kept = rest.subarray(Math.max(0, rest.length - limitBytes));
      const at = (Math.max(0, total + chunk.length - limitBytes) - kept.length) % limitBytes;
      const untilEnd = Math.min(kept.length, limitBytes - at);
      if (kept.length > 0) {
        tail.set(kept.subarray(0, untilEnd), at);
        tail.set(kept.subarray(untilEnd), 0);
      }
      total += chunk.length;
    },
    totalBytes: () => total,
    print() {
      if (total <= limitBytes) return clean(head.toString("utf8", 0, total));
      const after = total - limitBytes;
      if (after <= limitBytes) return clean(Buffer.concat([head, tail.subarray(0, after)]).toString("utf8"));
      const seam = after % limitBytes;
      const end = Buffer.concat([tail.subarray(seam), tail.subarray(0, seam)]);
      const left = (after - limitBytes).toLocaleString("en-US");
      // Half a character on either side of the gap is part of what is left out.
      const first = head.toString("utf8").replace(/\uFFFD$/, "");
      const last = end.subarray(end.findIndex((byte) => (byte & 0xc0) !== 0x80)).toString("utf8");
      return `${clean(first)}\n[… ${left} bytes left out; redirect into a file to see them …]\n${clean(last)}`;
    },
  };
}

function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return stripVTControlCharacters(text).replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "\uFFFD");
}
