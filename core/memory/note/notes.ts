import { ok, type Result } from "../../domain/failure.ts";
import type { Journal } from "../../domain/journal.ts";
import { openLedger } from "../../domain/ledger.ts";
import type { Note, NoteDraft, NoteListing, Remembered, Viewer } from "../../domain/memory.ts";
import type { SegmentInput } from "../lexical/index-document.ts";
import { sketchTexts } from "../lexical/shingles.ts";
import { decideForget, decideRemember, holds, isSeenBy, shown } from "./note-decision.ts";
import { applyNote, emptyNotes, type KeptNote, type NoteFold, stampNote } from "./note-fold.ts";
import { type NoteSegment, type NoteSegments, noteNumber, noteSegments } from "./note-segments.ts";
import { type SimilarNotes, similarNotes } from "./similar-notes.ts";

/** The journal that notes live in; reserved, no session has this id. */
const NOTES_JOURNAL = "memory";
/** Up to here a sketch costs less than the way to a thread and back. */
const SKETCHED_HERE_CHARS = 32_768;

/** What is done away from the main thread. */
export type NoteWorkers = {
  build(input: SegmentInput): Promise<Result<SharedArrayBuffer>>;
  /** `sketchTexts` of shingles.ts. */
  sketch(texts: readonly string[]): Promise<Result<Uint32Array>>;
};

export type NotesOptions = {
  readonly journal: Journal;
  readonly workers: NoteWorkers;
  readonly newId: () => string;
  /** Milliseconds since 1970: decides what has expired. */
  readonly now: () => number;
};

/**
 * Notes are facts in a journal; everything else here is a fold over it, made at the first use. Each way in and out names
 * its viewer, and says nothing of a note of another scope. What is answered is durable.
 */
export type Notes = {
  remember(draft: NoteDraft): Promise<Result<Remembered>>;
  forget(ids: readonly string[], viewer: Viewer): Promise<Result<readonly Note[]>>;
  /** Newest first; those that were superseded or have expired only when asked for. */
  list(viewer: Viewer, options: NoteListing): Promise<Result<readonly Note[]>>;
  /** Segments over the notes of all scopes: a search has to mask what its viewer may not see and what has expired. */
  segments(): Promise<Result<readonly NoteSegment[]>>;
  /** The note of an id in segments, if this viewer may find it now. */
  at(id: number, viewer: Viewer): Note | undefined;
  /** The text behind an id in segments, for its vector; a search never shows it without `at`. */
  textAt(id: number): string | undefined;
  /** Those of all scopes, oldest first: for an export, which is its owner's. */
  everything(): Promise<Result<readonly Note[]>>;
  /** How many hold now, in all scopes. */
  count(): Promise<Result<number>>;
};

/** What is made of a fold and goes with it. */
type Followers = { readonly segments: NoteSegments; readonly similar: SimilarNotes };

