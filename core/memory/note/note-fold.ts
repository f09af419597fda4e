import type { Event, EventBody } from "../../domain/event.ts";
import { IMPORTANCES, type Importance, type MemoryScope, type Note } from "../../domain/memory.ts";

export const GENERAL_TYPE = "general";
/** The last moment that has a date. */
export const LATEST_MS = 8.64e15;

/** A note as the fold keeps it. */
export type KeptNote = Note & {
  /** Which note of the journal it is, from 0; never given twice, whatever is forgotten. */
  readonly number: number;
};

/** What the journal of notes says, folded. */
export type NoteFold = {
  /** In the order of writing. */
  readonly notes: Map<string, KeptNote>;
  readonly byNumber: Map<number, string>;
  nextNumber: number;
  /** Numbers of notes that can be found now and could not before, or the other way round; whoever follows takes them out. */
  readonly changed: Set<number>;
};

export function emptyNotes(): NoteFold {
  return { notes: new Map(), byNumber: new Map(), nextNumber: 0, changed: new Set() };
}

/**
 * Folds one fact. Total: what fits nothing changes nothing. The time of a note is 0 until its event is durable and
 * `stampNote` has told it.
 */
export function applyNote(fold: NoteFold, body: EventBody): void {
  if (body.case === "memoryRemembered") addNote(fold, body.value);
  else if (body.case === "memoryForgotten") dropNote(fold, body.value.memoryId ?? "");
}

/** Tells a note the time that its event got when it became durable. */
export function stampNote(fold: NoteFold, { body, atMs }: Event): void {
  if (body.case !== "memoryRemembered") return;
  const note = fold.notes.get(body.value.memoryId ?? "");
  if (note?.atMs === 0) fold.notes.set(note.id, { ...note, atMs });
}

type Written = Extract<EventBody, { case: "memoryRemembered" }>["value"];

function addNote(fold: NoteFold, written: Written): void {
  const { memoryId: id = "", text = "", sessionId = "" } = written;
  const number = fold.nextNumber;
  fold.nextNumber += 1;
  if (fold.notes.has(id)) return;
  const older = supersedable(fold, written.supersedes ?? "");
  fold.notes.set(id, {
    ...{ id, number, text, sessionId },
    author: authorOf(written.author ?? ""),
    scope: scopeOf(written.scope ?? ""),
    type: written.type || GENERAL_TYPE,
    importance: importanceOf(written.importance ?? ""),
    labels: written.labels ?? [],
    atMs: 0,
    // Journals of before there was this limit may name a later one.
    expiresAtMs: Math.min(written.expiresAtMs ?? 0, LATEST_MS),
    supersedes: older?.id ?? "",
    supersededBy: "",
  });
  fold.byNumber.set(number, id);
  fold.changed.add(number);
  if (older !== undefined) replace(fold, { ...older, supersededBy: id });
}

function supersedable(fold: NoteFold, id: string): KeptNote | undefined {
  const older = fold.notes.get(id);
  return older?.supersededBy === "" ? older : undefined;
}

/** As if it had never been written: what it took the place of has its place again, or leaves it to what came after it. */
function dropNote(fold: NoteFold, id: string): void {
  const note = fold.notes.get(id);
  if (note === undefined) return;
  fold.notes.delete(id);
  fold.byNumber.delete(note.number);
  fold.changed.add(note.number);
  const older = fold.notes.get(note.supersedes);
  const newer = fold.notes.get(note.supersededBy);
  if (older !== undefined) replace(fold, { ...older, supersededBy: note.supersededBy });
  if (newer !== undefined) replace(fold, { ...newer, supersedes: note.supersedes });
}

function replace(fold: NoteFold, note: KeptNote): void {
  fold.notes.set(note.id, note);
  fold.changed.add(note.number);
}

/** A word that this build does not know is trusted least. */
function authorOf(written: string): Note["author"] {
  return written === "owner" || written === "agent" ? written : "stranger";
}

/** A scope that this build does not know is that of a session that nobody has. */
function scopeOf(written: string): MemoryScope {
  if (written === "" || written === "person") return "person";
  if (written.startsWith("project:")) return `project:${written.slice("project:".length)}`;
  return written.startsWith("session:") ? `session:${written.slice("session:".length)}` : "session:";
}

function importanceOf(written: string): Importance {
  return IMPORTANCES.find((one) => one === written) ?? "normal";
}
