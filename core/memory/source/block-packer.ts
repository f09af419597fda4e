import { breakPoint } from "./break-point.ts";
import type { TextLines } from "./text-lines.ts";

/** Blocks that may share a piece do until it is this long. */
const PIECE_GOAL_CHARS = 1_000;
/** No piece is longer. */
export const PIECE_LIMIT_CHARS = 1_500;
/** A piece this short takes another declaration in. */
const SMALL_PIECE_CHARS = 300;
/** A cut inside a block leaves at least this much before it. */
const CUT_LOW_CHARS = 500;
/** A text that comes to more pieces than this is packed as tightly as can be instead: it has a structure made to explode. */
const LOOSE_LIMIT_PIECES = 4_096;
const TITLE_LIMIT_CHARS = 240;
/** Between a title and the one below it. */
export const TITLE_SEPARATOR = " › ";

/** A part of a text that a search can find. */
export type Piece = {
  /** Where it begins: line from 1, UTF-16 column from 0. */
  readonly line: number;
  readonly column: number;
  /** Page from 1; 0 where there are no pages. */
  readonly page: number;
  /** What it stands under: headings, declaration, header row; may be empty. */
  readonly title: string;
  readonly text: string;
};

/** Lines [from, to), from 0, that belong together. */
export type Block = {
  readonly from: number;
  readonly to: number;
  readonly title: string;
  /** The title of what follows a cut in it; `title` when absent. */
  readonly rest?: string;
  /** Whether it may share a piece with what is before it: `small` only when that is short. */
  readonly joins: "always" | "small" | "never";
};

/**
 * Makes pieces of at most 1,500 characters out of blocks, which come in their order and leave out nothing but blank lines.
 * A block that is too long is cut at a blank line, else between lines, else behind a sentence or a word. Nothing overlaps.
 */
export function packBlocks(lines: TextLines, blocks: () => Iterable<Block>): Piece[] {
  return pack(lines, blocks(), false) ?? pack(lines, blocks(), true) ?? [];
}

function pack(lines: TextLines, blocks: Iterable<Block>, tight: boolean): Piece[] | undefined {
  const pieces: Piece[] = [];
  let open: { readonly from: number; to: number; readonly titles: Set<string> } | undefined;
  const close = () => {
    if (open !== undefined) addPiece(lines, open.from, open.to, joinTitles([...open.titles]), pieces);
    open = undefined;
  };
  for (const block of blocks) {
    if (open !== undefined && mayJoin(lines, open.from, open.to, block, tight)) {
      open.to = block.to;
      if (block.title !== "") open.titles.add(block.title);
      continue;
    }
    close();
    const rest = cutBlock(lines, block, pieces);
    if (rest !== undefined) open = { ...rest, titles: new Set(rest.title === "" ? [] : [rest.title]) };
    if (!tight && pieces.length > LOOSE_LIMIT_PIECES) return undefined;
  }
  close();
  return pieces;
}

function mayJoin(lines: TextLines, from: number, to: number, block: Block, tight: boolean): boolean {
  if (sizeOf(lines, from, block.to) > PIECE_GOAL_CHARS) return false;
  if (tight || block.joins === "always") return true;
  return block.joins === "small" && sizeOf(lines, from, to) < SMALL_PIECE_CHARS;
}

/** One that another goes on from says nothing more. */
function joinTitles(titles: readonly string[]): string {
  return titles.filter((title, at) => titles[at + 1]?.startsWith(title + TITLE_SEPARATOR) !== true).join("; ");
}

export function sizeOf(lines: TextLines, from: number, to: number): number {
  return lines.endOf(to - 1) - lines.startOf(from);
}

/** Gives the last part of a block, which others may still join; all of it when it is short enough. */
function cutBlock(
  lines: TextLines,
  block: Block,
  pieces: Piece[],
): { readonly from: number; to: number; readonly title: string } | undefined {
  let title = block.title;
  let from = block.from;
  while (from < block.to) {
    const to = endOfPart(lines, from, block.to);
    if (to === block.to) return { from, to, title };
    if (to > from) addPiece(lines, from, to, title, pieces);
    else cutLine(lines, from, title, pieces);
    from = Math.max(to, from + 1);
    title = block.rest ?? block.title;
  }
  return undefined;
}

/** The line before which a part from this one on ends; the same line when it alone is too long. */
function endOfPart(lines: TextLines, from: number, limit: number): number {
  let to = from;
  let blank = -1;
  while (to < limit && sizeOf(lines, from, to + 1) <= PIECE_LIMIT_CHARS) {
    if (lines.isBlank(to) && lines.startOf(to) - lines.startOf(from) >= CUT_LOW_CHARS) blank = to;
    to += 1;
  }
  return to < limit && blank > from ? blank : to;
}

function cutLine(lines: TextLines, line: number, title: string, pieces: Piece[]): void {
  const start = lines.startOf(line);
  const end = lines.endOf(line);
  for (let at = start; at < end; ) {
    const high = at + PIECE_LIMIT_CHARS;
    const next = high >= end ? end : breakPoint(lines.text, at + CUT_LOW_CHARS, high, ["sentence", "word"]);
    const text = lines.text.slice(at, next);
    if (text.trim() !== "") pieces.push({ line: line + 1, column: at - start, page: 0, title: cutTitle(title), text });
    at = next;
  }
}

function addPiece(lines: TextLines, from: number, to: number, title: string, pieces: Piece[]): void {
  let first = from;
  let last = to - 1;
  while (first <= last && lines.isBlank(first)) first += 1;
  while (last > first && lines.isBlank(last)) last -= 1;
  if (first > last) return;
  const text = lines.text.slice(lines.startOf(first), lines.endOf(last)).replaceAll("\r\n", "\n");
  pieces.push({ line: first + 1, column: 0, page: 0, title: cutTitle(title), text });
}

function cutTitle(title: string): string {
  return title.length <= TITLE_LIMIT_CHARS
    ? title
    : title.slice(0, breakPoint(title, TITLE_LIMIT_CHARS / 2, TITLE_LIMIT_CHARS, ["word"]));
}
