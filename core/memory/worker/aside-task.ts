import type { Analyzer } from "../lexical/analyzer.ts";
import type { IndexGroup } from "../lexical/index-document.ts";
import { buildSegment } from "../lexical/segment-build.ts";
import { buildVectorBlock, type VectorBlock } from "../vector/vector-block.ts";
import { identityOf, type VectorMaker } from "./vector-task.ts";

export type AsideRequest = {
  readonly documents: readonly { readonly title: string; readonly text: string }[];
  /** Number of the first one; the others follow. */
  readonly firstId: number;
};

export type AsideSegment = { readonly buffer: SharedArrayBuffer; readonly block: VectorBlock };

const GROUP: IndexGroup = {
  ...{ key: "", kind: "document", author: "file", scope: "", sessionId: "", labels: [], weight: 1, expiresAtMs: 0 },
};

/** A segment with the vectors of the built-in embedder, for an index that nobody keeps. */
export function buildAside({ documents, firstId }: AsideRequest, analyze: Analyzer, maker: VectorMaker): AsideSegment {
  const pieces = documents.map(({ title, text }, index) => ({ id: firstId + index, group: 0, title, text, atMs: 0 }));
  const vectors = maker.documents({ texts: documents.map(({ title, text }) => `${title}\n${text}`) });
  const { dimensions } = identityOf("builtin");
  return {
    buffer: buildSegment({ groups: [GROUP], documents: pieces }, analyze),
    block: buildVectorBlock(dimensions, vectors, false),
  };
}