export function openNotes({ journal, workers, newId, now }: NotesOptions): Notes {
  const ledger = openLedger<NoteFold>({
    journal,
    id: NOTES_JOURNAL,
    begin: emptyNotes,
    apply: applyNote,
    stamp: stampNote,
  });
  const followers = new WeakMap<NoteFold, Followers>();
  let latest: NoteFold | undefined;
  let building: Promise<unknown> = Promise.resolve();

  /** A journal that somebody else wrote to is folded anew, and then nothing of the old fold is good any more. */
  function follow(fold: NoteFold): Followers {
    const known = followers.get(fold);
    if (known !== undefined) return known;
    const fresh = { segments: noteSegments(), similar: similarNotes(sketch) };
    followers.set(fold, fresh);
    return fresh;
  }

  async function sketch(texts: readonly string[]): Promise<Result<Uint32Array>> {
    const chars = texts.reduce((sum, text) => sum + text.length, 0);
    return chars <= SKETCHED_HERE_CHARS ? ok(sketchTexts(texts)) : workers.sketch(texts);
  }

  async function remember(draft: NoteDraft): Promise<Result<Remembered>> {
    const id = newId();
    const written = await ledger.work<NoteFold>((fold) => {
      const decided = decideRemember(fold, draft, id, now());
      return decided.ok ? ok({ bodies: decided.value, value: fold }) : decided;
    });
    return written.ok ? ok({ id, similar: await similarTo(written.value, id, draft.viewer) }) : written;
  }

  /** The note is durable already: whatever hinders this must not look like a failure. */
  async function similarTo(fold: NoteFold, id: string, viewer: Viewer): Promise<readonly Note[]> {
    const note = fold.notes.get(id);
    if (note === undefined) return [];
    const nowMs = now();
    const isCandidate = (other: KeptNote) => isSeenBy(other, viewer) && holds(other, nowMs);
    const found = await follow(fold).similar.find(fold, note, isCandidate);
    return found.ok ? found.value.map(shown) : [];
  }

  /** One after the other: the next one finds what was built for this one. */
  function segments(): Promise<Result<readonly NoteSegment[]>> {
    const turn = building.then(buildSegments);
    building = turn.catch(() => undefined);
    return turn;
  }

  async function buildSegments(): Promise<Result<readonly NoteSegment[]>> {
    const planned = await ledger.read((fold) => ({ fold, plan: follow(fold).segments.plan(fold) }));
    if (!planned.ok) return planned;
    const { fold, plan } = planned.value;
    const buffers: SharedArrayBuffer[] = [];
    for (const part of plan.parts) {
      if (!("input" in part)) continue;
      const built = await workers.build(part.input);
      if (!built.ok) return built;
      buffers.push(built.value);
    }
    const installed = await ledger.read((current) => {
      // Folded anew meanwhile: what was built is of numbers that may mean other notes now.
      if (current !== fold) return undefined;
      latest = current;
      return follow(current).segments.install(current, plan, buffers);
    });
    if (!installed.ok) return installed;
    return installed.value === undefined ? buildSegments() : ok(installed.value);
  }

  return {
    remember,
    forget: (ids, viewer) => ledger.work((fold) => decideForget(fold, ids, viewer)),
    list: (viewer, options) => ledger.read((fold) => listNotes(fold, viewer, options, now())),
    segments,
    at(id, viewer) {
      const number = noteNumber(id);
      const note = number === undefined ? undefined : latest?.notes.get(latest.byNumber.get(number) ?? "");
      return note !== undefined && isSeenBy(note, viewer) && holds(note, now()) ? shown(note) : undefined;
    },
    textAt(id) {
      const number = noteNumber(id);
      return number === undefined ? undefined : latest?.notes.get(latest.byNumber.get(number) ?? "")?.text;
    },
    everything: () => ledger.read(({ notes }) => Array.from(notes.values(), shown)),
    count() {
      const nowMs = now();
      return ledger.read(({ notes }) => notes.values().reduce((sum, note) => sum + (holds(note, nowMs) ? 1 : 0), 0));
    },
  };
}

function listNotes(fold: NoteFold, viewer: Viewer, { limit, all, ids }: NoteListing, nowMs: number): readonly Note[] {
  const listed: Note[] = [];
  for (const note of newestFirst(fold, ids)) {
    if (listed.length >= limit) break;
    if (isSeenBy(note, viewer) && (all || holds(note, nowMs))) listed.push(shown(note));
  }
  return listed;
}

function* newestFirst(
  { notes, byNumber, nextNumber }: NoteFold,
  ids: readonly string[] | undefined,
): Generator<KeptNote> {
  if (ids !== undefined) {
    const named = [...new Set(ids)].flatMap((id) => notes.get(id) ?? []);
    yield* named.sort((one, two) => two.number - one.number);
    return;
  }
  for (let number = nextNumber - 1; number >= 0; number -= 1) {
    const note = notes.get(byNumber.get(number) ?? "");
    if (note !== undefined) yield note;
  }
}
