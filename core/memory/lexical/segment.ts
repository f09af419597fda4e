import type { Analyzer } from "./analyzer.ts";

// A segment is an inverted index over a few thousand documents in one shared buffer: every worker thread reads the same
// bytes, and the store keeps them as they are. It never changes; an edit makes a new one.

const MAGIC = 0x636c_7331;
const HEADER_WORDS = 8;
/** Documents are numbered in 16 bits inside a segment. */
const SEGMENT_LIMIT_DOCUMENTS = 65_536;
const FREQUENCY_LIMIT = 65_535;
/** Shorter texts count as this long: without a floor BM25 overrates one-line texts. */
const LENGTH_FLOOR_TERMS = 20;

export type SegmentDocument = {
  /** A safe integer, unique over all segments of a search; breaks ties. */
  readonly id: number;
  readonly text: string;
};

/** Typed views into one shared buffer. `termSlots` is an open-addressing hash table of term numbers plus one. */
export type Segment = {
  readonly documents: number;
  /** Sum of `lengths`. */
  readonly lengthTotal: number;
  readonly ids: Float64Array;
  /** Terms in each document, at least LENGTH_FLOOR_TERMS. */
  readonly lengths: Uint32Array;
  readonly termSlots: Uint32Array;
  readonly termStarts: Uint32Array;
  readonly postingStarts: Uint32Array;
  readonly postingDocuments: Uint16Array;
  readonly postingFrequencies: Uint16Array;
  readonly termBytes: Uint8Array;
};

type Counts = {
  readonly documents: number;
  readonly terms: number;
  readonly postings: number;
  readonly slots: number;
  readonly termBytes: number;
};

const encoder = new TextEncoder();

/** Indexes documents, at most SEGMENT_LIMIT_DOCUMENTS. CPU-bound: about 0.1 ms a document, so call it in a worker. */
export function buildSegment(documents: readonly SegmentDocument[], analyze: Analyzer): SharedArrayBuffer {
  if (documents.length > SEGMENT_LIMIT_DOCUMENTS)
    throw new RangeError(`a segment holds at most ${SEGMENT_LIMIT_DOCUMENTS} documents`);
  const postings = collectPostings(documents, analyze);
  const terms = [...postings.byTerm.keys()].map((term) => encoder.encode(term));
  const counts: Counts = {
    documents: documents.length,
    terms: terms.length,
    postings: postings.total,
    slots: slotsFor(terms.length),
    termBytes: terms.reduce((sum, bytes) => sum + bytes.length, 0),
  };
  const buffer = new SharedArrayBuffer(layOut(counts).totalBytes);
  new Uint32Array(buffer, 0, HEADER_WORDS).set([
    MAGIC,
    counts.documents,
    counts.terms,
    counts.postings,
    counts.slots,
    counts.termBytes,
    postings.lengths.reduce((sum, length) => sum + length, 0),
  ]);
  const segment = viewSegment(buffer, counts);
  segment.ids.set(documents.map((document) => document.id));
  segment.lengths.set(postings.lengths);
  writeDictionary(segment, terms);
  writePostings(segment, postings.byTerm);
  return buffer;
}

/** The views of a buffer; undefined when the bytes are no whole segment of this build's form. */
export function openSegment(buffer: SharedArrayBuffer): Segment | undefined {
  if (buffer.byteLength < HEADER_WORDS * 4) return undefined;
  const [magic, documents = 0, terms = 0, postings = 0, slots = 0, termBytes = 0] = new Uint32Array(
    buffer,
    0,
    HEADER_WORDS,
  );
  const counts = { documents, terms, postings, slots, termBytes };
  if (magic !== MAGIC || slots !== slotsFor(terms) || layOut(counts).totalBytes !== buffer.byteLength) return undefined;
  return viewSegment(buffer, counts);
}

/** The number of a term in a segment, or -1. */
export function findTerm(segment: Segment, term: Uint8Array): number {
  const mask = segment.termSlots.length - 1;
  for (let slot = hashBytes(term) & mask; ; slot = (slot + 1) & mask) {
    const number = (segment.termSlots[slot] ?? 0) - 1;
    if (number < 0 || sameTerm(segment, number, term)) return number;
  }
}

