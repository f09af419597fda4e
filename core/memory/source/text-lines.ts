const CARRIAGE_RETURN = 13;
/** What of a line is looked at to tell what it is. */
const HEAD_LIMIT_CHARS = 256;

/** A text and where its lines are: no line is copied before it is asked for. Lines count from 0 here. */
export type TextLines = {
  readonly text: string;
  readonly count: number;
  startOf(line: number): number;
  /** Where it ends, without its line break. */
  endOf(line: number): number;
  /** Its first 256 characters: enough to judge it, and a judgement costs the same for every line. */
  headOf(line: number): string;
  isBlank(line: number): boolean;
};

/** Finds the lines of a text, which end in "\n" or "\r\n". */
export function textLines(text: string): TextLines {
  const starts = findStarts(text);
  const count = starts.length;
  const startOf = (line: number) => starts[line] ?? text.length;

  function endOf(line: number): number {
    if (line + 1 >= count) return text.length;
    const feed = startOf(line + 1) - 1;
    return feed > startOf(line) && text.charCodeAt(feed - 1) === CARRIAGE_RETURN ? feed - 1 : feed;
  }

  return {
    text,
    count,
    startOf,
    endOf,
    headOf: (line) => text.slice(startOf(line), Math.min(endOf(line), startOf(line) + HEAD_LIMIT_CHARS)),
    isBlank(line) {
      const end = endOf(line);
      for (let at = startOf(line); at < end; at += 1) if (!isSpace(text.charCodeAt(at))) return false;
      return true;
    },
  };
}

function findStarts(text: string): Uint32Array {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  const starts = new Uint32Array(count);
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    starts[line] = at + 1;
    line += 1;
  }
  return starts;
}

/** What `trim` takes away, of the characters that texts have. */
export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000 || code === 0xfeff;
}
