import type { MemoryAuthor, MemoryKind } from "../../domain/memory.ts";

/** What one file, note, conversation or plugin's document says of all its pieces; a filter judges it once for all of them. */
export type IndexGroup = {
  /** Absolute path of a file, id of a note, of a session, "SOURCE/ID" of a plugin's document. */
  readonly key: string;
  readonly kind: MemoryKind;
  readonly author: MemoryAuthor;
  /** Of a note; empty for what everybody may see. */
  readonly scope: string;
  readonly sessionId: string;
  readonly labels: readonly string[];
  /** What a fused score is multiplied with; 1 for most. */
  readonly weight: number;
  /** Milliseconds since 1970; 0 for never. */
  readonly expiresAtMs: number;
};

/** One piece that a search can find. */
export type IndexDocument = {
  /** A safe integer, unique over all segments of a search; breaks ties. */
  readonly id: number;
  /** Number of its group in the segment. Pieces of one group stand together, in their order. */
  readonly group: number;
  /** Indexed with the text: path, headings, who spoke. */
  readonly title: string;
  readonly text: string;
  /** When it was said, or its file last changed; milliseconds since 1970. */
  readonly atMs: number;
  /** Where it stands in its conversation: what comes later has a larger one. Absent elsewhere. */
  readonly place?: number;
};

export type SegmentInput = { readonly groups: readonly IndexGroup[]; readonly documents: readonly IndexDocument[] };