type Postings = {
  /** Document number and frequency in turns, documents ascending. */
  readonly byTerm: ReadonlyMap<string, readonly number[]>;
  readonly lengths: readonly number[];
  readonly total: number;
};

function collectPostings(documents: readonly SegmentDocument[], analyze: Analyzer): Postings {
  const byTerm = new Map<string, number[]>();
  const lengths: number[] = [];
  let total = 0;
  for (const [number, { text }] of documents.entries()) {
    const terms = analyze(text);
    lengths.push(Math.max(terms.length, LENGTH_FLOOR_TERMS));
    const frequencies = new Map<string, number>();
    for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    total += frequencies.size;
    for (const [term, frequency] of frequencies) {
      const list = byTerm.get(term);
      const limited = Math.min(frequency, FREQUENCY_LIMIT);
      if (list === undefined) byTerm.set(term, [number, limited]);
      else list.push(number, limited);
    }
  }
  return { byTerm, lengths, total };
}

function writeDictionary(segment: Segment, terms: readonly Uint8Array[]): void {
  const mask = segment.termSlots.length - 1;
  let at = 0;
  for (const [number, bytes] of terms.entries()) {
    segment.termBytes.set(bytes, at);
    at += bytes.length;
    segment.termStarts[number + 1] = at;
    let slot = hashBytes(bytes) & mask;
    while (segment.termSlots[slot] !== 0) slot = (slot + 1) & mask;
    segment.termSlots[slot] = number + 1;
  }
}

function writePostings(segment: Segment, byTerm: ReadonlyMap<string, readonly number[]>): void {
  let at = 0;
  let number = 0;
  for (const list of byTerm.values()) {
    for (let index = 0; index < list.length; index += 2) {
      segment.postingDocuments[at] = list[index] ?? 0;
      segment.postingFrequencies[at] = list[index + 1] ?? 0;
      at += 1;
    }
    number += 1;
    segment.postingStarts[number] = at;
  }
}

/** A power of two, at most half full, so that a probe always meets an empty slot. */
function slotsFor(terms: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(terms, 1) * 2));
}

type Layout = { readonly starts: readonly number[]; readonly totalBytes: number };

/** Widest elements first, so that every view is aligned without padding. */
function layOut(counts: Counts): Layout {
  const sizes = [
    HEADER_WORDS * 4,
    counts.documents * 8,
    counts.documents * 4,
    counts.slots * 4,
    (counts.terms + 1) * 4,
    (counts.terms + 1) * 4,
    counts.postings * 2,
    counts.postings * 2,
    counts.termBytes,
  ];
  const starts: number[] = [];
  let totalBytes = 0;
  for (const size of sizes) {
    starts.push(totalBytes);
    totalBytes += size;
  }
  return { starts, totalBytes };
}

function viewSegment(buffer: SharedArrayBuffer, counts: Counts): Segment {
  const [
    ,
    ids = 0,
    lengths = 0,
    slots = 0,
    termStarts = 0,
    postingStarts = 0,
    documents = 0,
    frequencies = 0,
    bytes = 0,
  ] = layOut(counts).starts;
  return {
    documents: counts.documents,
    lengthTotal: new Uint32Array(buffer, 0, HEADER_WORDS)[6] ?? 0,
    ids: new Float64Array(buffer, ids, counts.documents),
    lengths: new Uint32Array(buffer, lengths, counts.documents),
    termSlots: new Uint32Array(buffer, slots, counts.slots),
    termStarts: new Uint32Array(buffer, termStarts, counts.terms + 1),
    postingStarts: new Uint32Array(buffer, postingStarts, counts.terms + 1),
    postingDocuments: new Uint16Array(buffer, documents, counts.postings),
    postingFrequencies: new Uint16Array(buffer, frequencies, counts.postings),
    termBytes: new Uint8Array(buffer, bytes, counts.termBytes),
  };
}

function sameTerm(segment: Segment, number: number, term: Uint8Array): boolean {
  const start = segment.termStarts[number] ?? 0;
  if ((segment.termStarts[number + 1] ?? 0) - start !== term.length) return false;
  for (let index = 0; index < term.length; index += 1)
    if (segment.termBytes[start + index] !== term[index]) return false;
  return true;
}

/** FNV-1a, 32 bits. */
function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c_9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x0100_0193);
  return hash >>> 0;
}
