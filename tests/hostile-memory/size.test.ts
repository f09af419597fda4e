import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EventBody } from "../../core/domain/event.ts";
import { type JsonlJournal, openJournal } from "../../core/journal/jsonl-journal.ts";
import { NOWHERE, openTestMemory } from "../../core/memory/fixtures/memory-bench.ts";
import { openVectorIndices } from "../../core/memory/tool/vector-indices.ts";
import { nearestVectors } from "../../core/memory/worker/nearest-vectors.ts";

// As much as memory takes: of notes, and of indices of vectors.

const NOTES = 50_000;
const APPEND_NOTES = 1_000;
const INDICES = 64;
const never = new AbortController().signal;

let home: string;
let journal: JsonlJournal;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-size-"));
  const made = await openJournal({ dir: join(home, "journal"), now: () => 1_000 });
  if (!made.ok) throw new Error(made.failure.message);
  journal = made.value;
});
afterEach(async () => {
  await journal.close();
  await rm(home, { recursive: true, force: true });
});

async function writeNotes(): Promise<void> {
  await journal.create("memory");
  for (let first = 0; first < NOTES; first += APPEND_NOTES) {
    const bodies = Array.from({ length: APPEND_NOTES }, (_, at): EventBody => {
      const number = first + at;
      const text = `kangaroo note number${number} about topic${number % 97} and place${number % 1_009}`;
      return { case: "memoryRemembered", value: { memoryId: `n${number}`, text, author: "owner", scope: "person" } };
    });
    const appended = await journal.append("memory", first, bodies);
    if (!appended.ok) throw new Error(appended.failure.message);
  }
}

test("fifty thousand notes are opened, searched, listed and let go of; one more is refused", {
  timeout: 120_000,
}, async () => {
  await writeNotes();
  const startMs = performance.now();
  const memory = openTestMemory(join(home, "memory"), journal);
  try {
    expect((await memory.find("number31337", { limit: 1 })).map(({ id }) => id)).toEqual(["n31337"]);
    console.log(`the first answer over ${NOTES} notes came after ${Math.round(performance.now() - startMs)} ms`);
    expect(await memory.find("kangaroo", { limit: 100 })).toHaveLength(100);
    const listing = async (limit: number, more: object = {}) => {
      const listed = await memory.notes(NOWHERE, { limit, all: false, ...more });
      if (!listed.ok) throw new Error(listed.failure.message);
      return listed.value.map(({ id }) => id);
    };
    expect(await listing(3)).toEqual(["n49999", "n49998", "n49997"]);
    expect(await listing(NOTES * 2)).toHaveLength(NOTES);
    expect(await listing(5, { ids: ["n7", "nobody", "n40000", "n7"] })).toEqual(["n40000", "n7"]);
    const draft = { text: "one too many", author: "owner", viewer: NOWHERE, scope: "person" } as const;
    expect(await memory.remember(draft)).toMatchObject({ ok: false, failure: { code: "exhausted" } });
    const gone = await memory.forget(
      Array.from({ length: 1_000 }, (_, at) => `n${at}`),
      NOWHERE,
    );
    expect(gone.ok && gone.value.length).toBe(1_000);
    expect(await memory.find("+number999")).toEqual([]);
    expect(await memory.remember(draft)).toMatchObject({ ok: true });
    expect((await memory.find("too many")).map(({ text }) => text)).toContain(draft.text);
    expect(await memory.stats()).toMatchObject({ ok: true, value: { notes: NOTES - 999 } });
    expect(await memory.verify(never)).toEqual({ ok: true, value: [] });
  } finally {
    await memory.close();
  }
});

test("sixty-four indices of vectors are filled and searched at once; one more is refused until one goes", {
  timeout: 60_000,
}, async () => {
  const open = () =>
    openVectorIndices({
      journal: () => Promise.resolve({ ok: true, value: journal }),
      nearest: (request) => Promise.resolve({ ok: true, value: nearestVectors(request) }),
      now: () => 1_000,
    });
  const indices = open();
  const shape = (name: string) => ({ name, dimension: 3, maxElements: 100, metric: "l2" }) as const;
  const numbers = Array.from({ length: INDICES }, (_, number) => number);
  const vectorOf = (number: number) => new Float32Array([number, 1, 0]);
  const draftOf = (number: number) => ({
    ...{ vector: vectorOf(number), metadata: "", text: `kangaroo ${number}`, type: "", source: "", embedder: "" },
  });
  // All at once: the limit holds even so.
  const made = await Promise.all(
    Array.from({ length: INDICES + 8 }, (_, number) => indices.create(shape(`i${number}`))),
  );
  expect(made.filter(({ ok }) => ok)).toHaveLength(INDICES);
  expect(await indices.create(shape("one-more"))).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  const added = await Promise.all(
    numbers.map((number) => indices.add(`i${number}`, [draftOf(number), draftOf(number + 1)])),
  );
  expect(added.every(({ ok }) => ok)).toBe(true);
  const nearest = (of: typeof indices) =>
    Promise.all(
      numbers.map(async (number) => {
        const found = await of.search(`i${number}`, { vector: vectorOf(number), embedder: "", limit: 1 }, never);
        return found.ok ? found.value.map(({ text }) => text) : [found.failure.message];
      }),
    );
  const expected = numbers.map((number) => [`kangaroo ${number}`]);
  expect(await nearest(indices)).toEqual(expected);
  // Nothing but journals: another life has them all.
  expect(await nearest(open())).toEqual(expected);
  expect(await indices.remove("i0")).toMatchObject({ ok: true });
  expect(await indices.create(shape("one-more"))).toMatchObject({ ok: true });
  expect(await indices.create(shape("two-more"))).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  const listed = await indices.list();
  expect(listed.ok && listed.value).toHaveLength(INDICES);
});
