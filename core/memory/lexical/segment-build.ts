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
import { createTermTable, type TermTable } from "./term-table.ts";

const FIRST_POSTINGS = 65_536;

/** Indexes documents, at most SEGMENT_LIMIT_DOCUMENTS. CPU-bound: about 0.05 ms a document, so call it in a worker. */
export function buildSegment(input: SegmentInput, analyze: Analyzer): SharedArrayBuffer {
  const { groups, documents } = input;
  if (documents.length > SEGMENT_LIMIT_DOCUMENTS)
    throw new RangeError(`a segment holds at most ${SEGMENT_LIMIT_DOCUMENTS} documents`);
  if (documents.some(({ group }) => groups[group] === undefined)) throw new RangeError("a document names no group");
  const postings = collectPostings(documents, analyze);
  const { terms } = postings;
  const groupBytes = encodeGroups(groups);
  const traits = traitsOf(groups);
  const counts: SegmentCounts = {
    documents: documents.length,
    places: traits.conversing ? documents.length : 0,
    terms: terms.size(),
    postings: postings.total,
    termBytes: terms.byteCount(),
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
  writeTerms(views, postings);
  return buffer;
}

/** All pairs of term and document in the order in which they were met: documents ascending. */
type Postings = {
  readonly terms: TermTable;
  readonly termNumbers: Uint32Array;
  readonly documents: Uint16Array;
  readonly frequencies: Uint8Array;
  readonly total: number;
  /** How many documents hold each term. */
  readonly termDocuments: Uint32Array;
  readonly lengths: Uint32Array;
};

function collectPostings(documents: readonly IndexDocument[], analyze: Analyzer): Postings {
  const terms = createTermTable();
  const note = noteNumbers(terms);
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
  const termDocuments = new Uint32Array(terms.size());
  for (let at = 0; at < total; at += 1) {
    const number = termNumbers[at] ?? 0;
    termDocuments[number] = (termDocuments[number] ?? 0) + 1;
  }
  return { terms, termNumbers, documents: rows, frequencies, total, termDocuments, lengths };
}

/** Notes a token's numbers at the token, which saves looking them up again. */
function noteNumbers({ numberOf }: TermTable): (found: TokenTerms) => void {
  const owner = {};
  return (found) => {
    if (found.owner === owner) return;
    found.owner = owner;
    found.numbers = found.terms.map(numberOf);
    found.number = found.numbers[0] ?? 0;
  };
}

function grown<T extends Uint32Array | Int32Array | Uint16Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function writeTerms(views: SegmentViews, postings: Postings): void {
  const { terms, termDocuments } = postings;
  const nextPosting = new Uint32Array(terms.size());
  let byteAt = 0;
  let postingAt = 0;
  for (const [rank, number] of terms.sorted().entries()) {
    const bytes = terms.bytesOf(number);
    views.termBytes.set(bytes, byteAt);
    byteAt += bytes.length;
    views.termStarts[rank + 1] = byteAt;
    nextPosting[number] = postingAt;
    postingAt += termDocuments[number] ?? 0;
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
