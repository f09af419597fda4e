import type { Result } from "../../domain/failure.ts";
import { TITLE_SEPARATOR } from "./block-packer.ts";
import { chunkMarkdown } from "./prose-chunker.ts";
import { chunksOf, type SourceChunk } from "./source-chunk.ts";

/** A text that lies in no file. */
export type TextToCut = { readonly key: string; readonly title: string; readonly text: string };

/** Cuts texts in a worker thread; gives the pieces of each. */
export type CutTexts = (
  texts: readonly TextToCut[],
  signal: AbortSignal,
) => Promise<Result<readonly (readonly SourceChunk[])[]>>;

/** What the worker does. Headings of a text are told below its title; there are no lines to go to. */
export function cutTexts(texts: readonly TextToCut[]): readonly (readonly SourceChunk[])[] {
  return texts.map(({ key, title, text }) => {
    const pieces = chunkMarkdown(text.replaceAll("\0", " ").toWellFormed());
    return chunksOf(key, pieces).map((piece) => ({
      ...piece,
      line: 0,
      title: [title, piece.title].filter((part) => part !== "").join(TITLE_SEPARATOR),
    }));
  });
}
