import { createHash } from "node:crypto";

/** What the APIs of models take. */
export const MAX_TOOL_NAME_CHARS = 64;
/** Of the digest at the end of a name that could not stay as it was. */
const MARK_DIGITS = 10;
const MARKED = /_[0-9a-f]{10}$/;

/** How models know the tools of one plugin. */
export type ToolStyle = {
  readonly category: "plugin" | "mcp";
  /** What the names begin with, e.g. "plugin_hello_". */
  readonly prefix: string;
  /** Longer ones of others that begin with it, e.g. "mcp_a_b_" for "mcp_a_": names that look like theirs are marked. */
  readonly longerPrefixes: readonly string[];
  /** Stands before each description, so that nobody takes a stranger's words for the house's; may be empty. */
  readonly note: string;
  /** The folder whose conversations alone have them, absolute; undefined when all do. */
  readonly workspace: string | undefined;
};

export function pluginToolStyle(plugin: string): ToolStyle {
  return {
    category: "plugin",
    prefix: `plugin_${plugin}_`,
    longerPrefixes: [],
    note: "",
    workspace: undefined,
  };
}

/**
 * The full name of a tool that its plugin names as it likes. What no model takes becomes "_". A name that was changed by
 * that, is too long, looks like another server's or like a marked one gets a mark at its end, made of the name as it was:
 * so no two are the same.
 */
export function fullToolName({ prefix, longerPrefixes }: ToolStyle, name: string): string {
  const plain = prefix + name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  const isAsItWas = plain === prefix + name && plain.length <= MAX_TOOL_NAME_CHARS;
  const looksLikeAnothers = MARKED.test(plain) || longerPrefixes.some((longer) => plain.startsWith(longer));
  if (isAsItWas && !looksLikeAnothers) return plain;
  const digest = createHash("sha256").update(`${prefix}\0${name}`).digest("hex");
  const mark = `_${digest.slice(0, MARK_DIGITS)}`;
  return plain.slice(0, MAX_TOOL_NAME_CHARS - mark.length) + mark;
}
