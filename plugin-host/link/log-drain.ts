import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

const MAX_LINE_CHARS = 64 * 1024;
/** What is read of one stream in a window; the writer of more waits for the next one. 2.5 MiB a second are no log. */
const WINDOW_BYTES = 256 * 1024;
const WINDOW_MS = 100;

export type LineReader = {
  /** A line; of one that is too long the rest is cut off. */
  line(line: string, cutChars: number): void;
  /** So many more lines may be kept now. */
  room(): number;
  /** Lines that came when there was no room, and were not read. */
  skipped(lines: number): void;
};

/**
 * Reads a stream by lines until it ends. It is never left standing: a plugin whose pipe is full stands still. But a flood
 * is read at a walking pace, and of the lines for which there is no room only the last `lastLines` of each piece are, so
 * that it costs its writer time and nobody else.
 */
export function drainLines(
  stream: Readable,
  { line: onLine, room, skipped }: LineReader,
  lastLines: number,
  now: () => number,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const decoder = new StringDecoder("utf8");
  const pace = paceReading(stream, now);
  let line = "";
  let cutChars = 0;
  const take = (part: string) => {
    const left = MAX_LINE_CHARS - line.length;
    line += part.slice(0, left);
    cutChars += Math.max(0, part.length - left);
  };
  const flush = () => {
    onLine(copy(line), cutChars);
    line = "";
    cutChars = 0;
  };
  stream.on("data", (chunk: Buffer) => {
    const parts = decoder.write(chunk).split("\n");
    const whole = parts.length - 1;
    const first = Math.min(whole, Math.max(1, room()));
    const last = Math.max(first, whole - lastLines);
    for (const [index, part] of parts.entries()) {
      if (index === first && last > first) skipped(last - first);
      if (index >= first && index < last) continue;
      take(part);
      if (index < whole) flush();
    }
    pace.read(chunk.length);
  });
  stream.once("close", () => {
    pace.end();
    if (line !== "") flush();
    resolve();
  });
  // A torn pipe is the end of the log, not a failure.
  stream.on("error", () => {});
  return promise;
}

/** A line that is a part of its piece would keep all of it in memory for as long as it is kept itself. */
function copy(line: string): string {
  return Buffer.from(line).toString();
}

function paceReading(stream: Readable, now: () => number) {
  let beganMs = now();
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    beganMs = now();
    bytes = 0;
  };
  return {
    read(size: number): void {
      const nowMs = now();
      if (nowMs - beganMs >= WINDOW_MS || nowMs < beganMs) begin();
      bytes += size;
      if (bytes < WINDOW_BYTES || timer !== undefined) return;
      stream.pause();
      timer = setTimeout(() => {
        timer = undefined;
        begin();
        stream.resume();
      }, WINDOW_MS);
    },
    end: () => clearTimeout(timer),
  };
}
