import type { EventBody } from "../../domain/event.ts";
import { type Failed, fail, ok, type Result } from "../../domain/failure.ts";
import {
  IMPORTANCES,
  type MemoryScope,
  type Note,
  type NoteDraft,
  scopesOf,
  type Viewer,
} from "../../domain/memory.ts";
import { GENERAL_TYPE, type KeptNote, LATEST_MS, type NoteFold } from "./note-fold.ts";

const NOTE_LIMIT_CHARS = 16_384;
const NOTES_LIMIT = 50_000;
const LABELS_LIMIT = 16;
/** Of a label, and of the word for what a note is. */
const WORD_LIMIT_CHARS = 64;
const FORGET_LIMIT_NOTES = 1_000;

/** True when a viewer may know of a note, whether it still holds or not. */
export function isSeenBy(note: Note, viewer: Viewer): boolean {
  return scopesOf(viewer).includes(note.scope);
}

/** True when a search may find a note: nothing took its place, and it has not expired. */
export function holds(note: Note, nowMs: number): boolean {
  return note.supersededBy === "" && (note.expiresAtMs === 0 || note.expiresAtMs > nowMs);
}

/** The facts that remembering is, or why it cannot be. */
export function decideRemember(
  fold: NoteFold,
  draft: NoteDraft,
  id: string,
  nowMs: number,
): Result<readonly EventBody[]> {
  const { text, author, viewer, scope, supersedes = "", expiresAtMs = 0 } = draft;
  const wrong = checkText(text) ?? checkScope(scope, viewer) ?? checkWords(draft) ?? checkExpiry(expiresAtMs, nowMs);
  if (wrong !== undefined) return wrong;
  if (fold.notes.size >= NOTES_LIMIT) {
    return fail("exhausted", `memory holds at most ${NOTES_LIMIT} notes`, { hint: "forget some first" });
  }
  const older = supersedes === "" ? ok(undefined) : findOlder(fold, supersedes, draft);
  if (!older.ok) return older;
  const { type = "", importance = "normal", labels = [] } = draft;
  const value = {
    ...{ memoryId: id, text, author, sessionId: viewer.sessionId, scope, importance, expiresAtMs, supersedes },
    type: type.trim() === "" ? GENERAL_TYPE : type.trim(),
    labels: [...new Set(labels.map((label) => label.trim()))],
  };
  return ok([{ case: "memoryRemembered", value }]);
}

/** The notes that are to go and the facts that say so: all of them or none. */
export function decideForget(
  fold: NoteFold,
  ids: readonly string[],
  viewer: Viewer,
): Result<{ readonly bodies: readonly EventBody[]; readonly value: readonly Note[] }> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return fail("invalid", "there is no id of a note to forget", { hint: SHOW_IDS });
  if (wanted.length > FORGET_LIMIT_NOTES) {
    const message = `at most ${FORGET_LIMIT_NOTES} notes are forgotten at once; these are ${wanted.length}`;
    return fail("invalid", message, { hint: "forget them in parts" });
  }
  const notes: Note[] = [];
  for (const id of wanted) {
    const note = fold.notes.get(id);
    if (note === undefined || !isSeenBy(note, viewer)) return noNote(id);
    notes.push(shown(note));
  }
  return ok({ bodies: wanted.map((memoryId) => ({ case: "memoryForgotten", value: { memoryId } })), value: notes });
}

/** A note as it leaves the room. */
export function shown({ number: _, ...note }: KeptNote): Note {
  return note;
}

const SHOW_IDS = "claw memory notes --all shows the ids of the notes that are seen from here";

function noNote(id: string): Failed {
  return fail("not_found", `there is no note ${JSON.stringify(id)}`, { hint: SHOW_IDS });
}

function checkText(text: string): Failed | undefined {
  if (text.trim() === "") return fail("invalid", "a note needs a text", { hint: "say what to remember" });
  if (text.length <= NOTE_LIMIT_CHARS) return undefined;
  return fail("invalid", `a note holds at most ${NOTE_LIMIT_CHARS} characters; this one has ${text.length}`, {
    hint: "put long texts into a file and index its folder",
  });
}

/** Nobody writes where they could not read. */
function checkScope(scope: MemoryScope, viewer: Viewer): Failed | undefined {
  if (scopesOf(viewer).includes(scope)) return undefined;
  const place = scope.startsWith("project:") ? "another folder" : "another conversation";
  const message = `a note of the scope ${JSON.stringify(scope)} cannot be written from here: it is of ${place}, or of none`;
  return fail("invalid", message, {
    hint: 'give the scope "person", the project that you are in, or the session that you are in',
  });
}

function checkWords({ type = "", importance, labels = [] }: NoteDraft): Failed | undefined {
  if (importance !== undefined && !IMPORTANCES.includes(importance)) {
    return fail("invalid", `there is no importance ${JSON.stringify(importance)}`, {
      hint: `one of ${IMPORTANCES.join(", ")}`,
    });
  }
  if (labels.length > LABELS_LIMIT) {
    return fail("invalid", `a note has at most ${LABELS_LIMIT} labels; this one has ${labels.length}`, {
      hint: "keep those that you would look for",
    });
  }
  const wrong = labels.find((label) => label.trim() === "" || label.length > WORD_LIMIT_CHARS);
  if (wrong === undefined && type.length <= WORD_LIMIT_CHARS) return undefined;
  const what = wrong === undefined ? "a type" : "a label";
  return fail("invalid", `${what} has 1 to ${WORD_LIMIT_CHARS} characters`, { hint: "give a short word" });
}

function checkExpiry(expiresAtMs: number, nowMs: number): Failed | undefined {
  if (expiresAtMs === 0 || (expiresAtMs > nowMs && expiresAtMs <= LATEST_MS)) return undefined;
  if (expiresAtMs > LATEST_MS) {
    return fail("invalid", "a note cannot expire later than there are dates", {
      hint: "give no time for a note that stays",
    });
  }
  return fail("invalid", "a note cannot expire before it is written", { hint: "give a time that is to come" });
}

/** The note to take the place of. Whoever sees that one must see the new one too, or it would be lost to them. */
function findOlder(fold: NoteFold, id: string, { viewer, scope }: NoteDraft): Result<KeptNote> {
  const older = fold.notes.get(id);
  if (older === undefined || !isSeenBy(older, viewer)) return noNote(id);
  if (older.supersededBy !== "") {
    const newest = newestOf(fold, older);
    return fail("conflict", `note ${id} was superseded already; the newest is ${newest.id}`, {
      hint: `supersede ${newest.id} in its place`,
    });
  }
  if (scope === "person" || scope === older.scope) return ok(older);
  return fail(
    "invalid",
    `note ${id} has the scope ${JSON.stringify(older.scope)}, and the new one would be seen by fewer`,
    {
      hint: "give the new one the same scope",
    },
  );
}

function newestOf(fold: NoteFold, note: KeptNote): KeptNote {
  let newest = note;
  // By the fold a chain has no ring: each link was the newest note when it was made.
  for (let next = fold.notes.get(note.supersededBy); next !== undefined; next = fold.notes.get(next.supersededBy)) {
    newest = next;
  }
  return newest;
}
