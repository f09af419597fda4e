import { createAnalyzer } from "../lexical/analyzer.ts";
import { type RankedDocument, rankDocuments } from "../lexical/ranking.ts";
import { buildSegment, openSegment, type SegmentDocument } from "../lexical/segment.ts";
import { type FileOutcome, type ReadRequest, readSources, type WalkOutcome, walkFolder } from "../source/source-files.ts";

// The entry of the memory's worker threads: everything that takes the processor for longer than a moment.

export type SearchRequest = {
  readonly segments: readonly SharedArrayBuffer[];
  readonly query: string;
  readonly limit: number;
};

const analyze = createAnalyzer();

export function search(request: SearchRequest): RankedDocument[] {
  const segments = request.segments.map((buffer) => {
    const segment = openSegment(buffer);
    if (segment === undefined) throw new Error("a segment in memory is damaged");
    return segment;
  });
  return rankDocuments(segments, analyze(request.query), request.limit);
}

export function build(documents: readonly SegmentDocument[]): SharedArrayBuffer {
  return buildSegment(documents, analyze);
}

export function walk(root: string): WalkOutcome {
  return walkFolder(root);
}

export function read(request: ReadRequest): FileOutcome[] {
  return readSources(request);
}
