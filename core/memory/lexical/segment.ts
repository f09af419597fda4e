import type { IndexGroup } from "./index-document.ts";
import { sortTermEnds } from "./term-ends.ts";

// A segment is an inverted index over a few thousand pieces in one shared buffer: every worker thread reads the same
// bytes, and the store keeps them as they are. It never changes; an edit makes a new one. segment-build.ts writes it.

/** "cls" and the number of this form; other bytes are no segment, and the store builds anew. */
const SEGMENT_MAGIC = 0x636c_7303;
const HEADER_BYTES = 64;
/** Behind the sum of lengths, which comes first. */
const HEADER_WORDS = 8;
/** Documents, and so groups too, are numbered in 16 bits inside a segment. */
export const SEGMENT_LIMIT_DOCUMENTS = 65_536;
export const FREQUENCY_LIMIT = 255;
/** Shorter texts count as this long: without a floor BM25 overrates one-line texts. */
export const LENGTH_FLOOR_TERMS = 20;

/** What a search can skip when no group of the segment wants it. */
export type SegmentTraits = {
  readonly scoped: boolean;
  readonly expiring: boolean;
  /** Some group is a conversation, whose pieces speak for their neighbours. */
  readonly conversing: boolean;
};

/** Typed views into one shared buffer. Terms are sorted by their UTF-8 bytes; row r of every array is document r. */
export type Segment = {
  readonly documents: number;
  /** Sum of `lengths`. */
  readonly lengthTotal: number;
  readonly traits: SegmentTraits;
  readonly ids: Float64Array;
  readonly atMs: Float64Array;
  /** Where each document stands in its conversation; empty for a segment in which nobody talks. */
  readonly places: Float64Array;
  /** Terms in each document, at least LENGTH_FLOOR_TERMS. */
  readonly lengths: Uint32Array;
  readonly rowGroups: Uint16Array;
  readonly termStarts: Uint32Array;
  readonly postingStarts: Uint32Array;
  readonly postingDocuments: Uint16Array;
  /** At most FREQUENCY_LIMIT. */
  readonly postingFrequencies: Uint8Array;
  readonly termBytes: Uint8Array;
  /** What filters judge; read from the bytes at the first call and kept with this object, so keep the object. */
  groups(): readonly IndexGroup[];
  /** Numbers of terms in the order of their ends, see term-ends.ts; sorted at the first call and kept in the same way. */
  termsByEnd(): Uint32Array;
};

export type SegmentCounts = {
  readonly documents: number;
  /** As many as documents, or none. */
  readonly places: number;
  readonly terms: number;
  readonly postings: number;
  readonly termBytes: number;
  readonly groupBytes: number;
};

const TRAIT_BITS = { scoped: 1, expiring: 2, conversing: 4 } as const;

export function traitsOf(groups: readonly IndexGroup[]): SegmentTraits {
  return {
    scoped: groups.some(({ scope }) => scope !== ""),
    expiring: groups.some(({ expiresAtMs }) => expiresAtMs !== 0),
    conversing: groups.some(({ kind }) => kind === "conversation"),
  };
}

export function writeHeader(
  buffer: SharedArrayBuffer,
  counts: SegmentCounts,
  lengthTotal: number,
  traits: SegmentTraits,
): void {
  const bits =
    (traits.scoped ? TRAIT_BITS.scoped : 0) |
    (traits.expiring ? TRAIT_BITS.expiring : 0) |
    (traits.conversing ? TRAIT_BITS.conversing : 0);
  const { documents, places, terms, postings, termBytes, groupBytes } = counts;
  const words = [SEGMENT_MAGIC, documents, places, terms, postings, termBytes, groupBytes, bits];
  new Float64Array(buffer, 0, 1).set([lengthTotal]);
  new Uint32Array(buffer, 8, HEADER_WORDS).set(words);
}

