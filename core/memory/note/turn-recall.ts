import { relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Memory, MemoryFilter, MemoryHit, MemoryQuery, SharedWords, Viewer } from "../../domain/memory.ts";
import type { Recalled, TurnRecall } from "../../domain/turn-recall.ts";

const TOKEN_CHARS = 4;
/** How long a vector of the words may take, milliseconds: an embedder behind a network takes its time. */
const PATIENCE_MS = 250;
/** Of a message of any length its beginning says what it is about. */
const WORDS_LIMIT_CHARS = 2_000;
const LOOKED_AT_LIMIT_CHARS = 65_536;
const NOTE_LIMIT_CHARS = 1_000;
const DOCUMENT_LIMIT_CHARS = 1_200;
/** The last part is left out rather than cut to less than this. */
const PART_LEAST_CHARS = 80;
/**
 * Something is always found, and most messages are about nothing that memory holds. What is recalled must share words with
 * the message that tell what it is about, and they must be a good part of it; or a trained model must find the two near.
 * A note was written to be remembered; pieces of files are long and many, and hold a word or two of everything.
 */
const NOTE_EVIDENCE: Evidence = { words: [{ words: 1, telling: 1, share: 0.3 }], cosine: 0.45 };
/** Who speaks of what is theirs means what they told before; others may ask what anybody asks. */
const OWN_NOTE_EVIDENCE: Evidence = { words: [{ words: 1, telling: 1, share: 0.18 }], cosine: 0.45 };
const OWN =
  /(?<![\p{L}\p{N}'’])(?:i|me|my|mine|we|us|our|ours|ich|mir|mich|mein\w*|wir|uns|unser\w*|je|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|nosotros|nuestr\w*|io|mio|mia|noi|nostr\w*)(?![\p{L}\p{N}])/iu;
const DOCUMENT_EVIDENCE: Evidence = {
  words: [
    { words: 2, telling: 2, share: 0.3 },
    { words: 3, telling: 1, share: 0.5 },
  ],
  cosine: 0.5,
};
/** So many are looked at for each one that is wanted: the best by rank may be near by common words alone. */
const CANDIDATES_A_HIT = 3;
/** What stands between fences is shown, not said; one that nothing closes goes on to the end. */
const FENCED = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))/gmu;
/** Words for a program; a path has another slash. */
const COMMAND = /^\s*\/[\p{L}_][\p{L}\p{N}_-]*(?=\s|$)/u;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;
/** Marks that reorder or hide text, and the invisible alphabet of tags. */
const UNSEEN = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
/** How a label of ours begins. */
const LABEL_START = /\[(?=\s*(?:note|file|pdf|document|conversation)\b)/giu;
const PLAIN_PLACE = /^[\p{L}\p{N}\p{M}…._/:@+~#=%$&-]+$/u;
const PLACE_LIMIT_CHARS = 200;

type Evidence = {
  /** At least all of what one of them says. */
  readonly words: readonly SharedWords[];
  /** Or a trained model's cosine. */
  readonly cosine: number;
};

export type RecallLimits = {
  /** Of all that one turn gets to read; a token counts as four characters. */
  readonly recallTokens: number;
  /** The most of each. */
  readonly recallNotes: number;
  readonly recallDocuments: number;
};

/**
 * Asks notes and documents, not conversations: those are long, and there is a tool for them.
 *
 * @param trained whether vectors come from a model that knows meaning at this moment; others say nothing beyond words.
 */
export function turnRecall(memory: Pick<Memory, "search">, limits: RecallLimits, trained: () => boolean): TurnRecall {
  async function find(text: string, viewer: Viewer, limit: number, filter: MemoryFilter, signal: AbortSignal) {
    if (limit === 0) return [];
    const query = { text, literal: true, limit: limit * CANDIDATES_A_HIT, viewer, filter, shared: true };
    const found = await soonest(memory, query, signal);
    const byMeaning = trained();
    const evidence =
      filter.kinds?.includes("note") !== true ? DOCUMENT_EVIDENCE : OWN.test(text) ? OWN_NOTE_EVIDENCE : NOTE_EVIDENCE;
    return found.ok ? found.value.hits.filter((hit) => isNear(hit, evidence, byMeaning)).slice(0, limit) : [];
  }

  return async (words, viewer, signal) => {
    const text = saidIn(words);
    if (!WORD_CHARACTER.test(text) || COMMAND.test(text)) return undefined;
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

/** What somebody says, without what they show. */
function saidIn(words: string): string {
  return words.slice(0, LOOKED_AT_LIMIT_CHARS).replace(FENCED, " ").slice(0, WORDS_LIMIT_CHARS).toWellFormed();
}

function isNear({ reason: { shared, vector } }: MemoryHit, evidence: Evidence, byMeaning: boolean): boolean {
  if (byMeaning && (vector?.score ?? 0) >= evidence.cosine) return true;
  return evidence.words.some(
    ({ words, telling, share }) =>
      shared !== undefined && shared.words >= words && shared.telling >= telling && shared.share >= share,
  );
}

function joinParts(hits: readonly MemoryHit[], limitChars: number, workspace: string): Recalled | undefined {
  const lines: string[] = [];
  const memoryIds: string[] = [];
  let left = limitChars;
  for (const hit of hits) {
    const label = `[${labelOf(hit, workspace)}] `;
    const most = Math.min(hit.kind === "note" ? NOTE_LIMIT_CHARS : DOCUMENT_LIMIT_CHARS, left - label.length - 1);
    const text = oneLine(hit.text).replace(LABEL_START, "(");
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
  const place = placeOf(kind === "document" ? path : shortPath(path, workspace));
  const where = page > 0 ? `${place} page ${page}` : line > 0 ? `${place}:${line}` : place;
  return `${kind} ${where}${author === "stranger" ? " by a stranger" : ""}${at}`;
}

/** A name is a stranger's choice: what could end the label or say something in it stands in quotes. */
function placeOf(path: string): string {
  const place = oneLine(path.length <= PLACE_LIMIT_CHARS ? path : `…${path.slice(-PLACE_LIMIT_CHARS).toWellFormed()}`);
  return PLAIN_PLACE.test(place) ? place : JSON.stringify(place);
}

function shortPath(path: string, workspace: string): string {
  const inside = workspace === "" ? "" : relative(workspace, path);
  return inside === "" || inside.startsWith("..") ? path : inside;
}

/** On one line nothing in a text can look like the beginning of another part, and nothing in it is unseen by a person. */
function oneLine(text: string): string {
  return text
    .replace(UNSEEN, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, Math.max(0, limit - 1)).toWellFormed()}…`;
}
