import { fstatSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 64 * 1024;
/** A NUL this early marks a binary file. */
const BINARY_PROBE_BYTES = 8 * 1024;

/**
 * `end`: why it stops: the file ended, the asked number of lines is complete, the character limit was met at the start of
 * a line (`nextLine`), or within the only line there is to show. `lines` counts those seen, also before the first shown.
 */
export type LinePage =
  | { readonly kind: "binary" }
  | { readonly kind: "interrupted" }
  | {
      readonly kind: "text";
      readonly text: string;
      readonly end: "file" | "lines" | "chars" | "within-line";
      /** The first line not shown, or the number of lines plus 1 at the end of the file. */
      readonly nextLine: number;
    };

/** Some lines of an open file, with memory for no more than is shown. `from` counts from 1. */
export async function readLines(
  handle: FileHandle,
  from: number,
  limitLines: number,
  limitChars: number,
  signal: AbortSignal,
): Promise<LinePage> {
  // One byte more than there is, so that a short read tells the end without another.
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, fstatSync(handle.fd).size + 1));
  const decoder = new TextDecoder();
  let line = 1;
  let text = "";
  let lineStart = 0; // where in `text` the current line begins
  let isFirst = true;
  let isLineOpen = false;
  for (;;) {
    if (signal.aborted) return { kind: "interrupted" };
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    const isEnd = bytesRead < buffer.length;
    const bytes = buffer.subarray(0, bytesRead);
    if (isFirst && bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return { kind: "binary" };
    isFirst = false;
    const chunk = decoder.decode(bytes, { stream: !isEnd });
    for (let at = 0; at < chunk.length; ) {
      if (line >= from + limitLines) return { kind: "text", text, end: "lines", nextLine: line };
      const breakAt = chunk.indexOf("\n", at);
      const to = breakAt < 0 ? chunk.length : breakAt + 1;
      if (line >= from) {
        text += chunk.slice(at, to);
        if (text.length > limitChars) {
          if (lineStart > 0) return { kind: "text", text: text.slice(0, lineStart), end: "chars", nextLine: line };
          return { kind: "text", text: text.slice(0, limitChars), end: "within-line", nextLine: line + 1 };
        }
      }
      isLineOpen = breakAt < 0;
      if (!isLineOpen) {
        line += 1;
        lineStart = text.length;
      }
      at = to;
    }
    if (isEnd) return { kind: "text", text, end: "file", nextLine: isLineOpen ? line + 1 : line };
  }
}

/** Reads a whole small file; undefined when it is larger than the limit. */
export async function readWhole(handle: FileHandle, limitBytes: number): Promise<Buffer | undefined> {
  const { size } = await handle.stat();
  if (size > limitBytes) return undefined;
  const buffer = Buffer.allocUnsafe(size + 1); // one more, to see it grow
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  return undefined;
}

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}
