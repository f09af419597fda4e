import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docsSet } from "../../../bench/eval-docs.ts";
import { EMPTY_WORDS, RECALL_NOTES, RELATED, UNRELATED } from "../../../bench/eval-recall.ts";
import type { NoteDraft } from "../../domain/memory.ts";
import { type JsonlJournal, openJournal } from "../../journal/jsonl-journal.ts";
import { NOWHERE, openTestMemory, type TestMemory } from "../fixtures/memory-bench.ts";
import { turnRecall } from "./turn-recall.ts";

const ROOT = join(import.meta.dirname, "../../..");
const LIMITS = { recallTokens: 1_000, recallNotes: 3, recallDocuments: 3 };
const never = new AbortController().signal;

let home = "";
let journal: JsonlJournal;
let memory: TestMemory;
/** Of the note with this number in the list. */
const noteIds: string[] = [];

const draft = (text: string): NoteDraft => ({ text, author: "owner", viewer: NOWHERE, scope: "person" });

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-recall-"));
  const opened = await openJournal({ dir: join(home, "journal"), now: () => 0 });
  if (!opened.ok) throw new Error(opened.failure.message);
  journal = opened.value;
  const embedder = () => ({ kind: "computed", name: "builtin" }) as const;
  memory = openTestMemory(join(home, "memory"), journal, { embedder });
  for (const text of RECALL_NOTES) {
    const kept = await memory.remember(draft(text));
    if (!kept.ok) throw new Error(kept.failure.message);
    noteIds.push(kept.value.id);
  }
  for await (const each of memory.index({ kind: "folder", folder: join(ROOT, "docs") }, never))
    if (!each.ok) throw new Error(each.failure.message);
  await memory.embedded();
}, 60_000);

afterAll(async () => {
  await memory.close();
  await journal.close();
  await rm(home, { recursive: true, force: true });
});

async function recalled(words: string): Promise<readonly string[]> {
  return (await turnRecall(memory, LIMITS, () => false)(words, NOWHERE, never))?.memoryIds ?? [];
}

async function recalledOfAll(messages: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = new Map<string, readonly string[]>();
  for (const words of messages) {
    const found = await recalled(words);
    if (found.length > 0) all.set(words, found);
  }
  return all;
}

const isNote = (id: string) => noteIds.includes(id);

test("nine of ten messages that a note bears on bring it along", async () => {
  const missed: string[] = [];
  for (const [words, number] of RELATED)
    if (!(await recalled(words)).includes(noteIds[number] ?? "")) missed.push(words);
  expect(RELATED.length).toBeGreaterThanOrEqual(60);
  expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(RELATED.length * 0.1);
});

test("of the messages that nothing bears on one in twenty at most brings something along", async () => {
  const found = await recalledOfAll(UNRELATED);
  const told = JSON.stringify([...found]);
  expect(UNRELATED.length).toBeGreaterThanOrEqual(60);
  expect(found.size, told).toBeLessThanOrEqual(UNRELATED.length * 0.05);
});

test("thanks, a nod and a command bring nothing along", async () => {
  expect(await recalledOfAll(EMPTY_WORDS)).toEqual(new Map());
});

test("a question about one note brings that note and no pieces of files that say something else", async () => {
  const around: string[] = [];
  for (const [words, number] of RELATED)
    around.push(...(await recalled(words)).filter((id) => id !== noteIds[number]).map((id) => `${id} ${words}`));
  const files = around.filter((line) => !isNote(line.split(" ")[0] ?? ""));
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(RELATED.length * 0.15);
  expect(around.length, around.join("\n")).toBeLessThanOrEqual(RELATED.length * 0.5);
});

test("questions about the documents bring pieces of them along", async () => {
  const { queries } = docsSet(ROOT);
  const found = await recalledOfAll(queries.map(({ text }) => text));
  expect(found.size).toBeGreaterThanOrEqual(queries.length * 0.6);
});

test("what is shown is not what is said: code between fences and long pastes recall nothing by chance", async () => {
  const { documents } = docsSet(ROOT);
  const shown = documents
    .map(({ text }) => text)
    .join("\n")
    .replaceAll("`", "'")
    .slice(0, 10_000);
  expect(await recalled(`What do you think?\n\`\`\`ts\n${shown}\n\`\`\`\n`)).toEqual([]);
  expect(await recalled(`What do you think?\n~~~\n${shown}`)).toEqual([]);
  expect(await recalled(`Which tea?\n\`\`\`\n${shown}\n\`\`\`\n`)).toEqual([noteIds[0]]);
});

test("the first note of a house is recalled by its words and by no others", async () => {
  const folder = join(home, "small");
  const opened = await openJournal({ dir: join(folder, "journal"), now: () => 0 });
  if (!opened.ok) throw new Error(opened.failure.message);
  const small = openTestMemory(join(folder, "memory"), opened.value);
  try {
    await small.remember(draft(RECALL_NOTES[0] ?? ""));
    const recall = turnRecall(small, LIMITS, () => false);
    expect((await recall("which tea do I like?", NOWHERE, never))?.memoryIds).toHaveLength(1);
    for (const words of [...UNRELATED, ...EMPTY_WORDS]) expect(await recall(words, NOWHERE, never)).toBeUndefined();
  } finally {
    await small.close();
    await opened.value.close();
  }
});
