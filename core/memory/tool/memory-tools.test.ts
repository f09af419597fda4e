import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runFolder } from "../../../tests/kit/run-folder.ts";
import { quietDesk } from "../../domain/desk.ts";
import { fail, ok } from "../../domain/failure.ts";
import type { Tool } from "../../domain/tool.ts";
import { type JsonlJournal, openJournal } from "../../journal/jsonl-journal.ts";
import { schemaCheck } from "../../session/turn/schema-check.ts";
import { type OpenMemory, openMemory } from "../memory.ts";
import { type MemoryPool, memoryPool } from "../worker/memory-pool.ts";
import { memoryCommands } from "./memory-commands.ts";
import { memoryTools } from "./memory-tools.ts";

const START_MS = Date.UTC(2026, 4, 1);
const MINUTE_MS = 60_000;
const signal = new AbortController().signal;

let home = "";
let workspace = "";
let nowMs = START_MS;
let journal: JsonlJournal;
let pool: MemoryPool;
let memory: OpenMemory;
let tools: readonly Tool[] = [];
let notes = 0;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-memory-tools-"));
  workspace = join(home, "work");
  await mkdir(workspace);
  nowMs = START_MS;
  notes = 0;
  const opened = await openJournal({ dir: join(home, "journal"), now: () => nowMs });
  if (!opened.ok) throw new Error(opened.failure.message);
  journal = opened.value;
  pool = memoryPool(runFolder().memoryWorkerFile);
  await mkdir(join(home, "data"));
  memory = openMemory({
    ...{ dir: join(home, "data", "memory"), dataDir: join(home, "data"), pool, journal },
    settings: { rrf: "weighted", vectorWeight: undefined, halfLifeDays: 0, conversations: true, storeLimitBytes: 0 },
    embedder: () => ({ kind: "computed", name: "builtin" }),
    readPdf: async () => fail("invalid", "no PDF is read here"),
    ...{ sources: () => [], now: () => nowMs, ticks: () => performance.now(), random: () => 0.5 },
    newId: () => {
      notes += 1;
      return `n${notes}`;
    },
    complain: (cause) => {
      throw cause;
    },
  });
  tools = memoryTools({ memory, journal, now: () => nowMs });
});
afterEach(async () => {
  await memory.close();
  await pool.close();
  await journal.close();
  await rm(home, { recursive: true, force: true });
});

function run(name: string, args: JsonObject, sessionId = "here") {
  const tool = tools.find((one) => one.name === name || one.aliases.includes(name));
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const misfit = schemaCheck()(tool, args);
  if (misfit !== undefined) return Promise.resolve({ status: "failed", output: misfit.message } as const);
  return tool.run(args, {
    ...{ sessionId, callId: "c", workspace, signal, progress: () => {} },
    desk: quietDesk(async () => ok(undefined)),
  });
}

async function told<T = JsonObject>(name: string, args: JsonObject, sessionId = "here"): Promise<T> {
  const outcome = await run(name, args, sessionId);
  if (outcome.status === "failed") throw new Error(outcome.output);
  return JSON.parse(outcome.output) as T;
}

type Found = { results: JsonObject[]; count: number };
type Recalled = {
  memories: { memory_id: string; score: number; content: string; type: string; metadata: JsonObject }[];
  messages: { age: string; text: string; score: number }[];
  message: string;
};

async function index(): Promise<void> {
  for await (const progress of memory.index({ kind: "folder", folder: workspace }, signal)) {
    if (!progress.ok) throw new Error(progress.failure.message);
  }
  await memory.embedded();
}

/** A conversation with what a person said in it, a minute after the one before. */
async function converse(sessionId: string, ...said: readonly string[]): Promise<void> {
  await journal.create(sessionId);
  let seq = 1;
  await journal.append(sessionId, 0, [{ case: "sessionOpened", value: { sessionId, workspace, title: "" } }]);
  for (const text of said) {
    const written = await journal.append(sessionId, seq, [
      { case: "userSpoke", value: { messageId: `${sessionId}-${seq}`, text } },
    ]);
    if (!written.ok) throw new Error(written.failure.message);
    seq += 1;
    nowMs += MINUTE_MS;
  }
}

test("memory_search gives path, line, score, snippet, legs and whose words these are", async () => {
  await writeFile(join(workspace, "tea.md"), "\nGreen tea wants 70 degrees.\n");
  await writeFile(join(workspace, "coffee.md"), "Coffee wants 92 degrees.\n");
  await index();
  const found = await told<Found>("memory_search", { query: "green tea temperature" });
  expect(found.count).toBe(found.results.length);
  expect(found.results[0]).toMatchObject({
    document_id: expect.any(String),
    path: "tea.md",
    line: 2,
    score: expect.any(Number),
    snippet: expect.stringContaining("Green tea wants 70 degrees."),
    kind: "file",
    author: "file",
    why: { fts: { rank: 1 } },
  });
  const sources = async (source: string) =>
    new Set((await told<Found>("memory_search", { query: "green tea", source })).results.map((one) => one.source));
  expect(await sources("fts")).toEqual(new Set(["fts"]));
  expect(await sources("vector")).toEqual(new Set(["vector"]));
  expect(await sources("hybrid")).toContain("hybrid");
  expect(await sources("whatever")).toContain("hybrid");
});

