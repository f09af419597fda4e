import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type JsonlJournal, openJournal } from "../../core/journal/jsonl-journal.ts";
import { NOWHERE, openTestMemory, type TestMemory } from "../../core/memory/fixtures/memory-bench.ts";

// A clock that is set back a day and forward a year, while memory is open and between two lives of it.

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const NOON_MS = Date.UTC(2026, 5, 15, 12);
const never = new AbortController().signal;

let home: string;
let nowMs: number;
let journal: JsonlJournal;
let memory: TestMemory;

async function open(): Promise<void> {
  const now = () => nowMs;
  const made = await openJournal({ dir: join(home, "journal"), now });
  if (!made.ok) throw new Error(made.failure.message);
  journal = made.value;
  const settings = {
    rrf: "weighted",
    halfLifeDays: 30,
    vectorWeight: undefined,
    conversations: false,
    storeLimitBytes: 0,
  } as const;
  let lastId = 0;
  const newId = () => `note-${nowMs}-${++lastId}`;
  memory = openTestMemory(join(home, "memory"), journal, { settings, now, newId });
}

async function close(): Promise<void> {
  await memory.close();
  await journal.close();
}

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-clock-"));
  nowMs = NOON_MS;
  await open();
});
afterEach(async () => {
  await close();
  await rm(home, { recursive: true, force: true });
});

async function remember(text: string, expiresAtMs = 0): Promise<string> {
  const kept = await memory.remember({ text, author: "owner", viewer: NOWHERE, scope: "person", expiresAtMs });
  if (!kept.ok) throw new Error(kept.failure.message);
  return kept.value.id;
}

const texts = async (query: string) => (await memory.find(query)).map(({ text }) => text);

async function listed(all = false): Promise<readonly string[]> {
  const notes = await memory.notes(NOWHERE, { limit: 100, all });
  if (!notes.ok) throw new Error(notes.failure.message);
  return notes.value.map(({ text }) => text);
}

test("a note holds until its time by the clock of the moment, however often that jumps, and a restart changes nothing", async () => {
  await remember("the kangaroo stays");
  await remember("the kangaroo leaves in an hour", NOON_MS + 3_600_000);
  const both = ["the kangaroo leaves in an hour", "the kangaroo stays"];
  for (const life of ["first", "second"]) {
    for (const [jumpMs, held] of [
      [0, both],
      [-DAY_MS, both],
      [YEAR_MS, ["the kangaroo stays"]],
      [3_600_000, ["the kangaroo stays"]],
      [3_599_999, both],
    ] as const) {
      nowMs = NOON_MS + jumpMs;
      expect((await texts("kangaroo")).toSorted(), `${life} ${jumpMs}`).toEqual(held);
      expect((await listed()).toSorted(), `${life} ${jumpMs}`).toEqual(held);
      const { value } = (await memory.stats()) as { value: { notes: number } };
      expect(value.notes, `${life} ${jumpMs}`).toBe(held.length);
    }
    await close();
    await open();
  }
  nowMs = NOON_MS - YEAR_MS;
  await expect(remember("written in the past", nowMs - 1)).rejects.toThrow("before it is written");
});

test("what was written under a clock that was ahead or behind is found, in an order that is one, and listed as written", async () => {
  const jumps = [0, YEAR_MS, -DAY_MS, 0, -YEAR_MS];
  for (const [index, jumpMs] of jumps.entries()) {
    nowMs = NOON_MS + jumpMs;
    await remember(`kangaroo number${index} ${"abcdefgh"[index]?.repeat(4)} of its own`);
  }
  for (const jumpMs of [...jumps, 100 * YEAR_MS, -NOON_MS]) {
    nowMs = NOON_MS + jumpMs;
    const hits = await memory.find("kangaroo");
    expect(hits, `${jumpMs}`).toHaveLength(jumps.length);
    for (const { score, reason } of hits) {
      expect(score > 0 && Number.isFinite(score), `${jumpMs}: ${score}`).toBe(true);
      expect(reason.recency > 0 && reason.recency <= 1, `${jumpMs}: ${reason.recency}`).toBe(true);
    }
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((one, two) => two - one));
  }
  expect((await listed()).map((text) => text.slice(9, 16))).toEqual([4, 3, 2, 1, 0].map((index) => `number${index}`));
  nowMs = NOON_MS;
  const before = (await memory.find("kangaroo")).map(({ id, score }) => [id, score]);
  await close();
  await open();
  expect((await memory.find("kangaroo")).map(({ id, score }) => [id, score])).toEqual(before);
  const checked = await memory.verify(never);
  expect(checked.ok && checked.value).toEqual([]);
});

test("filters by age go by the clock of the moment, and files of any date are found and counted", async () => {
  const folder = join(home, "files");
  await mkdir(folder);
  const dates = {
    "old.md": -YEAR_MS,
    "now.md": 0,
    "ahead.md": YEAR_MS,
    "first.md": -NOON_MS,
    "before.md": -NOON_MS - DAY_MS,
  };
  for (const [name, jumpMs] of Object.entries(dates)) {
    await writeFile(join(folder, name), `kangaroo ${name}\n`);
    // Node takes a time before 1970 for now.
    spawnSync("touch", ["-d", `@${(NOON_MS + jumpMs) / 1_000}`, join(folder, name)]);
  }
  for await (const progress of memory.index({ kind: "folder", folder }, never)) expect(progress.ok).toBe(true);
  const names = async (query: string) =>
    (await memory.find(query)).map(({ path }) => path.slice(folder.length + 1)).toSorted();
  expect(await names("kangaroo")).toEqual(Object.keys(dates).toSorted());
  expect(await names("kangaroo after:7d")).toEqual(["ahead.md", "now.md"]);
  nowMs = NOON_MS + 30 * DAY_MS;
  expect(await names("kangaroo after:7d")).toEqual(["ahead.md"]);
  nowMs = NOON_MS - DAY_MS;
  expect(await names("kangaroo after:7d")).toEqual(["ahead.md", "now.md"]);
  expect(await names("kangaroo before:2026-01-01")).toEqual(["before.md", "first.md", "old.md"]);
  // A clock that jumped is no reason to read anything again, or to take anything for gone.
  let last: unknown;
  for await (const progress of memory.index({ kind: "folder", folder }, never)) last = progress;
  expect(last).toMatchObject({ ok: true, value: { files: 5, removed: 0, done: true } });
});
