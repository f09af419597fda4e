import type { Event, EventBody } from "../../domain/event.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { type Journal, JournalError } from "../../domain/journal.ts";
import type { MemoryPool } from "../worker/memory-pool.ts";

/** The journal that notes live in; reserved, no session has this id. */
const NOTES_JOURNAL = "memory";
const NOTE_LIMIT_CHARS = 16_384;
const NOTES_LIMIT = 50_000;
/** Notes whose events lie in the same block of numbers share a segment: a change rebuilds one small segment. */
const BLOCK_EVENTS = 256;

type Note = {
  readonly id: string;
  /** The number of its event. */
  readonly seq: number;
  readonly text: string;
  readonly author: "owner" | "agent";
};

/** Notes are facts in a journal; everything else here is a fold over it, made at the first use. */
export type Notes = {
  remember(text: string, author: "owner" | "agent", sessionId: string): Promise<Result<string>>;
  forget(id: string): Promise<Result<void>>;
  /** Segments over all notes; document ids are event numbers. */
  segments(): Promise<Result<readonly SharedArrayBuffer[]>>;
  /** The note of an event number, if it was not forgotten. */
  at(seq: number): Note | undefined;
  count(): Promise<Result<number>>;
};

type Fold = {
  lastSeq: number;
  readonly bySeq: Map<number, Note>;
  readonly seqById: Map<string, number>;
  readonly segments: Map<number, SharedArrayBuffer>;
  readonly staleBlocks: Set<number>;
};

export function openNotes(journal: Journal, pool: MemoryPool, newId: () => string): Notes {
  let fold: Fold | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  /** One at a time: the writer of the journal, and the builder of segments. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work, work);
    queue = turn.catch(() => undefined);
    return turn;
  }

  async function load(): Promise<Result<Fold>> {
    if (fold !== undefined) return ok(fold);
    const loaded = await foldJournal(journal);
    if (loaded.ok) fold = loaded.value;
    return loaded;
  }

  /** Appends what `decide` makes of the notes. A rival writer means: fold again, decide again, once. */
  async function change(decide: (now: Fold) => Result<readonly EventBody[]>): Promise<Result<void>> {
    for (let attempt = 1; ; attempt += 1) {
      const loaded = await load();
      if (!loaded.ok) return loaded;
      const decided = decide(loaded.value);
      if (!decided.ok) return decided;
      const appended = await appendTo(journal, loaded.value.lastSeq, decided.value);
      if (appended.ok) {
        for (const event of appended.value) apply(loaded.value, event);
        return ok(undefined);
      }
      if (appended.failure.code !== "conflict" || attempt > 1) return appended;
      fold = undefined;
    }
  }

  function remember(text: string, author: "owner" | "agent", sessionId: string): Promise<Result<string>> {
    return inTurn(async () => {
      const id = newId();
      const done = await change((now) => {
        const wrong = checkNote(text, now.bySeq.size);
        if (wrong !== undefined) return wrong;
        return ok([{ case: "memoryRemembered", value: { memoryId: id, text, author, sessionId } }]);
      });
      return done.ok ? ok(id) : done;
    });
  }

  function forget(id: string): Promise<Result<void>> {
    return inTurn(() =>
      change((now) =>
        now.seqById.has(id)
          ? ok([{ case: "memoryForgotten", value: { memoryId: id } }])
          : fail("not_found", `there is no note ${JSON.stringify(id)}`, { hint: "a search shows the ids of notes" }),
      ),
    );
  }

  function segments(): Promise<Result<readonly SharedArrayBuffer[]>> {
    return inTurn(async () => {
      const loaded = await load();
      if (!loaded.ok) return loaded;
      const now = loaded.value;
      for (const block of now.staleBlocks) {
        const documents = notesOf(now, block).map(({ seq, text }) => ({ id: seq, text }));
        const built = documents.length === 0 ? undefined : await pool.build(documents);
        if (built?.ok === false) return built;
        if (built === undefined) now.segments.delete(block);
        else now.segments.set(block, built.value);
        now.staleBlocks.delete(block);
      }
      return ok([...now.segments.values()]);
    });
  }

  return {
    remember,
    forget,
    segments,
    at: (seq) => fold?.bySeq.get(seq),
    count: () =>
      inTurn(async () => {
        const loaded = await load();
        return loaded.ok ? ok(loaded.value.bySeq.size) : loaded;
      }),
  };
}

function checkNote(text: string, notes: number) {
  if (text.trim() === "") return fail("invalid", "a note needs a text", { hint: "say what to remember" });
  if (text.length > NOTE_LIMIT_CHARS) {
    return fail("invalid", `a note holds at most ${NOTE_LIMIT_CHARS} characters; this one has ${text.length}`, {
      hint: "put long texts into a file and index its folder",
    });
  }
  if (notes < NOTES_LIMIT) return undefined;
  return fail("exhausted", `memory holds at most ${NOTES_LIMIT} notes`, { hint: "forget some first" });
}

async function appendTo(journal: Journal, lastSeq: number, bodies: readonly EventBody[]) {
  if (lastSeq === 0) {
    const created = await journal.create(NOTES_JOURNAL);
    // "conflict" is the ordinary case of a journal that is there and empty.
    if (!created.ok && created.failure.code !== "conflict") return created;
  }
  return journal.append(NOTES_JOURNAL, lastSeq, bodies);
}

async function foldJournal(journal: Journal): Promise<Result<Fold>> {
  const fold: Fold = { lastSeq: 0, bySeq: new Map(), seqById: new Map(), segments: new Map(), staleBlocks: new Set() };
  try {
    const events = journal.read(NOTES_JOURNAL, { after: 0, follow: false }, new AbortController().signal);
    for await (const event of events) apply(fold, event);
    return ok(fold);
  } catch (cause) {
    if (cause instanceof JournalError) return { ok: false, failure: cause.failure };
    throw cause;
  }
}

function apply(fold: Fold, event: Event): void {
  fold.lastSeq = event.seq;
  if (event.body.case === "memoryRemembered") {
    const { memoryId, text, author } = event.body.value;
    fold.bySeq.set(event.seq, { id: memoryId, seq: event.seq, text, author: author === "owner" ? "owner" : "agent" });
    fold.seqById.set(memoryId, event.seq);
    fold.staleBlocks.add(blockOf(event.seq));
  } else if (event.body.case === "memoryForgotten") {
    const seq = fold.seqById.get(event.body.value.memoryId);
    if (seq === undefined) return;
    fold.seqById.delete(event.body.value.memoryId);
    fold.bySeq.delete(seq);
    fold.staleBlocks.add(blockOf(seq));
  }
}

function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_EVENTS);
}

function notesOf(fold: Fold, block: number): Note[] {
  const notes: Note[] = [];
  for (let seq = block * BLOCK_EVENTS; seq < (block + 1) * BLOCK_EVENTS; seq += 1) {
    const note = fold.bySeq.get(seq);
    if (note !== undefined) notes.push(note);
  }
  return notes;
}
