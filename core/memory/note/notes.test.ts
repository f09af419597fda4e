import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seededBelow } from "../../../tests/kit/seeded.ts";
import type { Result } from "../../domain/failure.ts";
import { ok } from "../../domain/failure.ts";
import { type Importance, type Note, type NoteDraft, scopesOf, type Viewer } from "../../domain/memory.ts";
import { type JsonlJournal, openJournal } from "../../journal/jsonl-journal.ts";
import type { SegmentInput } from "../lexical/index-document.ts";
import { sketchTexts } from "../lexical/shingles.ts";
import { type Notes, openNotes } from "./notes.ts";

const OUTSIDE: Viewer = { workspace: "", sessionId: "" };
const IN_A: Viewer = { workspace: "/a", sessionId: "one" };
const IN_B: Viewer = { workspace: "/b", sessionId: "two" };

let dir = "";
let journal: JsonlJournal;
let nowMs = 1_000;
let builtRows = 0;
let lastId = 0;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-notes-"));
  nowMs = 1_000;
  builtRows = 0;
  const opened = await openJournal({ dir, now: () => nowMs });
  if (!opened.ok) throw new Error(opened.failure.message);
  journal = opened.value;
});

afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});

/** A segment whose bytes are its input, so that a test can read back what a search would be given. */
async function build(input: SegmentInput): Promise<Result<SharedArrayBuffer>> {
  builtRows += input.documents.length;
  const bytes = new TextEncoder().encode(JSON.stringify(input));
  const buffer = new SharedArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return ok(buffer);
}

