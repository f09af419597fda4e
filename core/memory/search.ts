import { fail, ok, type Result } from "../domain/failure.ts";
import {
  type HitReason,
  type MemoryAnswer,
  type MemoryHit,
  type MemoryQuery,
  type Note,
  type SearchLegs,
  scopesOf,
} from "../domain/memory.ts";
import { whyNoTerms } from "./lexical/query-terms.ts";
import { literalQuery, type ParsedQuery, parseQuery } from "./lexical/query-text.ts";
import { type NoteSegment, noteNumber } from "./note/note-segments.ts";
import type { Notes } from "./note/notes.ts";
import type { SearchVectors, VectorLeg } from "./search-vectors.ts";
import type { StoredText } from "./store/store.ts";
import type { OpenStore } from "./store/store-holder.ts";
import { within } from "./within.ts";
import type { FusedHit } from "./worker/fusion.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";
import type { Presented } from "./worker/present-task.ts";
import type { SearchedSegment } from "./worker/search-task.ts";

const HIT_LIMIT = 100;
const QUERY_LIMIT_CHARS = 8_192;
/** A publication between ranking and reading takes texts away; two in a row are already unlikely. */
const SEARCH_LIMIT_ATTEMPTS = 3;
/** So many more than are wanted are read, so that copies can be folded away. */
const SPARE_HITS = 10;
/** A phrase is known by its words alone until the text is read. */
const PHRASE_HITS = 200;
/** So long a search by vectors alone waits for those that are being loaded or made. */
const VECTORS_WAIT_MS = 1_500;
const DAY_MS = 86_400_000;

export type SearchRules = {
  /** "unweighted" is the plain sum over both legs. */
  readonly rrf: "weighted" | "unweighted";
  /** 0 turns it off. */
  readonly halfLifeDays: number;
};

export type SearchMeans = {
  readonly pool: MemoryPool;
  readonly notes: Notes;
  readonly vectors: SearchVectors;
  readonly rules: SearchRules;
  readonly now: () => number;
  /** Lends the store out; undefined when nothing was ever indexed. */
  lend<T>(work: (open: OpenStore | undefined) => Promise<Result<T>>): Promise<Result<T>>;
  /** The same for the same bytes, as long as the pool lives. */
  readonly numberOf: (buffer: SharedArrayBuffer) => number;
  /** Resolves when no publication is under way. */
  published(): Promise<void>;
};

export type Search = (query: MemoryQuery, signal: AbortSignal) => Promise<Result<MemoryAnswer>>;

/** The search over notes and store: one task ranks, the store gives the texts of the few at the top, another task shows them. */
export function openSearch(means: SearchMeans): Search {
  const keyOf = means.numberOf;

  return async (query, signal) => {
    const parsed = readQuery(query, means.now());
    if (!parsed.ok) return parsed;
    const vectorLeg =
      query.mode === "lexical" ? Promise.resolve(NOT_ASKED) : means.vectors.legFor(parsed.value.plainText, signal);
    // Beside the store, which takes as long to open after a start.
    means.pool.warm();
    // Before the store is lent out: a broken journal of notes is no damage of the store, which would be made anew.
    const noted = wantsNotes(query, parsed.value) ? await means.notes.segments() : ok([]);
    if (!noted.ok) return noted;
    const leg = await vectorLeg;
    const attempt = (open: OpenStore | undefined) =>
      answer(query, parsed.value, { leg, open, notes: noted.value, signal });
    return wantsStore(query, parsed.value) ? means.lend(attempt) : attempt(undefined);
  };

  type Scene = {
    readonly leg: VectorLeg;
    readonly open: OpenStore | undefined;
    readonly notes: readonly NoteSegment[];
    readonly signal: AbortSignal;
  };

  async function answer(query: MemoryQuery, parsed: ParsedQuery, scene: Scene): Promise<Result<MemoryAnswer>> {
    const { leg, open, signal } = scene;
    const look = () => [...scene.notes, ...(open?.segments ?? [])].map((each) => searched(each, keyOf, leg));
    const limit = Math.min(Math.max(Math.trunc(query.limit), 1), HIT_LIMIT);
    for (let attempt = 1; ; attempt += 1) {
      let segments = look();
      if (segments.length === 0) return ok({ hits: [], legs: legsOf(query, leg, segments) });
      if (leg.kind === "ready" && segments.some(({ vectors }) => vectors === undefined)) {
        means.vectors.wake();
        // Words can answer meanwhile; who asks for vectors alone would have nothing right after a start.
        if (query.mode === "vector" && attempt === 1) {
          await within(VECTORS_WAIT_MS, means.vectors.settled(), signal);
          segments = look();
        }
      }
      const ranked = await rank(query, parsed, segments, leg, limit);
      if (!ranked.ok) return ranked;
      const found = await readTexts(ranked.value, query, open);
      if (!found.ok) return found;
      if (found.value.lost > 0 && attempt < SEARCH_LIMIT_ATTEMPTS) {
        await means.published();
        continue;
      }
      const pieces = found.value.pieces;
      const shown = await means.pool.present({ query: parsed, pieces, limit });
      if (!shown.ok) return shown;
      const hits = hitsOf(shown.value, pieces);
      const legs = legsOf(query, leg, segments);
      const wordless = query.mode === "vector" || hits.length > 0 ? undefined : whyNoTerms(parsed);
      return ok({ hits, legs: wordless === undefined ? legs : { ...legs, lexical: wordless } });
    }
  }

  function rank(
    query: MemoryQuery,
    parsed: ParsedQuery,
    segments: readonly SearchedSegment[],
    leg: VectorLeg,
    limit: number,
  ) {
    const phrased = parsed.parts.some(({ kind }) => kind === "phrase");
    const { rrf, halfLifeDays } = means.rules;
    return means.pool.search({
      segments,
      query: parsed,
      mode: query.mode ?? "hybrid",
      filter: query.filter ?? {},
      scopes: scopesOf(query.viewer),
      queryVector: leg.kind === "ready" ? leg.vector : undefined,
      ...(query.shared === true ? { shared: true } : {}),
      rules: {
        lexicalWeight: 1,
        vectorWeight: rrf === "unweighted" || leg.kind !== "ready" ? 1 : leg.weight,
        halfLifeMs: halfLifeDays * DAY_MS,
        nowMs: means.now(),
        limit: phrased ? PHRASE_HITS : Math.max(limit * 2, limit + SPARE_HITS),
      },
    });
  }

  /** What was found with its text; a note or a piece that went away meanwhile is lost. */
  async function readTexts(ranked: readonly FusedHit[], { viewer }: MemoryQuery, open: OpenStore | undefined) {
    const notes = new Map(ranked.map(({ id }) => [id, means.notes.at(id, viewer)]));
    const storedIds = ranked.filter(({ id }) => noteNumber(id) === undefined).map(({ id }) => id);
    const texts = open === undefined || storedIds.length === 0 ? ok(NO_TEXTS) : await open.store.texts(storedIds);
    if (!texts.ok) return texts;
    const pieces = ranked.flatMap((hit): FoundPiece[] => {
      const note = notes.get(hit.id);
      if (note !== undefined) return [notePiece(note, hit)];
      const text = texts.value.get(hit.id);
      return text === undefined ? [] : [pieceOf(text, hit)];
    });
    return ok({ pieces, lost: storedIds.length - texts.value.size });
  }
}

