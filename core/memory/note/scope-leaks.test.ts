import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seededBelow } from "../../../tests/kit/seeded.ts";
import { strangersRecall } from "../../daemon/memory-ports.ts";
import type { Result } from "../../domain/failure.ts";
import { type MemoryQuery, type MemoryScope, SEARCH_MODES, scopesOf, type Viewer } from "../../domain/memory.ts";
import { type JsonlJournal, openJournal } from "../../journal/jsonl-journal.ts";
import { openTestMemory, type TestMemory } from "../fixtures/memory-bench.ts";
import { turnRecall } from "./turn-recall.ts";

const VIEWERS: readonly Viewer[] = [
  { workspace: "", sessionId: "" },
  { workspace: "/a", sessionId: "" },
  { workspace: "/a", sessionId: "one" },
  { workspace: "/a/below", sessionId: "two" },
  { workspace: "/b", sessionId: "one" },
];
const WORDS = ["door", "key", "blue", "garden", "morning", "deploy"];
const LIMITS = { recallTokens: 100_000, recallNotes: 100, recallDocuments: 100 };
const never = new AbortController().signal;

let dir = "";
let journal: JsonlJournal;
let memory: TestMemory;
let nowMs = 1_000_000;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-scopes-"));
  const opened = await openJournal({ dir: join(dir, "journal"), now: () => nowMs });
  if (!opened.ok) throw new Error(opened.failure.message);
  journal = opened.value;
  const embedder = { kind: "computed", name: "builtin" } as const;
  memory = openTestMemory(join(dir, "memory"), journal, { now: () => nowMs, embedder: () => embedder });
});

afterEach(async () => {
  await memory.close();
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.failure.code}: ${result.failure.message}`);
  return result.value;
}

type Written = { readonly id: string; readonly scope: MemoryScope; readonly text: string; readonly endMs: number };

/** Every id and every text that any way out tells this viewer, for one question. */
async function told(viewer: Viewer, words: string, way: number): Promise<string[]> {
  const filters: readonly MemoryQuery["filter"][] = [
    {},
    { kinds: ["note"] },
    { label: "shared" },
    { authors: ["owner"] },
    { sessionId: "one" },
  ];
  const answers: string[] = [];
  for (const mode of SEARCH_MODES) {
    const filter = filters[way % filters.length] ?? {};
    const hits = await memory.find(words, { viewer, mode, filter, limit: 100 });
    answers.push(...hits.flatMap(({ id, text, reason }) => [id, text, ...reason.folded]));
  }
  answers.push(...(await memory.find(`label:shared ${words}`, { viewer })).map(({ id }) => id));
  const recalled = await turnRecall(memory, LIMITS, () => false)(words, viewer, never);
  answers.push(...(recalled?.memoryIds ?? []), recalled?.text ?? "");
  for (const all of [false, true]) {
    const notes = value(await memory.notes(viewer, { limit: 1_000, all }));
    answers.push(...(all ? [] : notes.flatMap(({ id, text }) => [id, text])));
    // Older ones are readable, by whoever may see them.
    for (const note of notes) expect(scopesOf(viewer)).toContain(note.scope);
  }
  return answers;
}

test.each([1, 2, 3])("over every way in and out nobody hears of a note that is not theirs (seed %i)", async (seed) => {
  const below = seededBelow(seed);
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;
  let written: Written[] = [];
  /** Superseded, and forgotten. */
  const gone: string[] = [];
  const forgotten: string[] = [];
  for (let step = 0; step < 60; step += 1) {
    nowMs += 1_000;
    const viewer = pick(VIEWERS);
    const mine = written.filter(({ scope }) => scopesOf(viewer).includes(scope));
    const others = written.filter((note) => !mine.includes(note));
    if (below(3) < 2) {
      const scope = pick(scopesOf(viewer));
      const older = below(4) === 0 ? mine.find((note) => note.scope === scope && note.endMs > nowMs) : undefined;
      const endMs = below(4) === 0 ? nowMs + 20_000 : Number.POSITIVE_INFINITY;
      // Words are shared, so that what leaks would be a hit, and near copies, so that it would be told as alike.
      const text = `${pick(WORDS)} ${pick(WORDS)} and the same long tail of words that every single note here ends with`;
      const kept = value(
        await memory.remember({
          ...{ text, author: "owner", viewer, scope, labels: ["shared"] },
          ...(Number.isFinite(endMs) ? { expiresAtMs: endMs } : {}),
          ...(older === undefined ? {} : { supersedes: older.id }),
        }),
      );
      for (const { scope: other } of kept.similar) expect(scopesOf(viewer)).toContain(other);
      if (older !== undefined) {
        written = written.filter((note) => note !== older);
        gone.push(older.id);
      }
      written.push({ id: kept.id, scope, text, endMs });
    } else if (mine.length > 0) {
      const note = pick(mine);
      expect(value(await memory.forget([note.id], viewer)).map(({ text }) => text)).toEqual([note.text]);
      written = written.filter((one) => one !== note);
      forgotten.push(note.id);
      // What it took the place of has its place again, and is not followed from here on.
      const back = new Set(value(await memory.notes(viewer, { limit: 1_000, all: false })).map(({ id }) => id));
      for (const id of gone.splice(0)) if (!back.has(id)) gone.push(id);
    }
    const stranger = others.at(0);
    if (stranger !== undefined) {
      expect(await memory.forget([stranger.id], viewer)).toMatchObject({ failure: { code: "not_found" } });
      const draft = { text: "x", author: "owner", viewer, scope: "person", supersedes: stranger.id } as const;
      expect(await memory.remember(draft)).toMatchObject({ failure: { code: "not_found" } });
    }
    if (step % 5 !== 4) continue;
    for (const looking of VIEWERS) {
      const answers = await told(looking, `${pick(WORDS)} tail`, step);
      for (const { id, scope, endMs } of written) {
        if (scopesOf(looking).includes(scope) && endMs > nowMs) continue;
        expect(answers).not.toContain(id);
      }
      for (const id of [...gone, ...forgotten]) expect(answers).not.toContain(id);
    }
    const heard = value(await strangersRecall(memory)("door key blue garden morning deploy tail", 100, never));
    for (const { id } of heard) expect(written.find((note) => note.id === id)?.scope ?? "person").toBe("person");
  }
});
