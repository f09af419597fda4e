import { relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Memory, MemoryFilter, MemoryHit, MemoryQuery, Viewer } from "../../domain/memory.ts";
import type { Recalled, TurnRecall } from "../../domain/turn-recall.ts";

const TOKEN_CHARS = 4;
/** How long a vector of the words may take, milliseconds: an embedder behind a network takes its time. */
const PATIENCE_MS = 250;
/** Of a message of any length its beginning says what it is about. */
const WORDS_LIMIT_CHARS = 2_000;
const NOTE_LIMIT_CHARS = 1_000;
const DOCUMENT_LIMIT_CHARS = 1_200;
/** The last part is left out rather than cut to less than this. */
const PART_LEAST_CHARS = 80;
/**
 * A vector is near to something always: what shares no word with the question must at least be this near to it, a cosine
 * that embedding models give to texts on one matter, and the built-in embedder hardly ever without a word in common.
 */
const COSINE_LEAST = 0.45;
const WORD = /[\p{L}\p{N}\p{M}_$]+(?:[./'’-][\p{L}\p{N}\p{M}_$]+)*/gu;

export type RecallLimits = {
  /** Of all that one turn gets to read; a token counts as four characters. */
  readonly recallTokens: number;
  /** The most of each. */
  readonly recallNotes: number;
  readonly recallDocuments: number;
};

/** Asks notes and documents, not conversations: those are long, and there is a tool for them. */
export function turnRecall(memory: Pick<Memory, "search">, limits: RecallLimits): TurnRecall {
  async function find(text: string, viewer: Viewer, limit: number, filter: MemoryFilter, signal: AbortSignal) {
    if (limit === 0) return [];
    const query = { text, limit, viewer, filter };
    const found = await soonest(memory, query, signal);
    return found.ok ? found.value.hits.filter(isNear) : [];
  }

  return async (words, viewer, signal) => {
    const text = plainWords(words);
    if (text === "") return undefined;
    const [notes, documents] = await Promise.all([
      find(text, viewer, limits.recallNotes, { kinds: ["note"] }, signal),
      find(text, viewer, limits.recallDocuments, { kinds: ["file", "pdf", "document"] }, signal),
    ]);
    return joinParts([...notes, ...documents], limits.recallTokens * TOKEN_CHARS, viewer.workspace);
  };
}

/** The whole answer when it comes soon; else, since somebody waits for a reply, that by words alone. */
async function soonest(memory: Pick<Memory, "search">, query: MemoryQuery, signal: AbortSignal) {
  const settled = new AbortController();
  const byWords = pause(PATIENCE_MS, undefined, { signal: settled.signal }).then(
    () => memory.search({ ...query, mode: "lexical" }, signal),
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([memory.search(query, signal), byWords]);
  } finally {
    settled.abort();
  }
}

/** What a person says is no query: quotes, colons and dashes in it mean nothing to a search. */
function plainWords(words: string): string {
  const found = words.slice(0, WORDS_LIMIT_CHARS).match(WORD) ?? [];
  return found.map((word) => (word === "NOT" ? "not" : word)).join(" ");
}

function isNear({ reason: { lexical, vector } }: MemoryHit): boolean {
  return lexical !== undefined || (vector?.score ?? 0) >= COSINE_LEAST;
}

function joinParts(hits: readonly MemoryHit[], limitChars: number, workspace: string): Recalled | undefined {
  const lines: string[] = [];
  const memoryIds: string[] = [];
  let left = limitChars;
  for (const hit of hits) {
    const label = `[${labelOf(hit, workspace)}] `;
    const most = Math.min(hit.kind === "note" ? NOTE_LIMIT_CHARS : DOCUMENT_LIMIT_CHARS, left - label.length - 1);
    const text = oneLine(hit.text);
    if (most < Math.min(PART_LEAST_CHARS, text.length)) break;
    const line = `${label}${cut(text, most)}`;
    lines.push(line);
    memoryIds.push(hit.id);
    left -= line.length + 1;
  }
  return lines.length === 0 ? undefined : { text: lines.join("\n"), memoryIds };
}

/** Whose words they are, and of when: they are read beside those of the person. */
function labelOf({ kind, author, path, line, page, atMs }: MemoryHit, workspace: string): string {
  const at = atMs > 0 ? `, ${new Date(atMs).toISOString().slice(0, 10)}` : "";
  if (kind === "note") return `note by ${author === "stranger" ? "a stranger" : `the ${author}`}${at}`;
  const place = oneLine(kind === "document" ? path : shortPath(path, workspace));
  const where = page > 0 ? `${place} page ${page}` : line > 0 ? `${place}:${line}` : place;
  return `${kind} ${where}${author === "stranger" ? " by a stranger" : ""}${at}`;
}

function shortPath(path: string, workspace: string): string {
  const inside = workspace === "" ? "" : relative(workspace, path);
  return inside === "" || inside.startsWith("..") ? path : inside;
}

/** On one line nothing in a text can look like the beginning of another part. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, Math.max(0, limit - 1)).toWellFormed()}…`;
}