test("a snippet is the first 500 characters, none of them cut in two", async () => {
  await writeFile(join(workspace, "long.txt"), `needle ${"🜁".repeat(593)}\n`);
  await index();
  const { results } = await told<Found>("memory_search", { query: "needle" });
  const snippet = String(results[0]?.snippet);
  expect([...snippet]).toHaveLength(503);
  expect(snippet.endsWith("🜁...")).toBe(true);
  expect(snippet.isWellFormed()).toBe(true);
});

test("without a query it says which field is missing; without a hit it says so", async () => {
  expect((await run("memory_search", {})).output).toContain("Missing required field 'query'");
  expect(await told("memory_search", { query: "zebra" })).toMatchObject({
    results: [],
    count: 0,
    message: expect.stringMatching(/^Nothing/),
  });
  expect((await run("memory_search", { query: "x", after: "yesterday-ish" })).output).toContain("is no date");
});

test("filters narrow by kind, path and time", async () => {
  await mkdir(join(workspace, "src"));
  await writeFile(join(workspace, "src", "a.md"), "harbour in the source\n");
  await writeFile(join(workspace, "b.md"), "harbour elsewhere\n");
  await index();
  await told("remember", { text: "the harbour freezes", labels: ["sea"] });
  const paths = async (args: JsonObject) =>
    (await told<Found>("memory_search", { query: "harbour", ...args })).results.map((one) => one.path);
  expect((await paths({ kind: "file" })).sort()).toEqual(["b.md", "src/a.md"]);
  expect(await paths({ kind: "file", path: "src" })).toEqual(["src/a.md"]);
  expect(await paths({ kind: "note" })).toEqual([""]);
  expect(await paths({ label: "sea" })).toEqual([""]);
  expect(await paths({ kind: "note", before: "2026-04-30" })).toEqual([]);
  expect(await paths({ kind: "note", after: "2d" })).toEqual([""]);
});

test("whoever remembers hears of notes about the same matter, that one of them may not hold any more", async () => {
  const similarTo = async (text: string, more: JsonObject = {}) => {
    const kept = await told<{ similar: { memory_id: string }[]; hint?: string }>("remember", { text, ...more });
    expect(kept.hint === undefined).toBe(kept.similar.length === 0);
    return kept.similar.map(({ memory_id }) => memory_id);
  };
  expect(await similarTo("The owner's dentist is Doctor Yilmaz, near the station.")).toEqual([]);
  expect(await similarTo("Deployments happen on Tuesdays.")).toEqual([]);
  expect(await similarTo("The dentist is Doctor Okafor in Bergweg now.")).toEqual(["n1"]);
  expect(await similarTo("Deployments happen on Wednesdays.", { supersedes: "n2" })).toEqual([]);
  expect(await similarTo("deployments happen on wednesdays")).toEqual(["n4"]);
  expect(await similarTo("The owner sings in a choir.")).toEqual([]);
});

test("a note is remembered as the agent's, recalled with all that was said of it, and forgotten with a preview", async () => {
  const text = `The owner drinks green tea. ${"x".repeat(100)}`;
  const kept = await told("remember", {
    ...{ content: text, type: "preference", importance: "high", source: "email", labels: ["drinks"], expires: "7d" },
  });
  expect(kept).toEqual({
    success: true,
    memory_id: "n1",
    metadata: {
      ...{ timestamp: "2026-05-01T00:00:00.000Z", type: "preference", importance: "high" },
      ...{ scope: "person", source: "email" },
    },
    similar: [],
  });
  const { memories } = await told<Recalled>("recall_memories", { query: "green tea", k: 1 });
  expect(memories).toEqual([
    {
      ...{ memory_id: "n1", score: expect.any(Number), content: text, type: "preference" },
      metadata: {
        ...{ timestamp: "2026-05-01T00:00:00.000Z", author: "agent", scope: "person", importance: "high" },
        ...{ source: "email", labels: ["drinks"], expires: "2026-05-08T00:00:00.000Z" },
      },
    },
  ]);
  expect(await told("forget_memory", { memory_id: "n1" })).toEqual({
    ...{ success: true, memory_id: "n1" },
    preview: text.slice(0, 50),
  });
  expect((await told<Recalled>("recall", { query: "green tea" })).memories).toEqual([]);
  expect(await run("forget", { id: "n1" })).toMatchObject({ status: "failed", failure: { code: "not_found" } });
  expect(await told("remember", { text: "another" })).toMatchObject({ memory_id: "n2" });
});

