/** How bad a line is. A line that does not say is just a line. */
export type LogLevel = "debug" | "info" | "warning" | "error";

export type LevelledLine = { readonly level: LogLevel | undefined; readonly text: string };

const LEVELS: Readonly<Record<string, LogLevel>> = {
  trace: "debug",
  debug: "debug",
  info: "info",
  notice: "info",
  warn: "warning",
  warning: "warning",
  error: "error",
  err: "error",
  critical: "error",
  fatal: "error",
};
/** "[ERROR] ...", "error: ...", "WARN ..."; the word alone in capitals, or with a mark after it. */
const PREFIX = /^(?:\[([a-zA-Z]+)\]|([a-zA-Z]+):|([A-Z]+)\s)/;
/** Go dies with these: what follows is its stack, to the end. */
const LAST_BLOCK = /^(?:panic: |fatal error: )/;
/** Python shows its stack indented; the first line that is not is the error itself. */
const TRACEBACK = /^Traceback \(most recent call last\):/;

/**
 * Reads the lines of one stream of one process, in order: JSON with `level` and `msg`, a word in front, or a block in which
 * a program dies.
 */
export function readLevels(): (line: string) => LevelledLine {
  let block: "none" | "traceback" | "last" = "none";
  return (line) => {
    if (LAST_BLOCK.test(line)) block = "last";
    else if (block === "none" && TRACEBACK.test(line)) {
      block = "traceback";
      return { level: "error", text: line };
    }
    if (block === "last") return { level: "error", text: line };
    if (block === "traceback") {
      if (!/^\s/.test(line)) block = "none";
      return { level: "error", text: line };
    }
    return readStructured(line) ?? { level: levelOf(PREFIX.exec(line)), text: line };
  };
}

/** Whether the text itself has its level in front, so that nobody need say it again. */
export function saysLevel(text: string): boolean {
  return levelOf(PREFIX.exec(text)) !== undefined;
}

function levelOf(prefix: RegExpExecArray | null): LogLevel | undefined {
  const word = prefix?.slice(1).find((part) => part !== undefined);
  return word === undefined ? undefined : LEVELS[word.toLowerCase()];
}

function readStructured(line: string): LevelledLine | undefined {
  if (!line.startsWith("{") || !line.endsWith("}")) return undefined;
  try {
    const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown };
    if (typeof level !== "string" || typeof msg !== "string") return undefined;
    const known = LEVELS[level.toLowerCase()];
    return known === undefined ? undefined : { level: known, text: msg };
  } catch {
    return undefined;
  }
}
