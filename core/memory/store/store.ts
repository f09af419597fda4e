import type { Result } from "../../domain/failure.ts";
import type { MemoryAuthor, MemoryKind } from "../../domain/memory.ts";

/** A piece of a document as it is brought in. */
export type PieceToStage = {
  /** A safe integer that is the same in every rebuild. */
  readonly id: number;
  /** First line in its file, from 1; 0 where there are none. */
  readonly line: number;
  /** Page of a PDF, from 1; 0 elsewhere. */
  readonly page: number;
  readonly title: string;
  readonly text: string;
};

/** A file, a plugin's document, or a message of a conversation. */
export type DocumentToStage = {
  /** "folder:/abs", "plugin:NAME/ID", "conversations", … */
  readonly source: string;
  /** Absolute path of a file, "SOURCE/ID" of a plugin's document, "SESSION/SEQ" of a message. */
  readonly key: string;
  /** Another one means another version; hex. */
  readonly hash: string;
  readonly kind: MemoryKind;
  readonly author: MemoryAuthor;
  /** Empty outside a conversation. */
  readonly sessionId: string;
  readonly labels: readonly string[];
  /** When it was said, or the file last changed; milliseconds since 1970. */
  readonly atMs: number;
  readonly pieces: readonly PieceToStage[];
};

/** A version of a document. A staged one is complete but not searched yet. */
export type StoredDocument = {
  readonly documentId: number;
  readonly source: string;
  readonly key: string;
  readonly hash: string;
  readonly staged: boolean;
  readonly pieces: number;
};

/** Which documents. */
export type DocumentScope =
  | { readonly kind: "source"; readonly source: string }
  /** Files below a folder, whatever folder was indexed. */
  | { readonly kind: "folder"; readonly folder: string }
  /** Files with these paths, and all below them. */
  | { readonly kind: "paths"; readonly paths: readonly string[] }
  | { readonly kind: "keys"; readonly source: string; readonly keys: readonly string[] }
  | { readonly kind: "sessions"; readonly source: string; readonly sessionIds: readonly string[] };

/** What is known of a piece when it was found. */
export type StoredText = {
  readonly key: string;
  readonly kind: MemoryKind;
  readonly author: MemoryAuthor;
  readonly sessionId: string;
  readonly labels: readonly string[];
  readonly line: number;
  readonly page: number;
  readonly title: string;
  readonly text: string;
  readonly textHash: string;
  readonly atMs: number;
  readonly ordinal: number;
};

/** A segment as it is searched. Neither the bytes nor the marks ever change: another state is another object. */
export type StoredSegment = {
  readonly segmentId: number;
  readonly buffer: SharedArrayBuffer;
  /** Of its bytes; another segment that got the same number has another one. */
  readonly crc32: number;
  /** Pieces in it, dead ones too. */
  readonly documents: number;
  /** A byte a row, 1 for a piece that is gone; undefined when all are there. Shared memory. */
  readonly dead: Uint8Array | undefined;
};

/** A row of a segment that is not dead, for its vector. */
export type SegmentText = {
  readonly row: number;
  readonly id: number;
  readonly textHash: string;
  readonly title: string;
  readonly text: string;
};

/** What a worker made of an input file; the file is durable on disk. */
export type BuiltSegment = {
  readonly buffer: SharedArrayBuffer;
  /** Checksum of the file's bytes. */
  readonly crc32: number;
};

/** Builds a segment from a file of JSON lines (task "buildFile" of the workers) and writes it durably. */
export type BuildSegmentFile = (
  request: { readonly inputFile: string; readonly file: string },
  signal: AbortSignal,
) => Promise<Result<BuiltSegment>>;

/** Reads files of vectors in a worker; an answer for each, in their order. */
export type CheckVectorFiles = (files: readonly string[], signal: AbortSignal) => Promise<Result<readonly boolean[]>>;

/** What becomes true at once: staged documents are searched, others are gone, and how far conversations were read. */
export type Publication = {
  readonly freshIds: readonly number[];
  readonly goneIds: readonly number[];
  readonly watermarks: ReadonlyMap<string, number>;
  /** Gives every file below this folder to this source. */
  readonly adopted?: { readonly folder: string; readonly source: string };
  /** What a run over a whole source counted; kept until the next one. */
  readonly figures?: RunFigures;
  /** A source whose last figures count no more. */
  readonly forgotten?: string;
  readonly build: BuildSegmentFile;
  readonly signal: AbortSignal;
};

