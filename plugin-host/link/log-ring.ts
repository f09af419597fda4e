import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

const MAX_LINES = 200;
const MAX_LINE_CHARS = 64 * 1024;

/** The last lines that a plugin wrote, over all its lives. */
export type LogRing = {
  /** Says that a process begins; `lastErrors` looks no further back. */
  startLife(text: string): void;
  /** Takes one line, or several that a text holds. */
  add(from: LogSource, text: string): void;
  /** Reads a stream and never pauses it: a plugin whose pipe is full stands still. Resolves at its end. */
  drain(from: LogSource, stream: Readable): Promise<void>;
  /** Oldest first, each with its source in front. */
  lines(): readonly string[];
  /** The last few lines of standard error of the present life, for a failure's hint; empty when there are none. */
  lastErrors(): string;
};

export type LogSource = "stdout" | "stderr" | "log" | "host";

const HINT_LINES = 10;
const HINT_LINE_CHARS = 300;

export function createLogRing(): LogRing {
  const kept: { readonly from: LogSource; readonly text: string; readonly begins?: true }[] = [];
  const push = (from: LogSource, text: string, cutChars: number) => {
    kept.push({ from, text: cutChars === 0 ? text : `${text} … (${cutChars} more characters)` });
    if (kept.length > MAX_LINES) kept.shift();
  };
  const add = (from: LogSource, text: string) => {
    // No more than the ring holds: what is before would be pushed out at once.
    for (const line of text.split("\n").slice(-MAX_LINES)) {
      push(from, line.slice(0, MAX_LINE_CHARS), Math.max(0, line.length - MAX_LINE_CHARS));
    }
  };
  return {
    startLife: (text) => {
      kept.push({ from: "host", text, begins: true });
      if (kept.length > MAX_LINES) kept.shift();
    },
    add,
    drain: (from, stream) => drainLines(stream, (line, cutChars) => push(from, line, cutChars)),
    lines: () => kept.map(({ from, text }) => `${from}: ${text}`),
    lastErrors: () =>
      kept
        .slice(kept.findLastIndex(({ begins }) => begins === true) + 1)
        .filter(({ from }) => from === "stderr")
        .slice(-HINT_LINES)
        .map(({ text }) => text.slice(0, HINT_LINE_CHARS))
        .join("\n"),
  };
}

function drainLines(stream: Readable, onLine: (line: string, cutChars: number) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const decoder = new StringDecoder("utf8");
  let line = "";
  let cutChars = 0;
  const take = (part: string) => {
    const room = MAX_LINE_CHARS - line.length;
    line += part.slice(0, room);
    cutChars += Math.max(0, part.length - room);
  };
  const flush = () => {
    onLine(line, cutChars);
    line = "";
    cutChars = 0;
  };
  stream.on("data", (chunk: Buffer) => {
    const parts = decoder.write(chunk).split("\n");
    for (const part of parts.slice(0, -1)) {
      take(part);
      flush();
    }
    take(parts.at(-1) ?? "");
  });
  stream.once("close", () => {
    if (line !== "") flush();
    resolve();
  });
  // A torn pipe is the end of the log, not a failure.
  stream.on("error", () => {});
  return promise;
}