/** A hit that still lacks its snippet and what was folded into it. */
type FoundPiece = Omit<MemoryHit, "snippet" | "reason"> & { readonly hit: FusedHit };

const NOT_ASKED: VectorLeg = { kind: "missing", why: "not asked" };
const NO_TEXTS: ReadonlyMap<number, StoredText> = new Map();

function readQuery({ text, literal = false }: MemoryQuery, nowMs: number): Result<ParsedQuery> {
  if (text.length <= QUERY_LIMIT_CHARS) return literal ? ok(literalQuery(text)) : parseQuery(text, nowMs);
  return fail("invalid", `a query holds at most ${QUERY_LIMIT_CHARS} characters; this one has ${text.length}`, {
    hint: "use the words that matter",
  });
}

function wantsNotes({ filter }: MemoryQuery, parsed: ParsedQuery): boolean {
  return [filter?.kinds, parsed.filter.kinds].every((kinds) => kinds?.includes("note") ?? true);
}

function wantsStore({ filter }: MemoryQuery, parsed: ParsedQuery): boolean {
  return [filter?.kinds, parsed.filter.kinds].every((kinds) => kinds?.some((kind) => kind !== "note") ?? true);
}

/** Gives every buffer a number of its own, for as long as it lives. */
export function numberBuffers(): (buffer: SharedArrayBuffer) => number {
  const numbers = new WeakMap<SharedArrayBuffer, number>();
  let last = 0;
  return (buffer) => {
    const known = numbers.get(buffer);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(buffer, last);
    return last;
  };
}

function searched(
  { buffer, dead }: { readonly buffer: SharedArrayBuffer; readonly dead: Uint8Array | undefined },
  keyOf: (buffer: SharedArrayBuffer) => number,
  leg: VectorLeg,
): SearchedSegment {
  const vectors = leg.kind === "ready" ? leg.vectorsOf(buffer) : undefined;
  const named = vectors === undefined ? undefined : { ...vectors, key: keyOf(vectors.block.memory.buffer) };
  return { key: keyOf(buffer), buffer, dead, vectors: named };
}

function notePiece(note: Note, hit: FusedHit): FoundPiece {
  const { id, text, author, sessionId, atMs } = note;
  const place = { path: "", line: 0, page: 0, title: note.type === "general" ? "" : note.type };
  return { id, kind: "note", ...place, text, score: hit.score, author, sessionId, atMs, hit };
}

function pieceOf(stored: StoredText, hit: FusedHit): FoundPiece {
  const { key, kind, author, sessionId, line, page, title, text, atMs } = stored;
  const path = kind === "conversation" ? "" : key;
  const id = `${kind}:${hit.id.toString(16)}`;
  return { id, kind, path, line, page, title, text, score: hit.score, author, sessionId, atMs, hit };
}

function hitsOf(shown: readonly Presented[], pieces: readonly FoundPiece[]): MemoryHit[] {
  return shown.flatMap(({ index, snippet, folded }) => {
    const piece = pieces[index];
    if (piece === undefined) return [];
    const { hit, ...rest } = piece;
    const ids = folded.map((other) => pieces[other]?.id ?? "");
    return [{ ...rest, snippet, reason: reasonOf(hit, ids) }];
  });
}

function reasonOf({ lexical, vector, recency, importance, shared }: FusedHit, folded: readonly string[]): HitReason {
  return {
    ...(lexical === undefined ? {} : { lexical }),
    ...(vector === undefined ? {} : { vector }),
    ...{ recency, importance, folded },
    ...(shared === undefined ? {} : { shared }),
  };
}

function legsOf({ mode }: MemoryQuery, leg: VectorLeg, segments: readonly SearchedSegment[]): SearchLegs {
  const lexical = mode === "vector" ? "not asked" : "ok";
  if (leg.kind === "missing") return { lexical, vector: leg.why };
  const without = segments.filter(({ vectors }) => vectors === undefined).length;
  if (without === 0) return { lexical, vector: "ok" };
  return { lexical, vector: `still to come for ${without} of ${segments.length} parts of the index` };
}
