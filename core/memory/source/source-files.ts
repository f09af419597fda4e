import { join } from "node:path";
import { chunkText, formOf } from "./file-form.ts";
import { readInside } from "./inside-file.ts";
import { chunkPages } from "./page-chunker.ts";
import { chunksOf, hashOf, type SourceChunk } from "./source-chunk.ts";

// Runs in a worker thread: plain synchronous calls are the fastest and block nobody there.

export const FILE_LIMIT_BYTES = 10_485_760;
/** A NUL among these is what tells a binary file. */
const SNIFF_BYTES = 8_192;
/** A batch ends after this much text, so that no message to the main thread is large. */
const BATCH_LIMIT_CHARS = 1_048_576;

/**
 * `unchanged` names which of the hashes that were asked about it still has. `pdf` is one that has none of them: its text is another
 * process's work. `skipped` is no text, no regular file inside the folder, or too large; `failed` cannot be read or is not UTF-8.
 */
export type FileOutcome =
  | { readonly status: "unchanged"; readonly hash: string }
  | {
      readonly status: "changed";
      readonly hash: string;
      readonly atMs: number;
      readonly pieces: readonly SourceChunk[];
    }
  | { readonly status: "pdf"; readonly hash: string; readonly atMs: number }
  | { readonly status: "skipped" }
  | { readonly status: "failed"; readonly reason: string };

export type ReadRequest = {
  /** Real path of the folder. */
  readonly root: string;
  readonly files: readonly { readonly path: string; readonly hashes: readonly string[] }[];
};

export type PagesRequest = { readonly key: string; readonly pages: readonly string[] };

/** Reads files until about a mebibyte of text came together: may answer fewer than were asked, in their order. */
export function readSources(request: ReadRequest): FileOutcome[] {
  const outcomes: FileOutcome[] = [];
  let chars = 0;
  for (const file of request.files) {
    if (chars >= BATCH_LIMIT_CHARS) break;
    const outcome = readSource(request.root, file.path, file.hashes);
    if (outcome.status === "changed") for (const piece of outcome.pieces) chars += piece.text.length;
    outcomes.push(outcome);
  }
  return outcomes;
}

/** The pieces of a PDF whose text was read. */
export function cutPdf({ key, pages }: PagesRequest): readonly SourceChunk[] {
  return chunksOf(key, chunkPages(pages));
}

function readSource(root: string, path: string, hashes: readonly string[]): FileOutcome {
  const file = readInside(root, path, FILE_LIMIT_BYTES);
  if (file.status === "failed") return file;
  if (file.status !== "read") return { status: "skipped" };
  const form = formOf(path);
  if (form !== "pdf" && file.bytes.subarray(0, SNIFF_BYTES).includes(0)) return { status: "skipped" };
  const hash = hashOf(file.bytes);
  if (hashes.includes(hash)) return { status: "unchanged", hash };
  if (form === "pdf") return { status: "pdf", hash, atMs: file.changedAtMs };
  const text = decode(file.bytes);
  if (text === undefined) return { status: "failed", reason: "it is not UTF-8" };
  return {
    status: "changed",
    hash,
    atMs: file.changedAtMs,
    pieces: chunksOf(join(root, path), chunkText(text, form)),
  };
}

function decode(bytes: Buffer): string | undefined {
  try {
    // A NUL further in has no meaning in a text, and some stores end a text at it.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\0", " ");
  } catch {
    return undefined;
  }
}
