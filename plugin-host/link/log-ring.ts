import type { Readable } from "node:stream";
import { drainLines } from "./log-drain.ts";
import { type LevelledLine, type LogLevel, readLevels, saysLevel } from "./log-level.ts";

const MAX_LINES = 200;
const MAX_LINE_CHARS = 64 * 1024;
/** More lines than this within a second are read and counted, but not kept. */
const LINES_PER_SECOND = 1_000;
const SECOND_MS = 1_000;
/** Shorter ones would blot out half of what a plugin says. */
const SECRET_LEAST_CHARS = 8;

/** The last lines that a plugin wrote, over all its lives. */
export type LogRing = {
  /** Says that a process begins; `lastErrors` looks no further back. */
  startLife(text: string): void;
  /** Takes one line, or several that a text holds. */
  add(from: LogSource, text: string): void;
  /** Reads a stream to its end and resolves then. A plugin that floods it has to wait for its reader. */
  drain(from: LogSource, stream: Readable): Promise<void>;
  /** Blots out these texts wherever they come up, until the value is called. */
  redact(secrets: readonly string[]): () => void;
  /** Oldest first, each with its source in front, and with its level where it says one. */
  lines(): readonly string[];
  /** The last few lines of standard error of the present life, for a failure's hint; empty when there are none. */
  lastErrors(): string;
};

export type LogSource = "stdout" | "stderr" | "log" | "host";

const HINT_LINES = 10;
const HINT_LINE_CHARS = 300;

type Kept = { readonly from: LogSource; text: string; readonly level?: LogLevel | undefined };

/** @param now milliseconds since 1970-01-01 UTC */
export function createLogRing(now: () => number): LogRing {
  const kept: Kept[] = [];
  /** Kept beside the ring: a flood must not wash away why it ended. */
  let lastErrors: string[] = [];
  const secrets = new Set<readonly string[]>();
  const rate = limitRate(now);
  const keep = (line: Kept) => {
    kept.push(line);
    if (kept.length > MAX_LINES) kept.shift();
  };
  /** The present gap, and the line that tells of it. */
  let dropped: { readonly notice: Kept; count: number } | undefined;
  const hide = (text: string) => {
    let shown = text;
    for (const secret of [...secrets].flat()) shown = shown.replaceAll(secret, "[redacted]");
    return shown;
  };
  const push = (from: LogSource, line: string, cutChars: number, read: ReadLine = asIs) => {
    const { level, text } = read(hide(line));
    const whole = cutChars === 0 ? text : `${text} … (${cutChars} more characters)`;
    if (from === "stderr") lastErrors = [...lastErrors.slice(1 - HINT_LINES), whole.slice(0, HINT_LINE_CHARS)];
    if (from === "host" || rate.takes()) {
      dropped = undefined;
      keep({ from, level, text: whole });
    } else drop(1);
  };
  const drop = (lines: number) => {
    if (dropped === undefined) {
      dropped = { notice: { from: "host", text: "" }, count: 0 };
      keep(dropped.notice);
    }
    dropped.count += lines;
    dropped.notice.text = `${dropped.count} lines were dropped: it writes more than ${LINES_PER_SECOND} a second`;
  };
  return {
    startLife: (text) => {
      lastErrors = [];
      keep({ from: "host", text });
    },
    add: (from, text) => {
      // No more than the ring holds: what is before would be pushed out at once.
      for (const line of text.split("\n").slice(-MAX_LINES)) {
        push(from, line.slice(0, MAX_LINE_CHARS), Math.max(0, line.length - MAX_LINE_CHARS));
      }
    },
    drain: (from, stream) => {
      const read = readLevels();
      const line = (text: string, cutChars: number) => push(from, text, cutChars, read);
      return drainLines(stream, { line, room: rate.room, skipped: drop }, HINT_LINES, now);
    },
    redact: (texts) => {
      const long = texts.filter((text) => text.length >= SECRET_LEAST_CHARS);
      secrets.add(long);
      return () => secrets.delete(long);
    },
    lines: () => kept.map(showLine),
    lastErrors: () => lastErrors.join("\n"),
  };
}

function showLine({ from, level, text }: Kept): string {
  return `${from}: ${level === undefined || saysLevel(text) ? "" : `${level} `}${text}`;
}

type ReadLine = (line: string) => LevelledLine;

function asIs(text: string): LevelledLine {
  return { level: undefined, text };
}

/** So many lines of each second. */
function limitRate(now: () => number): { takes(): boolean; room(): number } {
  let beganMs = 0;
  let count = 0;
  const room = () => {
    const nowMs = now();
    if (nowMs - beganMs >= SECOND_MS || nowMs < beganMs) {
      beganMs = nowMs;
      count = 0;
    }
    return Math.max(0, LINES_PER_SECOND - count);
  };
  const takes = () => {
    if (room() === 0) return false;
    count++;
    return true;
  };
  return { takes, room };
}
