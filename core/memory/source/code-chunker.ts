import { type Block, PIECE_LIMIT_CHARS, type Piece, packBlocks, sizeOf, TITLE_SEPARATOR } from "./block-packer.ts";
import { type TextLines, textLines } from "./text-lines.ts";

// Knows no language: well-kept code of all of them says by its indentation what belongs together, and what says it by
// braces only (minified code) has no line that a declaration could be cut at.

const TAB_COLUMNS = 4;
const LEVEL_LIMIT = 8;
const TITLE_LIMIT_CHARS = 120;
const TITLE_LIMIT_LINES = 50;
/** Goes on with what is above it although it stands as far left. */
const CLOSER =
  /^(?:[}\])]|\{\s*$|<\/|#(?:endif|else|elif)\b|(?:end|else|elif|elsif|except|finally|catch|rescue|ensure|fi|done|esac|then|do)\b)/;
/** Belongs to what is below it: comments, decorators, attributes, template heads. */
const LEAD =
  /^(?:\/\/|\/\*|\*|--|;|@|<!--|#(?!include|define|if|endif|else|elif|undef|pragma|import|error)|\[\w.*\]\s*$|template\s*<)/;
const IMPORT = /^(?:import|from|use|using|require|include|#include|package|return)\b/;
/** One line of these is a declaration by itself. */
const DECLARATION =
  /^(?:export\s|pub\b|public\s|private\s|protected\s|static\s|abstract\s|final\s|async\s|(?:def|class|function|func|fn|interface|type|struct|enum|impl|trait|module|mod|namespace|object|protocol|extension|CREATE|create)\s)/;

/**
 * Cuts code and structured data (JSON, YAML, TOML, HTML, CSS …) at its outermost declarations, and one that is too long at those inside
 * it, by their indentation. Comments and decorators stay with what they stand above. The title names the declarations.
 */
export function chunkCode(text: string): Piece[] {
  const lines = textLines(text);
  return packBlocks(lines, () => blocksIn(lines, { from: 0, to: lines.count, depth: 0, indent: 0, title: "" }));
}

type Range = {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  /** Lines up to this far right begin a block. */
  readonly indent: number;
  /** Of what is around it. */
  readonly title: string;
};

function* blocksIn(lines: TextLines, range: Range): Generator<Block> {
  let from = range.from;
  /** Whether the block that is open has a line that is not only the lead of one. */
  let hasBody = false;
  for (let at = range.from; at < range.to; at += 1) {
    const head = lines.headOf(at).trimStart();
    if (head === "") continue;
    if (at > from && hasBody && indentOf(lines, at) <= range.indent && !CLOSER.test(head)) {
      yield* settle(lines, from, at, range);
      from = at;
      hasBody = false;
    }
    hasBody = !LEAD.test(head) || isFollowedByBlank(lines, at);
  }
  if (from < range.to) yield* settle(lines, from, range.to, range);
}

/** One block as it is, or the blocks inside it when it is too long and has some. */
function* settle(lines: TextLines, from: number, to: number, range: Range): Generator<Block> {
  // The first block inside another begins with its head.
  const own = range.depth > 0 && from === range.from ? "" : titleOf(lines, from, to);
  const title = [range.title, own].filter((part) => part !== "").join(TITLE_SEPARATOR);
  const indent =
    range.depth < LEVEL_LIMIT && sizeOf(lines, from, to) > PIECE_LIMIT_CHARS
      ? nextIndent(lines, from, to, range.indent)
      : undefined;
  if (indent === undefined) yield { from, to, title, joins: own === "" ? "always" : "small" };
  else yield* blocksIn(lines, { from, to, depth: range.depth + 1, indent, title });
}

function nextIndent(lines: TextLines, from: number, to: number, indent: number): number | undefined {
  let next: number | undefined;
  for (let at = from; at < to; at += 1) {
    const own = indentOf(lines, at);
    if (own > indent && (next === undefined || own < next) && !lines.isBlank(at)) next = own;
  }
  return next;
}

function indentOf(lines: TextLines, line: number): number {
  let columns = 0;
  for (const character of lines.headOf(line)) {
    if (character === " ") columns += 1;
    else if (character === "\t") columns += TAB_COLUMNS;
    else break;
  }
  return columns;
}

function isFollowedByBlank(lines: TextLines, line: number): boolean {
  return line + 1 >= lines.count || lines.isBlank(line + 1);
}

/** The line that declares something, without its opening brace; empty for a lone statement and for imports. */
function titleOf(lines: TextLines, from: number, to: number): string {
  const limit = Math.min(to, from + TITLE_LIMIT_LINES);
  for (let at = from; at < limit; at += 1) {
    const head = lines.headOf(at).trim();
    if (head === "" || LEAD.test(head)) continue;
    if (IMPORT.test(head) || !/[\p{L}\p{N}]/u.test(head)) return "";
    if (!hasMore(lines, at + 1, to) && !DECLARATION.test(head)) return "";
    return head
      .slice(0, TITLE_LIMIT_CHARS)
      .replace(/(?:\s*=>)?[\s{:([=]+$/, "")
      .trimEnd();
  }
  return "";
}

function hasMore(lines: TextLines, from: number, to: number): boolean {
  for (let at = from; at < Math.min(to, from + TITLE_LIMIT_LINES); at += 1) if (!lines.isBlank(at)) return true;
  return false;
}
