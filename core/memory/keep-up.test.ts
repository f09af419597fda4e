import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type JsonlJournal, openJournal } from "../journal/jsonl-journal.ts";
import { openTestMemory, type TestMemory } from "./fixtures/memory-bench.ts";

const FOUND_LIMIT_MS = 15_000;
const never = new AbortController().signal;

let home = "";
let source = "";
let journal: JsonlJournal;
let memory: TestMemory | undefined;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "clawd-keep-up-")));
  source = join(home, "source");
  await mkdir(source);
  await writeFile(join(source, "a.md"), "kangaroo");
  const made = await openJournal({ dir: join(home, "journal"), now: () => 0 });
  if (!made.ok) throw new Error(made.failure.message);
  journal = made.value;
});

afterEach(async () => {
  await memory?.close();
  await journal.close();
  await rm(home, { recursive: true, force: true });
});

async function openIndexed(): Promise<TestMemory> {
  memory = openTestMemory(join(home, "memory"), journal);
  for await (const progress of memory.index({ kind: "folder", folder: source }, never)) {
    if (!progress.ok) throw new Error(progress.failure.message);
  }
  return memory;
}

async function untilFound(owner: TestMemory, words: string, hits: number): Promise<void> {
  await expect.poll(async () => (await owner.find(words)).length, { timeout: FOUND_LIMIT_MS }).toBe(hits);
}

test("a watched folder that goes away takes its files with it, and brings them back when it returns", async () => {
  const owner = await openIndexed();
  owner.keepUp();
  await rename(source, join(home, "away"));
  await untilFound(owner, "kangaroo", 0);
  expect((await owner.desk.listed()).folders).toEqual([source]);
  await rename(join(home, "away"), source);
  await untilFound(owner, "kangaroo", 1);
  await writeFile(join(source, "b.md"), "wallaby");
  await untilFound(owner, "wallaby", 1);
}, 60_000);

test("a folder that went away while nobody watched is empty after the next start, and stays listed", async () => {
  await (await openIndexed()).close();
  await rename(source, join(home, "away"));
  memory = openTestMemory(join(home, "memory"), journal);
  expect(await memory.find("kangaroo")).toHaveLength(1);
  memory.keepUp();
  await untilFound(memory, "kangaroo", 0);
  expect((await memory.desk.listed()).folders).toEqual([source]);
  await rename(join(home, "away"), source);
  await untilFound(memory, "kangaroo", 1);
}, 60_000);

test("a file that took the place of a watched folder is no folder", async () => {
  const owner = await openIndexed();
  owner.keepUp();
  await rm(source, { recursive: true });
  await writeFile(source, "kangaroo");
  await untilFound(owner, "kangaroo", 0);
}, 60_000);