test("ten notes: the one that is asked for comes first, five in all", async () => {
  const about = ["bees", "boats", "bread", "bikes", "books", "birds", "banks", "bells", "bones", "bridges"];
  for (const word of about) await told("remember", { text: `a note about ${word}` });
  const { memories } = await told<Recalled>("recall", { query: "a note about bread" });
  expect(memories[0]?.content).toBe("a note about bread");
  expect(memories).toHaveLength(5);
  const scores = memories.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
});

test("a note of one conversation or another folder is not for others; what is missing is named", async () => {
  await told("remember", { text: "secret harbour", scope: "session" }, "here");
  expect((await told<Recalled>("recall", { query: "harbour" }, "here")).memories).toHaveLength(1);
  expect((await told<Recalled>("recall", { query: "harbour" }, "there")).memories).toEqual([]);
  expect(await run("forget", { memory_id: "n1" }, "there")).toMatchObject({ failure: { code: "not_found" } });
  expect((await run("remember", {})).output).toContain("Missing required field 'text'");
  expect((await run("forget", {})).output).toContain("Missing required field 'memory_id'");
  expect((await run("remember", { text: "x", expires: "soon" })).output).toContain("is no date");
});

test("recall finds what the person said elsewhere by characters that match, newest first, with ages", async () => {
  await converse("old", "I like the harbour", "winter in the harbour is cold", "100% sure_thing");
  await converse("here", "harbour winter in this conversation");
  nowMs += 3 * 60 * MINUTE_MS;
  await converse("new", "the harbour again", `harbour ${"é".repeat(200)}`);
  const { messages, message } = await told<Recalled>("recall", { query: "Winter HARBOUR" });
  expect(messages.map(({ text, age, score }) => [text.slice(0, 30), age, score])).toEqual([
    ["winter in the harbour is cold", "3h ago", 13],
    [`harbour ${"é".repeat(22)}`, "1min ago", 7],
    ["the harbour again", "2min ago", 7],
  ]);
  expect([...(messages[1]?.text ?? "")]).toHaveLength(100);
  expect(message).toBe("0 notes and 3 past messages found");
  const literal = async (query: string) =>
    (await told<Recalled>("recall", { query })).messages.map(({ text }) => text.slice(0, 8));
  expect(await literal("100%")).toEqual(["100% sur"]);
  expect(await literal("e_t")).toEqual(["100% sur"]);
  expect(await literal("o%r")).toEqual([]);
  const none = await told<Recalled>("recall", { query: "zebra" });
  expect(none).toEqual({ success: true, memories: [], messages: [], message: "0 notes and 0 past messages found" });
  nowMs += 49 * 60 * MINUTE_MS;
  await converse("later", "harbour news");
  nowMs -= MINUTE_MS;
  const later = await told<Recalled>("recall", { query: "harbour news" });
  expect(later.messages.map(({ age }) => age)).toEqual(["<1min ago", "2d ago", "2d ago"]);
  await journal.remove("later");
  expect((await told<Recalled>("recall", { query: "news" })).messages).toEqual([]);
  expect((await run("recall", { query: "x".repeat(201) })).status).toBe("failed");
});

test("where past conversations are not to be found, recall tells of notes alone", async () => {
  await converse("old", "I like the harbour");
  await run("remember", { text: "the harbour freezes in winter" });
  tools = memoryTools({ memory, journal: undefined, now: () => nowMs });
  const { memories, messages } = await told<Recalled>("recall", { query: "harbour" });
  expect([memories.length, messages]).toEqual([1, []]);
});

test("/memory shows what was remembered, finds it, forgets it, and counts", async () => {
  const commands = new Map(memoryCommands(memory, () => nowMs).map((command) => [command.name, command]));
  const say = async (line: string) => {
    const [, name = "", args = ""] = /^\/(\w+)\s*(.*)$/.exec(line) ?? [];
    const desk = quietDesk(async () => ok(undefined));
    const outcome = await commands.get(name)?.run({ args, sessionId: "here", workspace, desk }, signal);
    if (outcome === undefined) throw new Error(`there is no /${name}`);
    return outcome.ok ? `${outcome.value.do}: ${outcome.value.text}` : outcome.failure.message;
  };
  expect(await say("/memory")).toContain("no notes");
  await told("remember", { text: "The harbour\nfreezes in winter", importance: "high" });
  expect(await say("/remember tea is green")).toBe("show: Remembered as note n2.");
  nowMs += 5 * MINUTE_MS;
  expect((await say("/memory list")).split("\n")).toEqual([
    "show: n2  tea is green  (by owner, 5min ago)",
    "n1  The harbour freezes in winter  (by agent, 5min ago, high)",
  ]);
  expect(await say("/memory search harbour")).toContain("note n1 by agent");
  expect(await say("/memory forget n1")).toContain("Forgot note n1: The harbour");
  expect(await say("/forget n1")).toContain("n1");
  expect(await say("/memory list")).not.toContain("harbour");
  expect(await say("/memory stats")).toMatch(/^show: 1 note, 0 files/);
  expect(await say("/memory dance")).toContain('knows no "dance"');
  expect(await say("/memory toString")).toContain('knows no "toString"');
  expect(await say("/forget")).toContain("no note was named");
});
