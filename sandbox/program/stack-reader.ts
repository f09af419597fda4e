import { SourceMap } from "node:module";
import { relative, resolve } from "node:path";
import { showable } from "../../core/domain/showable.ts";
import type { GuestError } from "../guest/guest-protocol.ts";

/** `where` is "file.ts:line:column", empty when it is not known; `full` has a stack. */
export type ErrorText = { readonly line: string; readonly where: string; readonly full: string };

/** Reads errors of guests: their positions in the bundle become those of the script's own files. */
export type StackReader = {
  /** One line about an error of the guest's, and where it was; never a path of this machine. */
  explain(error: GuestError): ErrorText;
  /** The same for a stack as text. */
  explainStack(stack: string): ErrorText;
};

/** What the bundle is called in stacks. */
export const GUEST_LABEL = "clawd:guest";
const STACK_LINES_MAX = 10;
/** A stack is read no further than this, UTF-16 units. */
const STACK_CHARS_MAX = 16_384;
const FRAME = /^\s{1,16}at (?:(?:async )?([\w$.<>[\] ]{1,200}) \()?.{0,200}clawd:guest:(\d{1,9}):(\d{1,9})\)?$/;

/** The name of a file of the script, as people wrote it. */
export function nameOfSource(root: string, source: string): string {
  return relative(root, resolve(root, source.replace(/^script:/, "")));
}

/**
 * @param map the source map's text; it is read when there is the first error to explain
 * @param moved columns by which first lines were moved to the right, by absolute path
 */
export function stackReader(map: string, root: string, moved: ReadonlyMap<string, number>): StackReader {
  let read: SourceMap | undefined;

  function position(line: string, column: string): string | undefined {
    read ??= new SourceMap(JSON.parse(map));
    const entry = read.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry)) return undefined;
    // SourceMap reads names as URLs, and so escapes them.
    const source = decodeURIComponent(entry.originalSource);
    if (source.includes("<stdin>")) return undefined;
    const name = nameOfSource(root, source);
    const movedBy = entry.originalLine === 0 ? (moved.get(resolve(root, name)) ?? 0) : 0;
    return `${name}:${entry.originalLine + 1}:${Math.max(entry.originalColumn - movedBy, 0) + 1}`;
  }

  /** The frames of the script itself; those of the prelude are dropped. */
  function readFrames(stack: string): string[] {
    const frames: string[] = [];
    for (const line of stack.slice(0, STACK_CHARS_MAX).split("\n")) {
      const at = FRAME.exec(line);
      const found = at && position(at[2] ?? "", at[3] ?? "");
      if (found) frames.push(at[1] && at[1] !== "eval" ? `    at ${at[1]} (${found})` : `    at ${found}`);
      if (frames.length >= STACK_LINES_MAX) return frames;
    }
    return frames;
  }

  function text(line: string, stack: string, shown = line): ErrorText {
    const frames = readFrames(stack);
    const where = /([^\s(]+:\d+:\d+)\)?$/.exec(frames[0] ?? "")?.[1] ?? "";
    return { line: showable(line), where: showable(where), full: showable([shown, ...frames].join("\n")) };
  }

  return {
    explain({ name, message, stack }) {
      // Not an error, but some value that was thrown: it shows what it is, and a sentence needs a verb.
      if (name === "") return text(`threw ${message}`, stack, message);
      return text(message === "" ? name : `${name}: ${message}`, stack);
    },
    explainStack: (stack) => text(stack.split(/\n\s+at /)[0] ?? "", stack),
  };
}