function open(): Notes {
  const workers = { build, sketch: async (texts: readonly string[]) => ok(sketchTexts(texts)) };
  return openNotes({ journal, workers, newId: () => `n${++lastId}`, now: () => nowMs });
}

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.failure.code}: ${result.failure.message}`);
  return result.value;
}

function draft(text: string, more: Partial<NoteDraft> = {}): NoteDraft {
  return { text, author: "owner", viewer: OUTSIDE, scope: "person", ...more };
}

const remember = async (notes: Notes, text: string, more: Partial<NoteDraft> = {}) =>
  value(await notes.remember(draft(text, more))).id;

const list = async (notes: Notes, viewer: Viewer, all = false) =>
  value(await notes.list(viewer, { limit: 1_000, all }));

/** The notes that a search by this viewer could find at this moment. */
async function findable(notes: Notes, viewer: Viewer): Promise<string[]> {
  const found: string[] = [];
  for (const { buffer, dead } of value(await notes.segments())) {
    const copy = Uint8Array.from(new Uint8Array(buffer));
    const { groups, documents } = JSON.parse(new TextDecoder().decode(copy)) as SegmentInput;
    for (const [row, { id, group }] of documents.entries()) {
      const { key = "", scope = "", expiresAtMs = 0 } = groups[group] ?? {};
      const isMasked = dead?.[row] === 1 || (expiresAtMs > 0 && expiresAtMs <= nowMs);
      const seen = (scopesOf(viewer) as readonly string[]).includes(scope) && !isMasked;
      expect(notes.at(id, viewer)?.id).toBe(seen ? key : undefined);
      if (seen) found.push(key);
    }
  }
  return found;
}

test("a note keeps all that was said of it, and another daemon folds the same", async () => {
  const notes = open();
  nowMs = 5_000;
  const id = await remember(notes, "Deploys go out on Fridays", {
    ...{ viewer: IN_A, scope: "project:/a", type: " preference ", importance: "high", author: "stranger" },
    ...{ labels: ["deploy", " deploy ", "week"], expiresAtMs: 9_000 },
  });
  const note: Note = {
    ...{ id, text: "Deploys go out on Fridays", author: "stranger", scope: "project:/a", type: "preference" },
    ...{ importance: "high", labels: ["deploy", "week"], sessionId: "one", atMs: 5_000, expiresAtMs: 9_000 },
    ...{ supersedes: "", supersededBy: "" },
  };
  expect(await list(notes, IN_A)).toEqual([note]);
  expect(await list(open(), IN_A)).toEqual([note]);
});

test("a journal of before there were scopes folds to notes of the person", async () => {
  await journal.create("memory");
  const old = [
    { case: "memoryRemembered", value: { memoryId: "a", text: "by a person", author: "owner", sessionId: "" } },
    { case: "memoryRemembered", value: { memoryId: "b", text: "by a model", author: "agent", sessionId: "s" } },
    { case: "memoryForgotten", value: { memoryId: "a" } },
    { case: "memoryForgotten", value: { memoryId: "never there" } },
    { case: "memoryRemembered", value: { memoryId: "c", text: "of tomorrow", author: "?", scope: "team:x" } },
  ] as const;
  value(await journal.append("memory", 0, old));
  const notes = open();
  expect(await list(notes, OUTSIDE)).toMatchObject([
    { id: "b", author: "agent", scope: "person", type: "general", importance: "normal", labels: [], expiresAtMs: 0 },
  ]);
  expect(value(await notes.count())).toBe(2);
  expect(await list(notes, { workspace: "/x", sessionId: "s" }, true)).toHaveLength(1);
});

test("a note of another project or conversation is neither listed, found, superseded nor forgotten", async () => {
  const notes = open();
  const project = await remember(notes, "of a", { viewer: IN_A, scope: "project:/a" });
  const session = await remember(notes, "of one", { viewer: IN_A, scope: "session:one" });
  expect(await findable(notes, IN_A)).toEqual([project, session]);
  for (const viewer of [OUTSIDE, IN_B, { workspace: "/a/below", sessionId: "" }]) {
    expect(await list(notes, viewer, true)).toEqual([]);
    expect(await findable(notes, viewer)).toEqual([]);
    for (const id of [project, session]) {
      const missing = { ok: false, failure: { code: "not_found", message: `there is no note "${id}"` } };
      expect(await notes.forget([id], viewer)).toMatchObject(missing);
      expect(await notes.remember(draft("newer", { viewer, supersedes: id }))).toMatchObject(missing);
    }
  }
  expect(await notes.remember(draft("x", { viewer: IN_B, scope: "project:/a" }))).toMatchObject({
    failure: { code: "invalid", message: expect.stringContaining("another folder") },
  });
});

test("nothing alike is told of a note that the writer may not see", async () => {
  const notes = open();
  await remember(notes, "the staging password rotates every Monday", { viewer: IN_A, scope: "project:/a" });
  const text = "The staging password rotates every Monday.";
  expect(value(await notes.remember(draft(text, { viewer: IN_B }))).similar).toEqual([]);
  const again = value(await notes.remember(draft(text, { viewer: IN_A })));
  expect(again.similar.map(({ scope }) => scope)).toEqual(["person", "project:/a"]);
});

test("notes that are named are listed like the others: newest first, none of another scope, none that no longer holds", async () => {
  const notes = open();
  const [old, other] = [await remember(notes, "tea"), await remember(notes, "water")];
  const hidden = await remember(notes, "of a", { viewer: IN_A, scope: "project:/a" });
  const gone = await remember(notes, "milk");
  const newest = await remember(notes, "oat milk", { supersedes: gone });
  const ids = [old, newest, hidden, gone, old, "never there"];
  const named = async (limit: number, all: boolean) =>
    value(await notes.list(OUTSIDE, { limit, all, ids })).map(({ id }) => id);
  expect(await named(10, false)).toEqual([newest, old]);
  expect(await named(10, true)).toEqual([newest, gone, old]);
  expect(await named(1, false)).toEqual([newest]);
  expect((await list(notes, OUTSIDE)).map(({ id }) => id)).toContain(other);
});

test("notes with the same words or nearly the same text are told, best first, and all are kept", async () => {
  const notes = open();
  const words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
  const same = await remember(notes, words);
  const near = await remember(notes, `${words} fifteen`);
  await remember(notes, "five six seven eight and something else altogether that nobody said");
  const last = value(await notes.remember(draft(`${words.toUpperCase()}!`)));
  expect(last.similar.map(({ id }) => id)).toEqual([same, near]);
  expect(await list(notes, OUTSIDE)).toHaveLength(4);
});

test("what is superseded stays readable and is found no more; forgetting the newer one gives it its place back", async () => {
  const notes = open();
  const [first, second] = [await remember(notes, "tea"), await remember(notes, "other")];
  const third = await remember(notes, "coffee", { supersedes: first });
  expect(await findable(notes, OUTSIDE)).toEqual([second, third]);
  expect((await list(notes, OUTSIDE, true)).map(({ id, supersededBy }) => [id, supersededBy])).toEqual([
    [third, ""],
    [second, ""],
    [first, third],
  ]);
  expect(await notes.remember(draft("water", { supersedes: first }))).toMatchObject({
    failure: { code: "conflict", message: `note ${first} was superseded already; the newest is ${third}` },
  });
  const fourth = await remember(notes, "water", { supersedes: third });
  value(await notes.forget([third], OUTSIDE));
  expect((await list(notes, OUTSIDE)).map(({ id }) => id)).toEqual([fourth, second]);
  expect((await list(notes, OUTSIDE, true)).at(-1)).toMatchObject({ id: first, supersededBy: fourth });
  value(await notes.forget([fourth], OUTSIDE));
  expect(await findable(notes, OUTSIDE)).toEqual([first, second]);
});

test("a note may take the place of one that fewer people see, never of one that more see", async () => {
  const notes = open();
  const person = await remember(notes, "everywhere");
  expect(await notes.remember(draft("here", { viewer: IN_A, scope: "project:/a", supersedes: person }))).toMatchObject({
    failure: { code: "invalid", hint: "give the new one the same scope" },
  });
  const project = await remember(notes, "here", { viewer: IN_A, scope: "project:/a" });
  expect(await remember(notes, "now everywhere", { viewer: IN_A, supersedes: project })).not.toBe("");
});

test("an expired note is gone by the clock alone, and still listed with all", async () => {
  const notes = open();
  const id = await remember(notes, "until two", { expiresAtMs: 2_000 });
  nowMs = 1_999;
  expect(await findable(notes, OUTSIDE)).toEqual([id]);
  nowMs = 2_000;
  expect(await findable(notes, OUTSIDE)).toEqual([]);
  expect(await list(notes, OUTSIDE)).toEqual([]);
  expect(await list(notes, OUTSIDE, true)).toHaveLength(1);
  expect(value(await notes.count())).toBe(0);
  expect(await notes.remember(draft("late", { expiresAtMs: 2_000 }))).toMatchObject({ failure: { code: "invalid" } });
});

test("forgetting is all or none, and says what the notes said", async () => {
  const notes = open();
  const [one, two] = [await remember(notes, "first"), await remember(notes, "second")];
  expect(await notes.forget([one, "nobody", two], OUTSIDE)).toMatchObject({ failure: { code: "not_found" } });
  expect(await notes.forget([], OUTSIDE)).toMatchObject({ failure: { code: "invalid" } });
  expect(await list(notes, OUTSIDE)).toHaveLength(2);
  const gone = value(await notes.forget([one, two, one], OUTSIDE));
  expect(gone.map(({ text }) => text)).toEqual(["first", "second"]);
  expect(await list(open(), OUTSIDE, true)).toEqual([]);
});

test.each([
  ["a note needs a text", { text: " \n " }],
  ["a note holds at most 16384 characters; this one has 16385", { text: "x".repeat(16_385) }],
  ["there is no importance", { importance: "vital" as Importance }],
  ["a note has at most 16 labels", { labels: Array.from({ length: 17 }, (_, index) => `l${index}`) }],
  ["a label has 1 to 64 characters", { labels: ["ok", " "] }],
  ["a type has 1 to 64 characters", { type: "t".repeat(65) }],
  ["a note cannot expire before it is written", { expiresAtMs: Number.NaN }],
])("%s", async (message, more) => {
  const refused = await open().remember(draft("fine", more));
  expect(refused).toMatchObject({ ok: false, failure: { message: expect.stringContaining(message) } });
});

test("notes that are remembered together share commits, and each is durable when it is told", async () => {
  const notes = open();
  const ids = await Promise.all(Array.from({ length: 500 }, (_, index) => remember(notes, `fact ${index}`)));
  expect(new Set(ids).size).toBe(500);
  expect(await list(open(), OUTSIDE)).toHaveLength(500);
});

test("one new note rebuilds few others, however many there are", async () => {
  const notes = open();
  await Promise.all(Array.from({ length: 3_000 }, (_, index) => remember(notes, `fact ${index} of many`)));
  await findable(notes, OUTSIDE);
  builtRows = 0;
  for (let index = 0; index < 64; index += 1) {
    await remember(notes, `late ${index}`);
    value(await notes.segments());
  }
  expect(builtRows).toBeLessThan(64 * 8);
  expect(value(await notes.segments()).length).toBeLessThan(10);
  expect(await findable(notes, OUTSIDE)).toHaveLength(3_064);
});

test("what is forgotten leaves the segments, too", async () => {
  const notes = open();
  const ids = await Promise.all(Array.from({ length: 40 }, (_, index) => remember(notes, `fact ${index}`)));
  await findable(notes, OUTSIDE);
  value(await notes.forget(ids.slice(0, 30), OUTSIDE));
  const [only] = value(await notes.segments());
  expect(
    new TextDecoder().decode(Uint8Array.from(new Uint8Array(only?.buffer ?? new SharedArrayBuffer(0)))),
  ).not.toContain("fact 7");
  value(await notes.forget(ids.slice(30), OUTSIDE));
  expect(value(await notes.segments())).toEqual([]);
});

/** The laws, said as plainly as possible: a list of notes, newest last. */
function modelOf() {
  const notes: { id: string; scope: string; expiresAtMs: number; older: string }[] = [];
  const seen = (viewer: Viewer) => notes.filter(({ scope }) => (scopesOf(viewer) as readonly string[]).includes(scope));
  const isSuperseded = (id: string) => notes.some(({ older }) => older === id);
  return {
    notes,
    seen,
    isSuperseded,
    holding: (viewer: Viewer) =>
      seen(viewer).filter(({ id, expiresAtMs }) => !isSuperseded(id) && (expiresAtMs === 0 || expiresAtMs > nowMs)),
    forget(id: string) {
      const at = notes.findIndex((note) => note.id === id);
      const [gone] = notes.splice(at, 1);
      for (const note of notes) if (note.older === id) note.older = gone?.older ?? "";
    },
  };
}

test.each([1, 2, 3, 4, 5, 6])("the fold equals a plain model over random operations (seed %i)", async (seed) => {
  const below = seededBelow(seed);
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;
  let notes = open();
  const model = modelOf();
  for (let step = 0; step < 250; step += 1) {
    const viewer = pick([OUTSIDE, IN_A, IN_B]);
    const what = below(10);
    nowMs += below(50);
    if (what < 5) {
      const scope = pick(scopesOf(viewer));
      const expiresAtMs = below(3) === 0 ? nowMs + 1 + below(400) : 0;
      const older = below(3) === 0 ? model.notes[below(model.notes.length)] : undefined;
      const made = await notes.remember(
        draft(`note ${step}`, { viewer, scope, expiresAtMs, ...(older === undefined ? {} : { supersedes: older.id }) }),
      );
      const may =
        older === undefined ||
        (model.seen(viewer).includes(older) &&
          !model.isSuperseded(older.id) &&
          (scope === "person" || scope === older.scope));
      expect(made.ok).toBe(may);
      if (made.ok) model.notes.push({ id: made.value.id, scope, expiresAtMs, older: older?.id ?? "" });
    } else if (what < 7 && model.notes.length > 0) {
      const ids = [...new Set([pick(model.notes).id, pick(model.notes).id])];
      const may = ids.every((id) => model.seen(viewer).some((note) => note.id === id));
      expect((await notes.forget(ids, viewer)).ok).toBe(may);
      if (may) for (const id of ids) model.forget(id);
    } else if (what === 7) {
      notes = open();
    } else if (what === 8) {
      expect(new Set(await findable(notes, viewer))).toEqual(new Set(model.holding(viewer).map(({ id }) => id)));
    } else {
      expect((await list(notes, viewer)).map(({ id }) => id)).toEqual(
        model
          .holding(viewer)
          .map(({ id }) => id)
          .reverse(),
      );
    }
  }
  for (const viewer of [OUTSIDE, IN_A, IN_B]) {
    const all = await list(notes, viewer, true);
    expect(all.map(({ id }) => id).reverse()).toEqual(model.seen(viewer).map(({ id }) => id));
    expect(await list(open(), viewer, true)).toEqual(all);
  }
});
