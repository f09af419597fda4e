import type { Piece } from "./block-packer.ts";
import { chunkProse } from "./prose-chunker.ts";

/** Cuts each page by itself, so that every piece is on one page. */
export function chunkPages(pages: readonly string[]): Piece[] {
  return pages.flatMap((page, index) => chunkProse(page).map((piece) => ({ ...piece, line: 0, page: index + 1 })));
}
