import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { IndexProgress, MemoryHit, NoteDraft } from "../domain/memory.ts";
import { type JsonlJournal, openJournal } from "../journal/jsonl-journal.ts";
import { type MemoryPlace, NOWHERE, openMemoryPlace, type TestMemory } from "./fixtures/memory-bench.ts";
import type { MemoryOptions } from "./memory.ts";

const INDEX_CHILD = join(import.meta.dirname, "fixtures", "index-child.ts");
const never = new AbortController().signal;

let place: MemoryPlace<JsonlJournal>;
let home = "";
let source = "";
let lastId = 0;

beforeEach(async () => {
  place = await openMemoryPlace((dir) => openJournal({ dir, now: () => 0 }));
  ({ home, source } = place);
});
afterEach(() => place.close());

const open = (dir = join(home, "memory"), more: Partial<MemoryOptions> = {}) =>
  place.open({ newId: () => `note-${++lastId}`, ...more }, dir);

const note = (text: string, author: "owner" | "agent" = "agent"): NoteDraft => {
  return { text, author, viewer: NOWHERE, scope: "person" };
};

async function indexAll(memory: TestMemory, folder = source, signal = never): Promise<IndexProgress> {
  let last: IndexProgress | undefined;
  for await (const progress of memory.index({ kind: "folder", folder }, signal)) {
    if (!progress.ok) throw new Error(`${progress.failure.code}: ${progress.failure.message}`);
    last = progress.value;
  }
  if (last === undefined) throw new Error("no progress");
  return last;
}

function find(memory: TestMemory, text: string, limit = 10): Promise<readonly MemoryHit[]> {
  return memory.find(text, { limit });
}

const NOTHING_DONE = { files: 0, filesTotal: 0, chunks: 0, skipped: 0, removed: 0, done: true };
const paths = (hits: readonly MemoryHit[]) => hits.map((hit) => `${hit.path.replace(`${source}/`, "")}:${hit.line}`);

async function fillSource(files: number): Promise<void> {
  for (let file = 0; file < files; file += 1) {
    const parts = Array.from(
      { length: 12 },
      (_, part) => `## Part ${part}\n\nword${file} topic${part % 5} ${"filler ".repeat(30 + ((file * part) % 90))}`,
    );
    await writeFile(join(source, `f${file}.md`), parts.join("\n\n"));
  }
}

const QUERIES = ["word3 topic2", "topic4", "part 7 word11", "filler", "f20"];
const answers = (memory: TestMemory) => Promise.all(QUERIES.map((query) => find(memory, query, 25)));

test("a search finds files by their words and says where", async () => {
  await mkdir(join(source, "docs"));
  await writeFile(
    join(source, "docs", "guide.md"),
    "# Guide\n\nIntro.\n\n## Closing a journal\n\nCall close; handles are flushed.\n",
  );
  await writeFile(join(source, "server.ts"), "export function parseHttpRequest() {}\n");
  const memory = open();
  expect(await indexAll(memory)).toEqual({ ...NOTHING_DONE, files: 2, filesTotal: 2, chunks: 3 });
  const [hit] = await find(memory, "how do I close journals?");
  expect(hit).toEqual({
    ...{ id: expect.stringMatching(/^file:[0-9a-f]+$/), kind: "file", author: "file", sessionId: "" },
    ...{
      path: join(source, "docs", "guide.md"),
      line: 5,
      page: 0,
      title: expect.stringContaining("Closing a journal"),
    },
    text: expect.stringContaining("Call close; handles are flushed."),
    snippet: { text: expect.stringContaining("Call close"), marks: expect.any(Array) },
    score: 1 / 61,
    atMs: expect.any(Number),
    reason: { lexical: { rank: 1, score: expect.any(Number) }, recency: 1, importance: 1, folded: [] },
  });
  expect(hit?.snippet.marks.map(([start, end]) => hit.snippet.text.slice(start, end))).toContain("close");
  expect(paths(await find(memory, "http request"))).toEqual(["server.ts:1"]);
  expect(await find(memory, "nowhere")).toEqual([]);
});

