import { types } from "node:util";
import { type Context, createContext, Script } from "node:vm";
import { fail, ok, type Result } from "../domain/failure.ts";

/** Of longer lines only the beginning is searched: they are made by programs, and slow patterns grow with the line. */
const LINE_LIMIT_CHARS = 10_000;
/** Searched in one go; in between, the daemon does other work. */
const CHUNK_LIMIT_CHARS = 128 * 1024;
/** Some patterns take years on a line of forty letters. This is how long one chunk may hold up the daemon. */
const CHUNK_LIMIT_MS = 150;
/** A busy machine may have taken the time of the first attempt. */
const ATTEMPTS = 2;

export type LineMatch = { readonly line: number; readonly column: number; readonly text: string };

/** Compiles a model's pattern. `(?i)` in front, as other tools spell it, ignores case. */
export function compilePattern(pattern: string, ignoreCase: boolean): Result<RegExp> {
  const inline = pattern.startsWith("(?i)");
  try {
    return ok(new RegExp(inline ? pattern.slice(4) : pattern, ignoreCase || inline ? "i" : ""));
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    return fail("invalid", `the pattern is not a JavaScript regular expression: ${said}`, {
      hint: "put a backslash before ( [ { . * + ? to search for the character itself",
      cause,
    });
  }
}

/** The matching lines of a text, in chunks and under a time limit. Stops at `limit` matches. */
export async function searchLines(pattern: RegExp, text: string, limit: number): Promise<Result<readonly LineMatch[]>> {
  const matches: LineMatch[] = [];
  let line = 1;
  for (let from = 0; from < text.length && matches.length < limit; ) {
    if (from > 0) await new Promise(setImmediate);
    const to = chunkEnd(text, from);
    const lines = text.slice(from, to).split("\n");
    const found = runWithin(() => matchLines(pattern, lines, line, limit - matches.length));
    if (found === undefined) {
      return fail("exhausted", `the pattern takes too long near line ${line.toLocaleString("en-US")}`, {
        hint: "write it without a repeat inside a repeat, such as (a+)+",
      });
    }
    matches.push(...found);
    line += lines.length - (text[to - 1] === "\n" ? 1 : 0);
    from = to;
  }
  return ok(matches);
}

/** The end of the last whole line within the limit, or of the first one. */
function chunkEnd(text: string, from: number): number {
  if (text.length - from <= CHUNK_LIMIT_CHARS) return text.length;
  const last = text.lastIndexOf("\n", from + CHUNK_LIMIT_CHARS);
  if (last >= from) return last + 1;
  const first = text.indexOf("\n", from);
  return first < 0 ? text.length : first + 1;
}

function matchLines(pattern: RegExp, lines: readonly string[], firstLine: number, limit: number): LineMatch[] {
  const matches: LineMatch[] = [];
  for (const [index, whole] of lines.entries()) {
    if (matches.length === limit) break;
    if (index === lines.length - 1 && whole === "") break; // what follows the last line break is no line
    const text = whole.slice(0, LINE_LIMIT_CHARS).replace(/\r$/, "");
    const at = pattern.exec(text)?.index;
    if (at !== undefined) matches.push({ line: firstLine + index, column: at, text });
  }
  return matches;
}

const CALL = new Script("work()");
let context: Context | undefined;

/** Only V8 itself can stop a regular expression, and this is its door to that. Undefined when the time was up. */
function runWithin<T>(work: () => T): T | undefined {
  context ??= createContext({});
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      context.work = work;
      return CALL.runInContext(context, { timeout: CHUNK_LIMIT_MS });
    } catch (cause) {
      // The error is made in the context, so it is no instance of our Error.
      const isLate = types.isNativeError(cause) && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
      if (!isLate) throw cause;
    } finally {
      context.work = undefined; // it holds the text
    }
  }
  return undefined;
}