export type RunFigures = {
  readonly source: string;
  readonly skipped: number;
  readonly removed: number;
  readonly errors: number;
};

export type StoreCounts = {
  readonly files: number;
  /** Documents of plugins. */
  readonly documents: number;
  readonly messages: number;
  readonly pieces: number;
  /** Those of messages. */
  readonly messagePieces: number;
  /** Of the last runs over whole sources. */
  readonly skipped: number;
  readonly removed: number;
  readonly errors: number;
};

export type VectorRow = { readonly textHash: string; readonly vector: Float32Array };

/** A row of notes.parquet, column by column. */
export type ExportColumn = {
  readonly name: string;
  readonly type: "text" | "number";
  readonly values: readonly (string | number)[];
};

/**
 * The DuckDB file and the segment files beside it. Holds nothing that cannot be built again from folders, sources and
 * journals. Calls may overlap; publications come one after another.
 */
export type Store = {
  /** True until `markFilled`: somebody has to bring in what an earlier file held. */
  readonly fresh: boolean;
  markFilled(): Promise<Result<void>>;
  /** Goes up with every change that can be seen from outside. */
  revision(): number;
  /** Every version of every document there. */
  documentsOf(scope: DocumentScope): Promise<Result<StoredDocument[]>>;
  /** Keeps whole documents for a later publication, durable on return; gives their ids in order. */
  stage(documents: readonly DocumentToStage[]): Promise<Result<number[]>>;
  /** False when its file or its folder of segments was taken away under it: what it writes from then on would be lost. */
  isInPlace(): boolean;
  /** Room that is left on its disk. */
  freeBytes(): Promise<Result<number>>;
  /** What it takes of the disk, with all that can be rebuilt. */
  usedBytes(): Promise<number>;
  /** Gives up everything that is staged, and the space that it takes on disk. */
  dropStaged(): Promise<Result<void>>;
  /** Gives the segments to search from now on; damaged ones are built anew on the way. Atomic: a crash leaves the old or the new state. */
  publish(publication: Publication): Promise<Result<readonly StoredSegment[]>>;
  /** Reads the segments that are searched. A damaged file is left out (`anyLost`) and built anew by the next publication. */
  segments(): Promise<Result<{ readonly segments: readonly StoredSegment[]; readonly anyLost: boolean }>>;
  /** Texts of searchable pieces by id; those that are gone are missing in the answer. */
  texts(ids: readonly number[]): Promise<Result<Map<number, StoredText>>>;
  /** In batches, in the order of the rows; dead ones are missing. */
  segmentTexts(segmentId: number): AsyncIterable<Result<readonly SegmentText[]>>;
  /** The same as JSON lines of row, title and text in a file that is there while the work runs: for a thread to read. */
  withSegmentTexts<T>(segmentId: number, work: (file: string) => Promise<Result<T>>): Promise<Result<T>>;
  /** How far each conversation was read: session id to number of the last event. */
  watermarks(): Promise<Result<Map<string, number>>>;
  counts(): Promise<Result<StoreCounts>>;
  /** Cached vectors of these texts. */
  vectorsOf(embedderId: string, textHashes: readonly string[]): Promise<Result<Map<string, Float32Array>>>;
  /** Durable on return. Those that are there already stay as they are. */
  putVectors(embedderId: string, rows: readonly VectorRow[]): Promise<Result<void>>;
  /** Names of the sources that documents which are searched came from. */
  sources(): Promise<Result<readonly string[]>>;
  /** Where the vector block of a segment lies; the store removes it with the segment. */
  vectorFile(segment: Pick<StoredSegment, "segmentId" | "crc32">, embedderId: string): string;
  /** What does not fit together, in words; nothing when all is well. `areWhole` says of each file of vectors whether it is. */
  problems(areWhole: CheckVectorFiles, signal: AbortSignal): Promise<Result<readonly string[]>>;
  /** Writes documents.parquet, chunks.parquet and notes.parquet; gives their paths. */
  exportTo(folder: string, notes: readonly ExportColumn[]): Promise<Result<readonly string[]>>;
  /** Writes memory_documents.parquet, memory_chunks.parquet and memory_vectors.parquet for `claw sql`; gives their paths. */
  exportViews(folder: string): Promise<Result<readonly string[]>>;
  close(): Promise<void>;
};
