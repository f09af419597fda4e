import type { Result } from "./failure.ts";

/** A text from outside, for memory to keep. Whoever reads it again must take it as a stranger's word. */
export type SourceDocument = {
  /** Names it in its source for ever; at most 1024 characters. */
  readonly id: string;
  /** For people; may be empty. */
  readonly title: string;
  readonly text: string;
};

/** Gives documents that lie in no file. */
export type DocumentSource = {
  /** Unique over all sources, e.g. "plugin:notes/inbox". */
  readonly name: string;
  readonly description: string;
  /** All documents, each once. Never throws; a failure is the last item, and what came before it is not all there is. */
  documents(signal: AbortSignal): AsyncIterable<Result<SourceDocument>>;
};

/** The sources there are at this moment. */
export type DocumentSources = () => readonly DocumentSource[];