test("what is binary, too large, ignored, linked or foreign to a project stays out", async () => {
  await mkdir(join(home, "outside"));
  await writeFile(join(home, "outside", "secret.md"), "marker outside");
  await symlink(join(home, "outside"), join(source, "linked"));
  await symlink(join(home, "outside", "secret.md"), join(source, "linked.md"));
  await writeFile(join(source, "binary.md"), "marker \0");
  await writeFile(join(source, "large.md"), `marker ${"x".repeat(10_500_000)}`);
  await writeFile(join(source, ".gitignore"), "ignored.md\n");
  for (const folder of ["node_modules", ".git", "dist", "sub"]) await mkdir(join(source, folder));
  for (const file of ["ignored.md", "node_modules/a.md", ".git/a.md", "dist/a.md", "sub/ignored.md", "sub/good.md"]) {
    await writeFile(join(source, file), "marker");
  }
  const memory = open();
  expect(await indexAll(memory)).toMatchObject({ files: 3, skipped: 2 });
  expect(paths(await find(memory, "marker"))).toEqual(["sub/good.md:1"]);
});

test("the daemon's own data is never indexed, though the folder around it is", async () => {
  await writeFile(join(home, "config.toml"), 'api_key = "sk-secret"');
  await writeFile(join(source, "mine.md"), "my words about sk-secret");
  const memory = open(join(home, "data/memory"), { dataDir: join(home, "data") });
  await mkdir(join(home, "data"), { recursive: true });
  await writeFile(join(home, "data/config.toml"), 'api_key = "sk-secret"');
  await indexAll(memory, home);
  const hits = await find(memory, "sk secret");
  expect(hits.map((hit) => hit.path).sort()).toEqual([join(home, "config.toml"), join(source, "mine.md")].sort());
});

test("changed, new, removed and restored files leave the index as if it were made fresh", async () => {
  await fillSource(24);
  const memory = open();
  await indexAll(memory);
  await writeFile(join(source, "f3.md"), "## Other\n\nword3 is now about kangaroos");
  await appendFile(join(source, "f4.md"), "\n\ntopic4 once more\n");
  await rm(join(source, "f5.md"));
  await writeFile(join(source, "new.md"), "kangaroos too");
  await indexAll(memory);
  await writeFile(join(source, "f5.md"), "word5 is back");
  expect(await indexAll(memory)).toMatchObject({ files: 25, done: true });
  expect(paths(await find(memory, "kangaroo")).sort()).toEqual(["f3.md:1", "new.md:1"]);
  const fresh = open(join(home, "fresh"));
  await indexAll(fresh);
  expect(await answers(memory)).toEqual(await answers(fresh));
  const [stats, freshStats] = [await memory.stats(), await fresh.stats()];
  expect(stats.ok && { ...stats.value, storeBytes: 0 }).toEqual(
    freshStats.ok && { ...freshStats.value, storeBytes: 0 },
  );
});

test("an index run that was killed changes no answer, and the next one goes on to the same index", async () => {
  await fillSource(140);
  const dir = join(home, "memory");
  const child = () => spawn(process.execPath, [INDEX_CHILD, dir, source], { stdio: ["ignore", "pipe", "inherit"] });
  for (const reports of [1, 2, 3]) {
    const running = child();
    const gone = once(running, "exit");
    let heard = 0;
    for await (const _ of createInterface({ input: running.stdout })) if (++heard === reports) running.kill("SIGKILL");
    await gone;
  }
  const memory = open(dir);
  const before = await find(memory, "topic4");
  expect(before.length === 0 || before.length === 10).toBe(true);
  expect(await indexAll(memory)).toMatchObject({ files: 140, chunks: 1_680, done: true });
  const fresh = open(join(home, "fresh"));
  await indexAll(fresh);
  expect(await answers(memory)).toEqual(await answers(fresh));
}, 30_000);

