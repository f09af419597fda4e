import type { Result } from "../../domain/failure.ts";
import { createAnalyzer } from "../lexical/analyzer.ts";
import type { SegmentInput } from "../lexical/index-document.ts";
import { buildSegment } from "../lexical/segment-build.ts";
import { sketchTexts } from "../lexical/shingles.ts";
import { stampFolder, type WalkOutcome, type WalkRequest, walkFolder } from "../source/folder-walk.ts";
import type { SourceChunk } from "../source/source-chunk.ts";
import { cutPdf, type FileOutcome, type PagesRequest, type ReadRequest, readSources } from "../source/source-files.ts";
import { cutTexts as cut, type TextToCut } from "../source/text-cutting.ts";
import type { VectorBlock } from "../vector/vector-block.ts";
import { loadVectorBlock, verifyVectorFile } from "../vector/vector-file.ts";
import { type AsideRequest, type AsideSegment, buildAside as buildAsideSegment } from "./aside-task.ts";
import { type ComputedTexts, type ComputeTextsRequest, computeTexts as compute } from "./computed-texts.ts";
import type { FusedHit } from "./fusion.ts";
import { type Nearest, type NearestRequest, nearestVectors } from "./nearest-vectors.ts";
import { openedBlocks, openedSegments } from "./opened-segments.ts";
import { type Presented, type PresentRequest, presentPieces } from "./present-task.ts";
import { helpSearch as help, type SearchRequest, searchSegments } from "./search-task.ts";
import { type BuiltSegmentFile, buildSegmentFile, type SegmentFileRequest } from "./segment-task.ts";
import {
  createVectorMaker,
  type EmbedRequest,
  type MakeVectorsRequest,
  makeVectors as makeBlock,
} from "./vector-task.ts";

// The entry of the memory's worker threads: everything that takes the processor for longer than a moment.

const analyze = createAnalyzer();
const vectors = createVectorMaker(analyze);
const means = { open: openedSegments(), openBlocks: openedBlocks(), analyze, vectors };

/** A thread that has answered this has loaded all that a search needs. */
export function ready(): void {}

export function search(request: SearchRequest): FusedHit[] {
  return searchSegments(request, means);
}

/** Half of the vectors of a search, for the thread that does the rest of it. */
export function helpSearch(request: SearchRequest): void {
  help(request, means);
}

export function present(request: PresentRequest): Presented[] {
  return presentPieces(request, analyze);
}

export function build(input: SegmentInput): SharedArrayBuffer {
  return buildSegment(input, analyze);
}

export function buildFile(request: SegmentFileRequest): BuiltSegmentFile {
  return buildSegmentFile(request, analyze);
}

/** With vectors, for an index that nobody keeps. */
export function buildAside(request: AsideRequest): AsideSegment {
  return buildAsideSegment(request, analyze, vectors);
}

export function sketch(texts: readonly string[]): Uint32Array {
  return sketchTexts(texts);
}

/** Of documents, by an embedder that needs nobody else. */
export function embed(request: EmbedRequest): readonly Float32Array[] {
  return vectors.documents(request).map(shareNumbers);
}

/** Shared memory is handed over; anything else would be copied on the main thread. */
function shareNumbers(vector: Float32Array): Float32Array {
  const shared = new Float32Array(new SharedArrayBuffer(vector.byteLength));
  shared.set(vector);
  return shared;
}

/** Of texts that never pass through the main thread. */
export function computeTexts(request: ComputeTextsRequest): ComputedTexts {
  return compute(request, vectors);
}

export function loadVectors(file: string): VectorBlock | undefined {
  return loadVectorBlock(file);
}

export function checkVectors(files: readonly string[]): readonly boolean[] {
  return files.map(verifyVectorFile);
}

export function makeVectors(request: MakeVectorsRequest): Result<VectorBlock> {
  return makeBlock(request);
}

export function nearest(request: NearestRequest): Nearest[] {
  return nearestVectors(request);
}

export function walk(request: WalkRequest): WalkOutcome {
  return walkFolder(request);
}

export function stamp(root: string): string {
  return stampFolder(root);
}

export function read(request: ReadRequest): FileOutcome[] {
  return readSources(request);
}

export function pages(request: PagesRequest): readonly SourceChunk[] {
  return cutPdf(request);
}

export function cutTexts(texts: readonly TextToCut[]): readonly (readonly SourceChunk[])[] {
  return cut(texts);
}
