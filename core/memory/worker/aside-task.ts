import type { Analyzer } from "../lexical/analyzer.ts";
import type { IndexGroup } from "../lexical/index-document.ts";
import { buildSegment } from "../lexical/segment-build.ts";
import { buildVectorBlock, type VectorBlock } from "../vector/vector-block.ts";
import { identityOf, type VectorMaker } from "./vector-task.ts";

export type AsideRequest = {
  readonly documents: readonly {
    readonly title: string;
    readonly text: string;
    /** The conversation that it is a message of; empty for none. */
    readonly session: string;
  }[];
  /** Number of the first one; the others follow. */
  readonly firstId: number;
};

export type AsideSegment = { readonly buffer: SharedArrayBuffer; readonly block: VectorBlock };

const GROUP: IndexGroup = {
  ...{ key: "", kind: "document", author: "file", scope: "", sessionId: "", labels: [], weight: 1, expiresAtMs: 0 },
};

function groupOf(session: string): IndexGroup {
  return session === "" ? GROUP : { ...GROUP, key: session, kind: "conversation", sessionId: session };
}

/** A segment with the vectors of the built-in embedder, for an index that nobody keeps. */
export function buildAside({ documents, firstId }: AsideRequest, analyze: Analyzer, maker: VectorMaker): AsideSegment {
  const sessions = [...new Set(documents.map(({ session }) => session))];
  const groups = new Map(sessions.map((session, number) => [session, number]));
  const pieces = documents.map(({ title, text, session }, index) => ({
    ...{ id: firstId + index, group: groups.get(session) ?? 0, title, text, atMs: 0 },
    ...(session === "" ? {} : { place: firstId + index }),
  }));
  const vectors = maker.documents({ texts: documents.map(({ title, text }) => `${title}\n${text}`) });
  const { dimensions } = identityOf("builtin");
  return {
    buffer: buildSegment({ groups: sessions.map(groupOf), documents: pieces }, analyze),
    block: buildVectorBlock(dimensions, vectors, false),
  };
}