/** The views of a buffer; undefined when the bytes are no whole segment of this build's form. */
export function openSegment(buffer: SharedArrayBuffer): Segment | undefined {
  if (buffer.byteLength < HEADER_BYTES) return undefined;
  const words = new Uint32Array(buffer, 8, HEADER_WORDS);
  const [magic, documents = 0, places = 0, terms = 0, postings = 0, termBytes = 0, groupBytes = 0, bits = 0] = words;
  const counts = { documents, places, terms, postings, termBytes, groupBytes };
  if (magic !== SEGMENT_MAGIC || documents > SEGMENT_LIMIT_DOCUMENTS) return undefined;
  if (layOut(counts).totalBytes !== buffer.byteLength) return undefined;
  const views = viewSegment(buffer, counts);
  if (views.termStarts[terms] !== termBytes || views.postingStarts[terms] !== postings) return undefined;
  let groups: readonly IndexGroup[] | undefined;
  let termsByEnd: Uint32Array | undefined;
  return {
    ...views,
    documents,
    lengthTotal: new Float64Array(buffer, 0, 1)[0] ?? 0,
    traits: {
      scoped: (bits & TRAIT_BITS.scoped) !== 0,
      expiring: (bits & TRAIT_BITS.expiring) !== 0,
      conversing: (bits & TRAIT_BITS.conversing) !== 0,
    },
    groups: () => {
      groups ??= readGroups(views.groupBytes);
      return groups;
    },
    termsByEnd: () => {
      termsByEnd ??= sortTermEnds(views);
      return termsByEnd;
    },
  };
}

export function encodeGroups(groups: readonly IndexGroup[]): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify(
      groups.map(({ key, kind, author, scope, sessionId, labels, weight, expiresAtMs }) => [
        key,
        kind,
        author,
        scope,
        sessionId,
        labels,
        weight,
        expiresAtMs,
      ]),
    ),
  );
}

type GroupRow = [
  IndexGroup["key"],
  IndexGroup["kind"],
  IndexGroup["author"],
  IndexGroup["scope"],
  IndexGroup["sessionId"],
  IndexGroup["labels"],
  IndexGroup["weight"],
  IndexGroup["expiresAtMs"],
];

function readGroups(bytes: Uint8Array): readonly IndexGroup[] {
  // A decoder takes no shared bytes, so they are copied.
  const rows = JSON.parse(new TextDecoder().decode(bytes.slice())) as GroupRow[];
  return rows.map(([key, kind, author, scope, sessionId, labels, weight, expiresAtMs]) => ({
    key,
    kind,
    author,
    scope,
    sessionId,
    labels,
    weight,
    expiresAtMs,
  }));
}

type Layout = { readonly starts: readonly number[]; readonly totalBytes: number };

/** Widest elements first, so that every view is aligned without padding. */
function layOut(counts: SegmentCounts): Layout {
  const sizes = [
    HEADER_BYTES,
    counts.documents * 8,
    counts.documents * 8,
    counts.places * 8,
    counts.documents * 4,
    (counts.terms + 1) * 4,
    (counts.terms + 1) * 4,
    counts.documents * 2,
    counts.postings * 2,
    counts.postings,
    counts.termBytes,
    counts.groupBytes,
  ];
  const starts: number[] = [];
  let totalBytes = 0;
  for (const size of sizes) {
    starts.push(totalBytes);
    totalBytes += size;
  }
  return { starts, totalBytes };
}

export function segmentBytes(counts: SegmentCounts): number {
  return layOut(counts).totalBytes;
}

/** The arrays of a segment, for reading and, while it is made, for writing. */
export type SegmentViews = Omit<Segment, "documents" | "lengthTotal" | "traits" | "groups" | "termsByEnd"> & {
  readonly groupBytes: Uint8Array;
};

export function viewSegment(buffer: SharedArrayBuffer, counts: SegmentCounts): SegmentViews {
  const { starts } = layOut(counts);
  const start = (part: number) => starts[part] ?? 0;
  return {
    ids: new Float64Array(buffer, start(1), counts.documents),
    atMs: new Float64Array(buffer, start(2), counts.documents),
    places: new Float64Array(buffer, start(3), counts.places),
    lengths: new Uint32Array(buffer, start(4), counts.documents),
    termStarts: new Uint32Array(buffer, start(5), counts.terms + 1),
    postingStarts: new Uint32Array(buffer, start(6), counts.terms + 1),
    rowGroups: new Uint16Array(buffer, start(7), counts.documents),
    postingDocuments: new Uint16Array(buffer, start(8), counts.postings),
    postingFrequencies: new Uint8Array(buffer, start(9), counts.postings),
    termBytes: new Uint8Array(buffer, start(10), counts.termBytes),
    groupBytes: new Uint8Array(buffer, start(11), counts.groupBytes),
  };
}
