/** More alternatives than this are refused: `{a,b}` six times over is 64 patterns. */
const ALTERNATIVES_LIMIT = 64;

export type Glob = (path: string) => boolean;

/**
 * Understands `*`, `?`, `**` for any folders, and `{a,b}`. A pattern without `/` speaks about the file's name alone.
 * Undefined when it has too many alternatives. Never slower than pattern length times path length.
 */
export function compileGlob(pattern: string): Glob | undefined {
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined) return undefined;
  const globs = alternatives.map((text) => (text.includes("/") ? text : `**/${text}`).split("/"));
  return (path) => globs.some((parts) => matchSequence(parts, path.split("/"), "**", matchName));
}

/** Both `**` over folders and `*` over letters: on a mismatch only the last wildcard takes one item more. */
function matchSequence<P, T>(
  pattern: readonly P[],
  items: readonly T[],
  wildcard: P,
  matches: (part: P, item: T) => boolean,
): boolean {
  let at = 0;
  let wildcardAt = -1;
  let resumeAt = 0;
  for (let index = 0; index < items.length; ) {
    const part = pattern[at];
    if (part === wildcard) {
      wildcardAt = at;
      resumeAt = index;
      at += 1;
    } else if (part !== undefined && matches(part, items[index] as T)) {
      at += 1;
      index += 1;
    } else if (wildcardAt >= 0) {
      at = wildcardAt + 1;
      resumeAt += 1;
      index = resumeAt;
    } else return false;
  }
  while (pattern[at] === wildcard) at += 1;
  return at === pattern.length;
}

function matchName(pattern: string, name: string): boolean {
  return matchSequence([...pattern], [...name], "*", (part, letter) => part === "?" || part === letter);
}

function expandBraces(pattern: string): readonly string[] | undefined {
  let expanded = [pattern];
  for (;;) {
    const next = expanded.flatMap((text) => {
      const found = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(text);
      if (!found) return [text];
      const [, before = "", inside = "", after = ""] = found;
      return inside.split(",").map((choice) => `${before}${choice}${after}`);
    });
    if (next.length > ALTERNATIVES_LIMIT) return undefined;
    if (next.length === expanded.length && next.every((text, index) => text === expanded[index])) return expanded;
    expanded = next;
  }
}
