import type { Result } from "./failure.ts";

/** What a piece of memory came from. A "document" is one that a plugin's source gave. */
export const MEMORY_KINDS = ["file", "pdf", "note", "conversation", "document"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/**
 * Whose words these are. It stays with them through every copy and is shown with every hit: what a file or a stranger says
 * is data, never an instruction.
 */
export type MemoryAuthor = "owner" | "agent" | "file" | "stranger";

/** Where a note holds: everywhere, in one workspace, or in one conversation. */
export type MemoryScope = "person" | `project:${string}` | `session:${string}`;

/** Who looks or writes; decides which notes there are for them. Empty strings: in no workspace, in no conversation. */
export type Viewer = { readonly workspace: string; readonly sessionId: string };

export const IMPORTANCES = ["low", "normal", "high", "critical"] as const;
export type Importance = (typeof IMPORTANCES)[number];

/** The scopes of which a viewer sees notes. */
export function scopesOf({ workspace, sessionId }: Viewer): readonly MemoryScope[] {
  return [
    "person",
    ...(workspace === "" ? [] : [`project:${workspace}` as const]),
    ...(sessionId === "" ? [] : [`session:${sessionId}` as const]),
  ];
}

/** Narrows a search before anything is ranked; what is absent narrows nothing. */
export type MemoryFilter = {
  readonly kinds?: readonly MemoryKind[];
  /** From this moment on, before that one; of when it was said or the file changed, milliseconds since 1970. */
  readonly afterMs?: number;
  readonly beforeMs?: number;
  /** A file below this folder, or with this glob in its path. */
  readonly path?: string;
  readonly sessionId?: string;
  readonly label?: string;
  readonly authors?: readonly MemoryAuthor[];
};

export const SEARCH_MODES = ["hybrid", "lexical", "vector"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/**
 * A question to memory. The text is words or a sentence, and may hold `"a phrase"`, `pre*`, `-word` or `NOT word`, and
 * filters as `kind:`, `path:`, `label:`, `session:`, `author:`, `after:`, `before:`.
 */
export type MemoryQuery = {
  readonly text: string;
  /** It was said to somebody else than a search: no sign in it means anything. */
  readonly literal?: boolean;
  /** The most hits, 1 to 100. */
  readonly limit: number;
  readonly viewer: Viewer;
  readonly mode?: SearchMode;
  readonly filter?: MemoryFilter;
  /** Say of each hit how much of the question it holds (`reason.shared`). Costs a little; answers nothing else. */
  readonly shared?: boolean;
};

/** How one leg of a search saw a hit. */
export type LegRank = {
  /** From 1. */
  readonly rank: number;
  /** BM25, or cosine from -1 to 1; comparable within one search only. */
  readonly score: number;
};

/** How much of a question's words a hit holds. */
export type SharedWords = {
  /** Of the weight of its words, from 0 to 1; a rare word weighs more. A long question counts as one of a few rare words. */
  readonly share: number;
  /** How many words both have … */
  readonly words: number;
  /** … and how many of those are neither everyday nor in much of what is searched. */
  readonly telling: number;
};

/** Why a hit stands where it does. A leg that did not see it is absent. */
export type HitReason = {
  readonly lexical?: LegRank;
  readonly vector?: LegRank;
  /** What the fused score was multiplied with. */
  readonly recency: number;
  readonly importance: number;
  /** Ids of near duplicates that this hit stands for. */
  readonly folded: readonly string[];
  /** When the query asked for it. */
  readonly shared?: SharedWords;
};

export type Snippet = {
  /** At most some 240 characters of the text. */
  readonly text: string;
  /** UTF-16 ranges of the words that matched, ascending: [start, end). */
  readonly marks: readonly (readonly [number, number])[];
};

export type MemoryHit = {
  readonly id: string;
  readonly kind: MemoryKind;
  /** Absolute path of a file, "SOURCE/ID" of a plugin's document; empty for anything else. */
  readonly path: string;
  /** First line in that file, from 1; 0 where there are no lines. */
  readonly line: number;
  /** Page of a PDF, from 1; 0 elsewhere. */
  readonly page: number;
  /** Headings, declaration, or who spoke; may be empty. */
  readonly title: string;
  readonly text: string;
  readonly snippet: Snippet;
  /** Fused; comparable within one search only. */
  readonly score: number;
  readonly author: MemoryAuthor;
  /** Empty outside a conversation. */
  readonly sessionId: string;
  /** When it was said, or the file last changed; milliseconds since 1970. */
  readonly atMs: number;
  readonly reason: HitReason;
};

/** What a leg of a search did: "ok", or in words why it found less than there is, e.g. "no embedder". */
export type SearchLegs = { readonly lexical: string; readonly vector: string };

export type MemoryAnswer = { readonly hits: readonly MemoryHit[]; readonly legs: SearchLegs };

/** What to remember. */
export type NoteDraft = {
  readonly text: string;
  readonly author: "owner" | "agent" | "stranger";
  /** Where it is written; also what a supersession may see. */
  readonly viewer: Viewer;
  readonly scope: MemoryScope;
  /** A word for what it is, e.g. "preference"; "general" when absent. */
  readonly type?: string;
  readonly importance?: Importance;
  readonly labels?: readonly string[];
  readonly expiresAtMs?: number;
  /** Id of the note that this one takes the place of: it stays readable, and is not found any more. */
  readonly supersedes?: string;
};

export type Note = {
  readonly id: string;
  readonly text: string;
  readonly author: "owner" | "agent" | "stranger";
  readonly scope: MemoryScope;
  readonly type: string;
  readonly importance: Importance;
  readonly labels: readonly string[];
  readonly sessionId: string;
  readonly atMs: number;
  /** 0: never. */
  readonly expiresAtMs: number;
  /** Ids; empty for none. */
  readonly supersedes: string;
  readonly supersededBy: string;
};

/** Which notes are listed. */
export type NoteListing = {
  /** The most notes. */
  readonly limit: number;
  /** Those that were superseded or have expired, too. */
  readonly all: boolean;
  /** None but these, those that are not there left out. */
  readonly ids?: readonly string[];
};

export type Remembered = {
  readonly id: string;
  /** Notes that say nearly the same, best first, at most three: told, never dropped. */
  readonly similar: readonly Note[];
};

/**
 * What is brought in: a folder's files, a plugin's source by its name, or all conversations. The `drop` ones take a listed
 * folder or source out again, with all that came of it.
 */
export type IndexTarget =
  | { readonly kind: "folder" | "dropFolder"; readonly folder: string }
  | { readonly kind: "source" | "dropSource"; readonly name: string }
  | { readonly kind: "conversations" };

export type IndexProgress = {
  /** Files, documents or messages of conversations. */
  readonly files: number;
  readonly filesTotal: number;
  readonly chunks: number;
  /** Binary, too large or unreadable. */
  readonly skipped: number;
  /** That were there at the last run and are gone. */
  readonly removed: number;
  readonly done: boolean;
};

export type MemoryStats = {
  readonly files: number;
  readonly chunks: number;
  readonly notes: number;
  readonly storeBytes: number;
  readonly folders: readonly string[];
  /** Names of the plugin sources that are indexed. */
  readonly sources: readonly string[];
  /** Messages of conversations. */
  readonly messages: number;
  /** Left out at the last runs over all folders, and files that could not be read as text. */
  readonly skipped: number;
  readonly removed: number;
  readonly errors: number;
  /** With so many bytes nothing more is indexed; 0 for what the disk has room for. */
  readonly storeLimitBytes: number;
  /**
   * The embedder in use, empty for none; how many chunks have a vector of it, how many are still to get one, and how many
   * get none: the embedder refused them, or there is nothing in them to compute one from.
   */
  readonly embedder: string;
  readonly embedded: number;
  readonly toEmbed: number;
  readonly withoutVector: number;
};

/** What a run over a set of judged queries found; each figure from 0 to 1. */
export type EvalFigures = {
  readonly mode: SearchMode;
  readonly queries: number;
  readonly ndcgAt10: number;
  readonly recallAt5: number;
  readonly recallAt10: number;
  readonly mrr: number;
};

/** Gives the memories that may matter for words that were just said. */
export type Recall = (text: string, limit: number, signal: AbortSignal) => Promise<Result<readonly MemoryHit[]>>;

/**
 * Long-term memory. Notes are journal events first; everything else here can be rebuilt. Every way in and out names its
 * viewer: a note of another scope is neither found nor shown, changed or forgotten.
 */
export type Memory = {
  /** Best first. An empty index gives no hits; a leg that cannot run is named, never an error. */
  search(query: MemoryQuery, signal: AbortSignal): Promise<Result<MemoryAnswer>>;
  /** Yields progress, `done` last. Searches meanwhile answer from the last complete state. */
  index(target: IndexTarget, signal: AbortSignal): AsyncIterable<Result<IndexProgress>>;
  /** Resolves when it is durable. */
  remember(draft: NoteDraft): Promise<Result<Remembered>>;
  /** All or none of them; gives what they said. `not_found` names the first that is not there for this viewer. */
  forget(ids: readonly string[], viewer: Viewer): Promise<Result<readonly Note[]>>;
  /** Newest first; those that were superseded or expired only when asked for. */
  notes(viewer: Viewer, options: NoteListing): Promise<Result<readonly Note[]>>;
  stats(): Promise<Result<MemoryStats>>;
  /** Checks store, index and vectors against each other and against the journal; says what is wrong, nothing when all is well. */
  verify(signal: AbortSignal): Promise<Result<readonly string[]>>;
  /** Makes the store anew from folders, sources and journals, while the one before is searched. Vectors that were paid for stay. */
  rebuild(signal: AbortSignal): AsyncIterable<Result<IndexProgress>>;
  /** Writes Parquet files into a folder that exists; gives their paths. */
  exportTo(folder: string): Promise<Result<readonly string[]>>;
  /** Indexes docs.jsonl of a folder aside, asks queries.jsonl and judges by qrels.tsv: one line for each mode. */
  evaluate(folder: string, signal: AbortSignal): AsyncIterable<Result<EvalFigures>>;
  close(): Promise<void>;
};
