import type { MemoryFilter, SearchMode } from "../../domain/memory.ts";
import type { Analyzer } from "../lexical/analyzer.ts";
import { maskSegment } from "../lexical/filter.ts";
import { planQuery, type RankedSegment } from "../lexical/query-plan.ts";
import { type LexicalQuery, termsOfQuery } from "../lexical/query-terms.ts";
import type { ParsedQuery } from "../lexical/query-text.ts";
import { applyConditions, rankDocuments } from "../lexical/ranking.ts";
import type { Segment } from "../lexical/segment.ts";
import { judgeShared } from "../lexical/shared-words.ts";
import type { VectorBlock } from "../vector/vector-block.ts";
import { type FoundRow, mergeFound, type ScanPart, scanBlocks, splitScan } from "../vector/vector-scan.ts";
import { type FusedHit, type FusionRules, fuseLegs, type LegHit, type PieceFacts } from "./fusion.ts";
import type { NamedBlock, NamedSegment, OpenedBlocks, OpenedSegments } from "./opened-segments.ts";
import { depthOf, finishShare, helpWith, type ScanShare } from "./scan-share.ts";
import type { ComputedEmbedder, VectorMaker } from "./vector-task.ts";

/** The vectors of a segment. The file has the exact ones, when memory has not. */
export type SegmentVectors = { readonly block: VectorBlock; readonly file?: string };

export type SearchedSegment = NamedSegment & {
  /** A byte a row, 1 for a piece that is gone. */
  readonly dead: Uint8Array | undefined;
  /** Row i is piece i; undefined while there are none of the embedder in use. */
  readonly vectors: (SegmentVectors & NamedBlock) | undefined;
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
  /** Say of each hit how much of the question it holds. */
  readonly shared?: boolean;
  /** Half of the vectors' scan, when a second thread may do it. */
  readonly share?: ScanShare;
};

/** What a thread has. */
export type SearchMeans = {
  readonly open: OpenedSegments;
  readonly openBlocks: OpenedBlocks;
  readonly analyze: Analyzer;
  readonly vectors: VectorMaker;
};

/** One whole search but for the texts: what may be answered, both legs, and their fusion. Best first. */
export function searchSegments(request: SearchRequest, means: SearchMeans): FusedHit[] {
  const { mode, rules, share } = request;
  const scene = openScene(request, means);
  const { opened, masked, query } = scene;
  const depth = depthOf(rules);
  const lexical = mode === "vector" ? [] : rankDocuments(masked, query, depth);
  const scan = mode === "lexical" ? undefined : prepareScan(request, scene, means);
  const near = scan === undefined ? [] : scanShared(scan, depth, share);
  const vector = mode === "hybrid" && request.queryVector === "builtin" ? withoutChance(near, lexical) : near;
  const fused = fuseLegs({ lexical, vector }, rules, ({ segment, row }) => factsOf(opened[segment], row));
  if (request.shared !== true) return fused;
  const shared = judgeShared(masked, request.query.plainText, means.analyze);
  return fused.map((hit) => ({ ...hit, shared: shared(hit.segment, hit.row) }));
}

/** Texts that share nothing but letters have cosines of up to this with one another when words are hashed. */
const CHANCE_COSINE = 0.2;

/** What hashed words alone have found must be more than a likeness of letters, or every question would have its ten answers. */
function withoutChance(near: readonly LegHit[], lexical: readonly LegHit[]): readonly LegHit[] {
  const seen = new Set(lexical.map(({ segment, row }) => `${segment}/${row}`));
  return near.filter(({ segment, row, score }) => score > CHANCE_COSINE || seen.has(`${segment}/${row}`));
}

/** What a second thread does for the same request. */
export function helpSearch(request: SearchRequest, means: SearchMeans): void {
  const scan = prepareScan(request, openScene(request, means), means);
  if (scan === undefined || request.share === undefined) return;
  const [, second] = splitScan(scan.parts, 2);
  if (second !== undefined) helpWith(request.share, () => scanBlocks(second, scan.vector, depthOf(request.rules)));
}

type Scene = {
  readonly opened: readonly Segment[];
  readonly masked: readonly RankedSegment[];
  readonly query: LexicalQuery;
};

function openScene(request: SearchRequest, { open, analyze }: SearchMeans): Scene {
  const { filter, scopes, rules } = request;
  const judged = { ...filter, and: request.query.filter, scopes, nowMs: rules.nowMs };
  const opened = open(request.segments);
  const masked = opened.map((segment, index): RankedSegment => {
    const dead = request.segments[index]?.dead;
    return { segment, mask: maskSegment(segment, judged, dead), dead };
  });
  return { opened, masked, query: termsOfQuery(request.query, analyze) };
}

type Scan = {
  readonly vector: Float32Array;
  readonly parts: readonly ScanPart[];
  /** The segment of each part. */
  readonly numbers: readonly number[];
};

/** What must and must not be there holds for this leg too. */
function prepareScan(
  { segments, query: asked, queryVector }: SearchRequest,
  { masked, query }: Scene,
  { openBlocks, vectors: maker }: SearchMeans,
): Scan | undefined {
  if (queryVector === undefined) return undefined;
  const plan = planQuery(masked, { ...query, terms: [], prefixes: [] });
  const blocks = openBlocks(segments.flatMap(({ vectors }) => vectors ?? []));
  const parts: ScanPart[] = [];
  const numbers: number[] = [];
  for (const [number, { segment, mask }] of masked.entries()) {
    const file = segments[number]?.vectors?.file;
    const block = segments[number]?.vectors === undefined ? undefined : blocks[parts.length];
    if (block === undefined) continue;
    const allowed = applyConditions(segment, mask, number, plan) ?? everyRow(segment.documents);
    parts.push({ block, mask: allowed, ids: segment.ids, ...(file === undefined ? {} : { file }) });
    numbers.push(number);
  }
  const vector = typeof queryVector === "string" ? maker.query(queryVector, asked.plainText, masked) : queryVector;
  return { vector, parts, numbers };
}

function scanShared({ parts, vector, numbers }: Scan, depth: number, share: ScanShare | undefined): LegHit[] {
  const scan = (over: readonly ScanPart[]) => scanBlocks(over, vector, depth);
  const [first = [], second] = share === undefined ? [parts] : splitScan(parts, 2);
  const own = scan(first);
  const found: readonly FoundRow[] =
    second === undefined || share === undefined
      ? own
      : mergeFound([own, finishShare(share, () => scan(second))], depth);
  return found.map(({ block, row, score }) => ({ segment: numbers[block] ?? 0, row, score }));
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
