import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { MemoryAuthor, MemoryKind } from "../../domain/memory.ts";
import type { Analyzer } from "../lexical/analyzer.ts";
import type { IndexDocument, IndexGroup, SegmentInput } from "../lexical/index-document.ts";
import { buildSegment } from "../lexical/segment-build.ts";
import { writeDurably } from "../vector/durable-file.ts";

const PATH_PARTS = 4;
/** More than a message falls into. */
const PLACES_A_MESSAGE = 65_536;

export type SegmentFileRequest = {
  /** JSON lines as the store writes them, in the order of the segment. */
  readonly inputFile: string;
  /** Where the segment goes. */
  readonly file: string;
};

export type BuiltSegmentFile = {
  readonly buffer: SharedArrayBuffer;
  /** Of the file's bytes. */
  readonly crc32: number;
};

/** A line of an input file. */
type InputLine = {
  readonly id: number;
  readonly key: string;
  readonly kind: MemoryKind;
  readonly author: MemoryAuthor;
  readonly session_id: string;
  /** JSON in JSON: DuckDB keeps it as text. */
  readonly labels: string;
  readonly at_ms: number;
  /** Which piece of its document, from 0. */
  readonly ordinal: number;
  readonly title: string;
  readonly text: string;
};

/** Builds a segment from an input file and writes it: durable, under its name, or not there at all. */
export function buildSegmentFile({ inputFile, file }: SegmentFileRequest, analyze: Analyzer): BuiltSegmentFile {
  const buffer = buildSegment(readInput(inputFile), analyze);
  const bytes = new Uint8Array(buffer);
  writeDurably(file, bytes);
  return { buffer, crc32: crc32(bytes) };
}

function readInput(file: string): SegmentInput {
  const groups: IndexGroup[] = [];
  const documents: IndexDocument[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line === "") continue;
    const piece = JSON.parse(line) as InputLine;
    const { id, text, at_ms: atMs } = piece;
    const title = indexedTitle(piece);
    const key = piece.kind === "conversation" ? piece.session_id : piece.key;
    const last = groups.at(-1);
    if (last === undefined || last.key !== key || !isGroupOf(last, piece)) groups.push(groupOf(piece, key));
    const document = { id, group: groups.length - 1, title, text, atMs };
    documents.push(piece.kind === "conversation" ? { ...document, place: placeOf(piece) } : document);
  }
  return { groups, documents };
}

/** A file is found by the names on the way to it too; what stands further up is the same for most of them. */
function indexedTitle({ kind, key, title }: InputLine): string {
  return kind === "conversation" ? title : `${key.split("/").slice(-PATH_PARTS).join("/")} ${title}`;
}

/** A message's key is "SESSION/SEQ". */
function placeOf({ key, ordinal }: InputLine): number {
  return Number(key.slice(key.lastIndexOf("/") + 1)) * PLACES_A_MESSAGE + ordinal;
}

/** In a conversation two people speak: neighbours stay in one group only while the same rules hold for them. */
function isGroupOf(group: IndexGroup, piece: InputLine): boolean {
  return group.kind === piece.kind && group.author === piece.author && group.sessionId === piece.session_id;
}

function groupOf({ kind, author, session_id: sessionId, labels }: InputLine, key: string): IndexGroup {
  const words = JSON.parse(labels) as readonly string[];
  return { key, kind, author, scope: "", sessionId, labels: words, weight: 1, expiresAtMs: 0 };
}
