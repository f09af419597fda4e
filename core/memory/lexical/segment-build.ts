import type { Analyzer, TokenTerms } from "./analyzer.ts";
import type { IndexDocument, SegmentInput } from "./index-document.ts";
import {
  encodeGroups,
  FREQUENCY_LIMIT,
  LENGTH_FLOOR_TERMS,
  SEGMENT_LIMIT_DOCUMENTS,
  type SegmentCounts,
  type SegmentViews,
  segmentBytes,
  traitsOf,
  viewSegment,
  writeHeader,
} from "./segment.ts";

const FIRST_POSTINGS = 65_536;
const SURROGATE = /[\uD800-\uDFFF]/;

const encoder = new TextEncoder();

/** Indexes documents, at most SEGMENT_LIMIT_DOCUMENTS. CPU-bound: about 0.05 ms a document, so call it in a worker. */
export function buildSegment(input: SegmentInput, analyze: Analyzer): SharedArrayBuffer {
  const { groups, documents } = input;
  if (documents.length > SEGMENT_LIMIT_DOCUMENTS)
    throw new RangeError(`a segment holds at most ${SEGMENT_LIMIT_DOCUMENTS} documents`);
  if (documents.some(({ group }) => groups[group] === undefined)) throw new RangeError("a document names no group");
  const postings = collectPostings(documents, analyze);
  const terms = sortTerms(postings.terms);
  const groupBytes = encodeGroups(groups);
  const traits = traitsOf(groups);
  const counts: SegmentCounts = {
    documents: documents.length,
    places: traits.conversing ? documents.length : 0,
    terms: terms.length,
    postings: postings.total,
    termBytes: terms.reduce((sum, { bytes }) => sum + bytes.length, 0),
    groupBytes: groupBytes.length,
  };
  const buffer = new SharedArrayBuffer(segmentBytes(counts));
  const lengthTotal = postings.lengths.reduce((sum, length) => sum + length, 0);
  writeHeader(buffer, counts, lengthTotal, traits);
  const views = viewSegment(buffer, counts);
  views.lengths.set(postings.lengths);
  views.groupBytes.set(groupBytes);
  for (const [row, document] of documents.entries()) {
    views.ids[row] = document.id;
    views.atMs[row] = document.atMs;
    views.rowGroups[row] = document.group;
    // Where nobody talks there is no room for it, and nothing happens.
    views.places[row] = document.place ?? 0;
  }
  writeTerms(views, terms, postings);
  return buffer;
}

/** All pairs of term and document in the order in which they were met: documents ascending. */
type Postings = {
  /** Every term, by the number that it has here. */
  readonly terms: readonly string[];
  readonly termNumbers: Uint32Array;
  readonly documents: Uint16Array;
  readonly frequencies: Uint8Array;
  readonly total: number;
  /** How many documents hold each term. */
  readonly termDocuments: Uint32Array;
  readonly lengths: Uint32Array;
};

function collectPostings(documents: readonly IndexDocument[], analyze: Analyzer): Postings {
  const { terms, note } = numberTerms();
  const lengths = new Uint32Array(documents.length);
  let termNumbers = new Uint32Array(FIRST_POSTINGS);
  let rows = new Uint16Array(FIRST_POSTINGS);
  let frequencies = new Uint8Array(FIRST_POSTINGS);
  // Where the last posting of each term lies: the one of this document when it lies behind its first.
  let lastPostings = new Int32Array(FIRST_POSTINGS).fill(-1);
  let total = 0;
  let row = 0;
  let firstOfRow = 0;
  let length = 0;

  function add(found: TokenTerms): void {
    note(found);
    length += found.count;
    if (found.count === 1) count(found.number);
    else for (const number of found.numbers) count(number);
  }

  function count(number: number): void {
    if (number >= lastPostings.length) lastPostings = grown(lastPostings, new Int32Array(number * 2).fill(-1));
    const last = lastPostings[number] ?? -1;
    if (last >= firstOfRow) {
      const frequency = frequencies[last] ?? 0;
      if (frequency < FREQUENCY_LIMIT) frequencies[last] = frequency + 1;
      return;
    }
    if (total === termNumbers.length) {
      termNumbers = grown(termNumbers, new Uint32Array(total * 2));
      rows = grown(rows, new Uint16Array(total * 2));
      frequencies = grown(frequencies, new Uint8Array(total * 2));
    }
    termNumbers[total] = number;
    rows[total] = row;
    frequencies[total] = 1;
    lastPostings[number] = total;
    total += 1;
  }

  for (const document of documents) {
    firstOfRow = total;
    length = 0;
    if (document.title !== "") analyze.visit(document.title, add);
    analyze.visit(document.text, add);
    lengths[row] = Math.max(length, LENGTH_FLOOR_TERMS);
    row += 1;
  }
  const termDocuments = new Uint32Array(terms.length);
  for (let at = 0; at < total; at += 1) {
    const number = termNumbers[at] ?? 0;
    termDocuments[number] = (termDocuments[number] ?? 0) + 1;
  }
  return { terms, termNumbers, documents: rows, frequencies, total, termDocuments, lengths };
}

/** Numbers terms as they are met, and notes a token's at the token, which saves looking them up again. */
function numberTerms() {
  const owner = {};
  const terms: string[] = [];
  const numbers = new Map<string, number>();

  function numberOf(term: string): number {
    const found = numbers.get(term);
    if (found !== undefined) return found;
    numbers.set(term, terms.length);
    terms.push(term);
    return terms.length - 1;
  }

  return {
    terms,
    note(found: TokenTerms): void {
      if (found.owner === owner) return;
      found.owner = owner;
      found.numbers = found.terms.map(numberOf);
      found.number = found.numbers[0] ?? 0;
    },
  };
}

function grown<T extends Uint32Array | Int32Array | Uint16Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

type Term = { readonly bytes: Uint8Array; readonly number: number };

/** By their bytes, so that the terms of a prefix stand together. */
function sortTerms(terms: readonly string[]): Term[] {
  const numbered = new Map(terms.map((term, number) => [term, number]));
  // The engine's own order is that of UTF-16 units, and much faster than one that is written out.
  const sorted = terms.some((term) => SURROGATE.test(term)) ? terms.toSorted(compareByCodePoint) : terms.toSorted();
  return sorted.map((term) => ({ bytes: encoder.encode(term), number: numbered.get(term) ?? 0 }));
}

/** The order of UTF-8 bytes. That of UTF-16 units differs from it only where surrogates are. */
function compareByCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === shorter) return a.length - b.length;
  return lift(a.charCodeAt(at)) - lift(b.charCodeAt(at));
}

/** Puts surrogates behind the rest of the first plane. */
function lift(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

function writeTerms(views: SegmentViews, terms: readonly Term[], postings: Postings): void {
  const nextPosting = new Uint32Array(terms.length);
  let byteAt = 0;
  let postingAt = 0;
  for (const [rank, { bytes, number }] of terms.entries()) {
    views.termBytes.set(bytes, byteAt);
    byteAt += bytes.length;
    views.termStarts[rank + 1] = byteAt;
    nextPosting[number] = postingAt;
    postingAt += postings.termDocuments[number] ?? 0;
    views.postingStarts[rank + 1] = postingAt;
  }
  const { termNumbers, documents, frequencies, total } = postings;
  for (let at = 0; at < total; at += 1) {
    const number = termNumbers[at] ?? 0;
    const to = nextPosting[number] ?? 0;
    views.postingDocuments[to] = documents[at] ?? 0;
    views.postingFrequencies[to] = frequencies[at] ?? 0;
    nextPosting[number] = to + 1;
  }
}
