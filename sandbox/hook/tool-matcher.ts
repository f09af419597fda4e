import { theirToolName } from "./claude-tools.ts";

/** Whether a tool, by our name for it, is meant. */
export type ToolMatcher = (tool: string) => boolean;

const PATTERN_MAX_CHARS = 500;
/** Each may multiply the time of a match by the length of a name. */
const REPEATS_MAX = 4;

/** Why a pattern is not tried, since it could take for ever; undefined when it is fine. */
function refusal(pattern: string): string | undefined {
  if (pattern.length > PATTERN_MAX_CHARS) return `it is longer than ${PATTERN_MAX_CHARS} characters`;
  if (/\)(?:[*+]|\{)/.test(pattern)) return "a group must not be repeated";
  if (/\\[1-9k]|\(\?[=!<]/.test(pattern)) return "it must not look around or back";
  if ((pattern.match(/[*+{]/g) ?? []).length > REPEATS_MAX) return `it has more than ${REPEATS_MAX} repetitions`;
  return undefined;
}

/**
 * Reads a matcher of the Claude Code format: nothing or `*` for every tool, a name, names with `|` between them, or a
 * regular expression for the whole name. A tool is looked for by its name here and by its name there. A text says what is
 * wrong.
 */
export function readMatcher(matcher: string): ToolMatcher | string {
  if (matcher === "" || matcher === "*") return () => true;
  const refused = refusal(matcher);
  if (refused !== undefined) return refused;
  try {
    const expression = new RegExp(`^(?:${matcher})$`);
    return (tool) => expression.test(tool) || expression.test(theirToolName(tool));
  } catch {
    return "it is no regular expression";
  }
}