test("an aborted run says so, keeps the old answers, and searches go on meanwhile", async () => {
  await writeFile(join(source, "old.md"), "kangaroo");
  const memory = open();
  await indexAll(memory);
  await fillSource(200);
  await rm(join(source, "old.md"));
  const stop = new AbortController();
  const codes: string[] = [];
  for await (const progress of memory.index({ kind: "folder", folder: source }, stop.signal)) {
    codes.push(progress.ok ? "ok" : progress.failure.code);
    stop.abort();
  }
  expect(codes).toEqual(["ok", "cancelled"]);
  expect(paths(await find(memory, "kangaroo topic1"))).toEqual(["old.md:1"]);
  let running = true;
  const seen = new Set<string>();
  const indexing = indexAll(memory).finally(() => {
    running = false;
  });
  while (running) seen.add(`${paths(await find(memory, "kangaroo topic1", 25)).length}`);
  await indexing;
  expect([...seen].filter((hits) => hits !== "1" && hits !== "25")).toEqual([]);
  expect(paths(await find(memory, "kangaroo"))).toEqual([]);
});

test("a reader that leaves early stops the run, one that never reads does not block the next", async () => {
  await fillSource(30);
  const memory = open();
  for await (const _ of memory.index({ kind: "folder", folder: source }, never)) break;
  const unread = memory.index({ kind: "folder", folder: source }, never)[Symbol.asyncIterator]();
  await unread.next();
  expect(await indexAll(memory)).toMatchObject({ files: 30, done: true });
});

test("a deleted, damaged or foreign store is rebuilt from its folders before it answers", async () => {
  await fillSource(12);
  const first = open();
  await indexAll(first);
  const expected = await answers(first);
  await first.close();
  const file = join(home, "memory", "memory.duckdb");
  const damages = [
    () => rm(file),
    () => writeFile(file, "no database"),
    () => writeFile(file, ""),
    async () => {
      const bytes = await readFile(file);
      await writeFile(file, bytes.fill(0x5a, 300_000, 310_000));
    },
  ];
  for (const damage of damages) {
    await damage();
    const memory = open();
    expect(await answers(memory)).toEqual(expected);
    await memory.close();
  }
  expect((await readdir(join(home, "memory"))).sort()).toEqual([
    "memory.duckdb",
    "memory.duckdb.aside",
    "segments",
    "sources.json",
  ]);
});

