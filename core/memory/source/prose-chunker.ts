import { type Block, type Piece, packBlocks, TITLE_SEPARATOR } from "./block-packer.ts";
import { type TextLines, textLines } from "./text-lines.ts";

const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/;
/** The line below a heading that is written without "#". */
const UNDERLINE = /^ {0,3}(=+|-{2,})\s*$/;
/** Quotes, tables, and rules, which are no words to be underlined. */
const NO_HEADING = /^\s*(?:[>|]|[-=*_]+\s*$)/;
const FENCE = /^\s{0,12}(`{3,}|~{3,})/;
const LIST_ITEM = /^\s{0,8}(?:[-*+]|\d{1,9}[.)])\s/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)*$/;
const FRONT_MATTER_LIMIT_LINES = 200;

type Section = { readonly level: number; readonly title: string };

/** Cuts Markdown at headings and paragraphs. A list item, a table and a fenced block stay whole where they fit. */
export function chunkMarkdown(text: string): Piece[] {
  const lines = textLines(text);
  return packBlocks(lines, () => markdownBlocks(lines));
}

/** Cuts a text at its paragraphs. */
export function chunkProse(text: string): Piece[] {
  const lines = textLines(text);
  return packBlocks(lines, () => paragraphBlocks(lines));
}

function* paragraphBlocks(lines: TextLines): Generator<Block> {
  for (let at = 0; at < lines.count; at += 1) {
    if (lines.isBlank(at)) continue;
    const from = at;
    while (at + 1 < lines.count && !lines.isBlank(at + 1)) at += 1;
    yield { from, to: at + 1, title: "", joins: "always" };
  }
}

function* markdownBlocks(lines: TextLines): Generator<Block> {
  const sections: Section[] = [];
  /** First of the headings that have no words below them yet. */
  let headingFrom = -1;
  let at = endOfFrontMatter(lines);
  if (at > 0) yield { from: 0, to: at, title: "", joins: "always" };
  while (at < lines.count) {
    if (lines.isBlank(at)) {
      at += 1;
      continue;
    }
    const heading = readHeading(lines, at);
    if (heading !== undefined) {
      if (headingFrom < 0) headingFrom = at;
      while ((sections[sections.length - 1]?.level ?? 0) >= heading.level) sections.pop();
      sections.push(heading);
      at += heading.lines;
      continue;
    }
    const to = endOfBlock(lines, at);
    const title = titleOf(sections);
    yield {
      from: headingFrom < 0 ? at : headingFrom,
      to,
      title,
      ...restOf(lines, at, to, title),
      joins: headingFrom < 0 ? "always" : "never",
    };
    headingFrom = -1;
    at = to;
  }
  if (headingFrom >= 0) yield { from: headingFrom, to: lines.count, title: titleOf(sections), joins: "never" };
}

function titleOf(sections: readonly Section[]): string {
  return sections
    .map(({ title }) => title)
    .filter((title) => title !== "")
    .join(TITLE_SEPARATOR);
}

/** What follows a cut in a table is told by its header row. */
function restOf(lines: TextLines, at: number, to: number, title: string): { rest?: string } {
  if (at + 2 >= to || !lines.headOf(at).includes("|") || !TABLE_RULE.test(lines.headOf(at + 1))) return {};
  return { rest: [title, lines.headOf(at).trim()].filter((part) => part !== "").join(TITLE_SEPARATOR) };
}

function endOfFrontMatter(lines: TextLines): number {
  if (lines.headOf(0).trimEnd() !== "---") return 0;
  for (let at = 1; at < Math.min(lines.count, FRONT_MATTER_LIMIT_LINES); at += 1) {
    if (lines.headOf(at).trimEnd() === "---") return at + 1;
  }
  return 0;
}

function readHeading(lines: TextLines, at: number): (Section & { readonly lines: number }) | undefined {
  const line = lines.headOf(at);
  const marks = HEADING.exec(line);
  if (marks !== null) {
    return { level: marks[1]?.length ?? 1, title: stripClosingMarks(line.slice(marks[0].length).trim()), lines: 1 };
  }
  const underline = at + 1 < lines.count ? UNDERLINE.exec(lines.headOf(at + 1)) : null;
  if (underline === null || NO_HEADING.test(line) || LIST_ITEM.test(line) || FENCE.test(line)) return undefined;
  return { level: underline[1]?.startsWith("=") ? 1 : 2, title: line.trim(), lines: 2 };
}

/** "## Title ##" is "Title"; "C#" stays. */
function stripClosingMarks(title: string): string {
  let end = title.length;
  while (end > 0 && title.charAt(end - 1) === "#") end -= 1;
  return end === 0 || title.charAt(end - 1) === " " ? title.slice(0, end).trimEnd() : title;
}

function endOfBlock(lines: TextLines, from: number): number {
  const fence = FENCE.exec(lines.headOf(from))?.[1];
  if (fence !== undefined) return endOfFence(lines, from, fence);
  let to = from + 1;
  while (to < lines.count && !lines.isBlank(to)) {
    const line = lines.headOf(to);
    if (HEADING.test(line) || FENCE.test(line) || LIST_ITEM.test(line)) break;
    to += 1;
  }
  return to;
}

function endOfFence(lines: TextLines, from: number, fence: string): number {
  for (let at = from + 1; at < lines.count; at += 1) {
    const line = lines.headOf(at).trim();
    if (line.startsWith(fence) && line === fence.charAt(0).repeat(line.length)) return at + 1;
  }
  return lines.count;
}
