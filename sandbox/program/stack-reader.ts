import { SourceMap } from "node:module";
import { relative, resolve } from "node:path";
import { showable } from "../../core/domain/showable.ts";
import type { GuestError } from "../guest/guest-protocol.ts";

/** `where` is "file.ts:line:column", empty when it is not known; `full` has a stack. */
export type ErrorText = { readonly line: string; readonly where: string; readonly full: string };

/** Reads errors of guests: their positions in the bundle become those of the script's own files. */
export type StackReader = {
  /**
   * One line about an error of the guest's, and where it was; never a path of this machine. `inPromise`: what a promise
   * was rejected with; `full` says so.
   */
  explain(error: GuestError, inPromise?: boolean): ErrorText;
  /** The same for the stack of an error with which a promise was rejected that nobody listened to; `full` says so. */
  explainStack(stack: string): ErrorText;
  /** A text that the guest prints, with the stacks in it. */
  explainPrinted(text: string): string;
};

/** A line of a stack: `text` is what stands behind the indentation. */
type Frame = { readonly indent: string; readonly place: string | undefined; readonly text: string };

/** What the bundle is called in stacks. */
export const GUEST_LABEL = "clawd:guest";
const STACK_LINES_MAX = 10;
/** A stack is read no further than this, UTF-16 units. */
const STACK_CHARS_MAX = 16_384;
/** Positions of one printed text that are read: a text of nothing else must not keep the daemon busy. */
const TEXT_POSITIONS_MAX = 200;
// Two patterns for a line, each of which goes over it once.
const FRAME_START = /^(\s{1,64})at (?:(?:async )?([\w$.<>[\] ]{1,200}) \()?/;
const FRAME_END = /clawd:guest:(\d{1,9}):(\d{1,9})\)?$/;
const POSITION = /clawd:guest:(\d{1,9}):(\d{1,9})/g;

/**
 * "file.ts:line:column" as people wrote it, of a place in a file as the bundler names and saw it; undefined for a place in
 * what is no file of the script.
 * @param moved columns by which first lines were moved to the right, by absolute path
 * @param line from 1 up
 * @param column from 0 up
 */
export function placeInSource(
  root: string,
  moved: ReadonlyMap<string, number>,
  source: string,
  line: number,
  column: number,
): string | undefined {
  if (!source.startsWith("script:")) return undefined;
  const path = resolve(root, source.slice("script:".length));
  const movedBy = line === 1 ? (moved.get(path) ?? 0) : 0;
  return `${relative(root, path)}:${line}:${Math.max(column - movedBy, 0) + 1}`;
}

/**
 * @param map the source map's text; it is read when there is the first error to explain
 * @param moved as for `placeInSource`
 */
export function stackReader(map: string, root: string, moved: ReadonlyMap<string, number>): StackReader {
  let read: SourceMap | undefined;

  function position(line: string, column: string): string | undefined {
    read ??= new SourceMap(JSON.parse(map));
    const entry = read.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry)) return undefined;
    const { originalSource, originalLine, originalColumn } = entry;
    return placeInSource(root, moved, originalSource, originalLine + 1, originalColumn);
  }

  /** A line of a stack, read; without a place for what is around the script's own code. Undefined for what is no frame. */
  function readFrame(line: string): Frame | undefined {
    const end = FRAME_END.exec(line);
    const start = end && FRAME_START.exec(line);
    if (!start) return undefined;
    const [, indent = "", name = "eval"] = start;
    const place = position(end[1] ?? "", end[2] ?? "");
    return { indent, place, text: name === "eval" ? `at ${place}` : `at ${name} (${place})` };
  }

  /** The frames of the script itself. */
  function readFrames(stack: string): Frame[] {
    const frames: Frame[] = [];
    for (const line of stack.slice(0, STACK_CHARS_MAX).split("\n")) {
      const frame = readFrame(line);
      if (frame?.place !== undefined) frames.push(frame);
      if (frames.length >= STACK_LINES_MAX) return frames;
    }
    return frames;
  }

  function explainPrinted(text: string): string {
    if (!text.includes(GUEST_LABEL)) return text;
    let left = TEXT_POSITIONS_MAX;
    const place = (whole: string, line: string, column: string) => {
      left -= 1;
      return (left >= 0 && position(line, column)) || whole;
    };
    const lines: string[] = [];
    for (const line of text.split("\n")) {
      const frame = left > 0 ? readFrame(line) : undefined;
      if (frame) {
        left -= 1;
        if (frame.place !== undefined) lines.push(frame.indent + frame.text);
      } else lines.push(line.replace(POSITION, place));
    }
    return lines.join("\n");
  }

  function text(line: string, stack: string, shown = line): ErrorText {
    const frames = readFrames(stack);
    const full = [shown, ...frames.map((frame) => `    ${frame.text}`)].join("\n");
    return { line: showable(line), where: showable(frames[0]?.place ?? ""), full: showable(full) };
  }

  return {
    explain({ name, message, stack }, inPromise = false) {
      const before = inPromise ? "(in promise) " : "";
      // Not an error, but some value that was thrown: it shows what it is, and a sentence needs a verb.
      if (name === "") return text(`threw ${message}`, stack, before + message);
      const line = message === "" ? name : `${name}: ${message}`;
      return text(line, stack, before + line);
    },
    explainStack(stack) {
      const [line = ""] = stack.split(/\n\s+at /);
      return text(line, stack, `(in promise) ${line}`);
    },
    explainPrinted,
  };
}