test("a store that another process or another opening holds is refused by name", async () => {
  await writeFile(join(source, "a.md"), "kangaroo");
  const dir = join(home, "memory");
  const holder = spawn(process.execPath, [INDEX_CHILD, dir, source, "stay"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = once(holder, "exit");
  for await (const line of createInterface({ input: holder.stdout })) if (line === "done") break;
  const refused = await open(dir).answer("kangaroo");
  expect(refused.ok ? refused : [refused.failure.code, refused.failure.message]).toEqual([
    "conflict",
    `${join(dir, "memory.duckdb")} is in use by process ${holder.pid}`,
  ]);
  holder.kill("SIGKILL");
  await gone;
  const owner = open(dir);
  await indexAll(owner);
  expect(paths(await find(owner, "kangaroo"))).toEqual(["a.md:1"]);
  const second = await open(dir).answer("kangaroo");
  expect(second.ok ? second : second.failure.code).toBe("conflict");
});

test("a note is durable and found at once, beside files, and gone when forgotten", async () => {
  await writeFile(join(source, "a.md"), "The kangaroo jumps over the fence of the garden.");
  const memory = open();
  await indexAll(memory);
  const kept = await memory.remember(note("The kangaroo is called Skippy", "owner"));
  const other = await memory.remember(note("Deploys happen on Fridays", "agent"));
  if (!kept.ok || !other.ok) throw new Error("not remembered");
  const hits = await find(memory, "kangaroo skippy");
  expect(hits.map(({ id, path, line, text, author }) => ({ id, path, line, text, author }))).toEqual([
    { id: kept.value.id, path: "", line: 0, text: "The kangaroo is called Skippy", author: "owner" },
    {
      id: expect.stringMatching(/^file:/),
      path: join(source, "a.md"),
      line: 1,
      text: expect.any(String),
      author: "file",
    },
  ]);
  const onlyNotes = await memory.find("kangaroo", { filter: { kinds: ["note"] } });
  expect(onlyNotes.map(({ id }) => id)).toEqual([kept.value.id]);
  await memory.close();
  await rm(join(home, "memory"), { recursive: true });
  const again = open();
  expect((await find(again, "deploys")).map(({ id, author }) => [id, author])).toEqual([[other.value.id, "agent"]]);
  expect((await again.forget([kept.value.id], NOWHERE)).ok).toBe(true);
  expect(await find(again, "skippy")).toEqual([]);
  const twice = await again.forget([kept.value.id], NOWHERE);
  expect(twice.ok || twice.failure.code).toBe("not_found");
  const chunk = await again.forget(["file:0a"], NOWHERE);
  expect(chunk.ok || chunk.failure.code).toBe("invalid");
  expect(await again.stats()).toEqual({
    ok: true,
    value: {
      ...{ files: 0, chunks: 0, notes: 1, storeBytes: 0, folders: [], sources: [], messages: 0 },
      ...{
        skipped: 0,
        removed: 0,
        errors: 0,
        embedder: "",
        embedded: 0,
        toEmbed: 0,
        withoutVector: 0,
        storeLimitBytes: 0,
      },
    },
  });
});

test("a broken journal of notes is told as what it is, and costs the store nothing", async () => {
  await writeFile(join(source, "a.md"), "kangaroo");
  const memory = open();
  await indexAll(memory);
  const notesFile = join(home, "journal", "memory.jsonl");
  await writeFile(notesFile, "nonsense\n");
  const refusal = { ok: false, failure: { code: "corrupt", message: expect.stringContaining("broken at line 1") } };
  expect(await memory.answer("kangaroo")).toMatchObject(refusal);
  expect(await memory.remember(note("tea", "owner"))).toMatchObject(refusal);
  expect(await readdir(join(home, "memory"))).not.toContain("memory.duckdb.aside");
  await rm(notesFile);
  expect(paths(await find(memory, "kangaroo"))).toEqual(["a.md:1"]);
});

test("many notes at once are all kept, whoever else writes to their journal, and wrong ones are refused", async () => {
  const [memory, rival] = [open(), open(join(home, "rival"))];
  const written = await Promise.all(
    Array.from({ length: 600 }, (_, index) => memory.remember(note(`note number${index}`, "agent"))),
  );
  expect(written.every((each) => each.ok)).toBe(true);
  expect((await rival.remember(note("the rival writes number7", "owner"))).ok).toBe(true);
  expect((await memory.remember(note("after the rival number7", "owner"))).ok).toBe(true);
  expect((await find(memory, "number7", 3)).map(({ text }) => text).sort()).toEqual([
    "after the rival number7",
    "note number7",
    "the rival writes number7",
  ]);
  const codes = await Promise.all(["  ", "x".repeat(16_385)].map((text) => memory.remember(note(text))));
  expect(codes.map((each) => each.ok || each.failure.code)).toEqual(["invalid", "invalid"]);
});

test("memory touches no disk and starts nothing before it is needed", async () => {
  const memory = open();
  expect(await find(memory, "anything")).toEqual([]);
  const missing = [];
  for await (const progress of memory.index({ kind: "folder", folder: join(home, "nowhere") }, never))
    missing.push(progress.ok || progress.failure.code);
  expect(missing).toEqual(["not_found"]);
  const file = [];
  await writeFile(join(home, "plain"), "");
  for await (const progress of memory.index({ kind: "folder", folder: join(home, "plain") }, never))
    file.push(progress.ok || progress.failure.code);
  expect(file).toEqual(["invalid"]);
});

test("a folder that vanished is emptied when it is indexed again", async () => {
  await writeFile(join(source, "a.md"), "kangaroo");
  const memory = open();
  await indexAll(memory);
  await rm(source, { recursive: true });
  expect(await indexAll(memory)).toEqual({ ...NOTHING_DONE, removed: 1 });
  expect(await find(memory, "kangaroo")).toEqual([]);
  await expect(indexAll(memory)).rejects.toThrow(`not_found: ${source} is gone, and nothing of it is in the index`);
  await expect(indexAll(memory, join(source, "below"))).rejects.toThrow(
    `not_found: there is no folder ${source}/below`,
  );
  expect((await memory.desk.listed()).folders).toEqual([source]);
});

test("nothing is done after close, and close waits for what runs", async () => {
  await fillSource(40);
  const memory = open();
  const running = memory.index({ kind: "folder", folder: source }, never)[Symbol.asyncIterator]();
  await running.next();
  await memory.close();
  const late = await memory.answer("topic1");
  expect(late.ok || late.failure.code).toBe("unavailable");
});

test("what was counted of a folder goes with it, and a folder around others takes their place in the count", async () => {
  const inner = join(source, "inner");
  await mkdir(inner);
  for (const folder of [source, inner]) {
    await writeFile(join(folder, "binary.md"), "kangaroo \0");
    await writeFile(join(folder, "a.md"), "kangaroo");
  }
  const memory = open();
  const counted = async () => {
    const stats = await memory.stats();
    if (!stats.ok) throw new Error(stats.failure.message);
    return [stats.value.files, stats.value.skipped, stats.value.removed];
  };
  await indexAll(memory, inner);
  await rm(join(inner, "a.md"));
  await indexAll(memory, inner);
  expect(await counted()).toEqual([0, 1, 1]);
  await indexAll(memory);
  expect(await counted()).toEqual([1, 2, 0]);
  // A part of it that is looked at again says nothing of the whole.
  await indexAll(memory, inner);
  expect(await counted()).toEqual([1, 2, 0]);
  for await (const progress of memory.index({ kind: "dropFolder", folder: source }, never))
    expect(progress.ok).toBe(true);
  expect(await counted()).toEqual([0, 0, 0]);
});

test("at its limit memory indexes nothing more, says so, and goes on finding what it has and keeping notes", async () => {
  const settings = { rrf: "weighted", halfLifeDays: 0, vectorWeight: undefined, conversations: false } as const;
  await fillSource(2);
  const first = open();
  await indexAll(first);
  const stats = await first.stats();
  await first.close();
  const storeLimitBytes = stats.ok ? stats.value.storeBytes : 0;
  const memory = open(join(home, "memory"), { settings: { ...settings, storeLimitBytes } });
  await writeFile(join(source, "more.md"), "a wallaby too many");
  const outcome = await memory.desk.bring({ kind: "folder", folder: source }, never);
  expect(outcome).toMatchObject({
    ok: false,
    failure: { code: "exhausted", hint: expect.stringContaining("store_limit_mib") },
  });
  expect(memory.indexProblems()).toMatchObject([{ code: "exhausted" }]);
  expect(await find(memory, "word1")).not.toEqual([]);
  expect(await find(memory, "wallaby")).toEqual([]);
  await memory.remember(note("a wallaby in a note"));
  expect(await find(memory, "wallaby")).toHaveLength(1);
  expect(await memory.stats()).toMatchObject({ ok: true, value: { storeLimitBytes, files: 2 } });
  // What only goes away needs no room.
  await rm(join(source, "more.md"));
  await rm(join(source, "f1.md"));
  await indexAll(memory);
  expect(await find(memory, "+word1")).toEqual([]);
  expect(memory.indexProblems()).toEqual([]);
});
