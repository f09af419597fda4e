import { type Block, type Piece, packBlocks } from "./block-packer.ts";
import { type TextLines, textLines } from "./text-lines.ts";

/** Cuts CSV and TSV between rows; every piece has the header row as its title. */
export function chunkTable(text: string): Piece[] {
  const lines = textLines(text);
  return packBlocks(lines, () => rows(lines));
}

function* rows(lines: TextLines): Generator<Block> {
  const title = lines.headOf(0).trim();
  for (let at = 0; at < lines.count; at += 1) yield { from: at, to: at + 1, title, joins: "always" };
}
