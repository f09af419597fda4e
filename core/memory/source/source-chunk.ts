import { createHash } from "node:crypto";
import type { MemoryAuthor, MemoryKind } from "../../domain/memory.ts";
import type { Piece } from "./block-packer.ts";

export type SourceChunk = {
  /** 52 bits of a hash over document, place and text: the same in every rebuild. Notes have the numbers above. */
  readonly id: number;
  /** From 1; 0 where there are no lines. */
  readonly line: number;
  /** From 1; 0 where there are no pages. */
  readonly page: number;
  /**
   * Headings, declaration, header row, or who spoke; never the path of the file, so that a vector over title and text
   * outlives a renaming.
   */
  readonly title: string;
  readonly text: string;
};

/** A text from a source, cut into pieces. */
export type ReadDocument = {
  /** Name of the source: "folder:/abs", "plugin:NAME/ID", "conversations". */
  readonly source: string;
  /** Absolute path of a file, "SOURCE/ID" of a plugin's document, "SESSION/SEQ" of a message. */
  readonly key: string;
  /** SHA-256 of what it was read from, in hex. */
  readonly hash: string;
  readonly kind: MemoryKind;
  readonly author: MemoryAuthor;
  /** Empty outside a conversation. */
  readonly sessionId: string;
  readonly labels: readonly string[];
  /** When it was said, or the file last changed; milliseconds since 1970, 0 for unknown. */
  readonly atMs: number;
  readonly pieces: readonly SourceChunk[];
};

/** Gives pieces of a document their ids. */
export function chunksOf(key: string, pieces: readonly Piece[]): SourceChunk[] {
  return pieces.map(({ line, column, page, title, text }) => ({
    id: chunkId([key, line, column, page, title, text]),
    line,
    page,
    title,
    text,
  }));
}

/** SHA-256 in hex. */
export function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function chunkId(parts: readonly (string | number)[]): number {
  const digest = createHash("sha256").update(parts.join("\0")).digest();
  return Number(digest.readBigUInt64BE() >> 12n);
}
