import type { MemoryFilter, SearchMode } from "../../domain/memory.ts";
import type { Analyzer } from "../lexical/analyzer.ts";
import { maskSegment } from "../lexical/filter.ts";
import { planQuery, type RankedSegment } from "../lexical/query-plan.ts";
import { type LexicalQuery, termsOfQuery } from "../lexical/query-terms.ts";
import type { ParsedQuery } from "../lexical/query-text.ts";
import { applyConditions, rankDocuments } from "../lexical/ranking.ts";
import type { Segment } from "../lexical/segment.ts";
import type { VectorBlock } from "../vector/vector-block.ts";
import { type ScanPart, scanBlocks } from "../vector/vector-scan.ts";
import { type FusedHit, type FusionRules, fuseLegs, type LegHit, type PieceFacts } from "./fusion.ts";
import type { NamedSegment, OpenedSegments } from "./opened-segments.ts";
import type { ComputedEmbedder, VectorMaker } from "./vector-task.ts";

/** A leg gives so many for each one that is wanted, and at least so many: with fewer, ranks would say too little. */
const LEG_HITS_A_RESULT = 3;
const LEG_LEAST_HITS = 100;

/** The vectors of a segment. The file has the exact ones, when memory has not. */
export type SegmentVectors = { readonly block: VectorBlock; readonly file?: string };

export type SearchedSegment = NamedSegment & {
  /** A byte a row, 1 for a piece that is gone. */
  readonly dead: Uint8Array | undefined;
  /** Row i is piece i; undefined while there are none of the embedder in use. */
  readonly vectors: SegmentVectors | undefined;
};

export type SearchRequest = {
  readonly segments: readonly SearchedSegment[];
  readonly query: ParsedQuery;
  readonly mode: SearchMode;
  /** Must hold beside the filter that the query itself names. */
  readonly filter: MemoryFilter;
  /** Of the notes that may be seen; what has no scope is for everybody. */
  readonly scopes: readonly string[];
  /** Or who computes it; undefined: the vector leg does not run. */
  readonly queryVector: Float32Array | ComputedEmbedder | undefined;
  readonly rules: FusionRules;
};

/** One whole search but for the texts: what may be answered, both legs, and their fusion. Best first. */
export function searchSegments(
  request: SearchRequest,
  {
    open,
    analyze,
    vectors,
  }: { readonly open: OpenedSegments; readonly analyze: Analyzer; readonly vectors: VectorMaker },
): FusedHit[] {
  const { filter, scopes, rules } = request;
  const judged = { ...filter, and: request.query.filter, scopes, nowMs: rules.nowMs };
  const opened = open(request.segments);
  const masked = opened.map((segment, index): RankedSegment => {
    const dead = request.segments[index]?.dead;
    return { segment, mask: maskSegment(segment, judged, dead), dead };
  });
  const query = termsOfQuery(request.query, analyze);
  const depth = Math.max(rules.limit * LEG_HITS_A_RESULT, LEG_LEAST_HITS);
  const lexical = request.mode === "vector" ? [] : rankDocuments(masked, query, depth);
  const vector = request.mode === "lexical" ? [] : scanVectors(request, masked, query, depth, vectors);
  return fuseLegs({ lexical, vector }, rules, ({ segment, row }) => factsOf(opened[segment], row));
}

/** What must and must not be there holds for this leg too. */
function scanVectors(
  { segments, query: asked, queryVector }: SearchRequest,
  masked: readonly RankedSegment[],
  query: LexicalQuery,
  depth: number,
  maker: VectorMaker,
): LegHit[] {
  if (queryVector === undefined) return [];
  const plan = planQuery(masked, { ...query, terms: [], prefixes: [] });
  const parts: (ScanPart & { readonly number: number })[] = [];
  for (const [number, { segment, mask }] of masked.entries()) {
    const vectors = segments[number]?.vectors;
    if (vectors === undefined) continue;
    const allowed = applyConditions(segment, mask, number, plan) ?? everyRow(segment.documents);
    parts.push({ ...vectors, number, mask: allowed, ids: segment.ids });
  }
  const opened = masked.map(({ segment }) => segment);
  const vector = typeof queryVector === "string" ? maker.query(queryVector, asked.plainText, opened) : queryVector;
  return scanBlocks(parts, vector, depth).map(({ block, row, score }) => {
    return { segment: parts[block]?.number ?? 0, row, score };
  });
}

let every = new Uint8Array(0);

/** A mask that lets all rows pass; one for all, since nobody writes to it. */
function everyRow(rows: number): Uint8Array {
  if (every.length < rows) every = new Uint8Array(rows).fill(1);
  return every.subarray(0, rows);
}

function factsOf(segment: Segment | undefined, row: number): PieceFacts {
  const group = segment?.groups()[segment.rowGroups[row] ?? 0];
  return { id: segment?.ids[row] ?? 0, atMs: segment?.atMs[row] ?? 0, weight: group?.weight ?? 1 };
}
