import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { timesOf } from "../../tests/kit/thoroughness.ts";
import type { Embedder } from "../domain/embedder.ts";
import { ok, type Result } from "../domain/failure.ts";
import type { IndexProgress } from "../domain/memory.ts";
import { type JsonlJournal, openJournal } from "../journal/jsonl-journal.ts";
import { type MemoryPlace, openMemoryPlace, type TestMemory } from "./fixtures/memory-bench.ts";
import type { MemoryOptions } from "./memory.ts";

const REBUILD_CHILD = join(import.meta.dirname, "fixtures", "rebuild-child.ts");
/** At how many places of a rebuilding its process is killed. */
const KILL_POINTS = timesOf("places of a rebuilding at which its process is killed", { whole: 60, share: 8 });
const FULL_DISK_MIB = 160;
const never = new AbortController().signal;

const disk = mkdtempSync(join(tmpdir(), "clawd-rebuild-disk-"));
mkdirSync(join(disk, "small"));
const small = join(disk, "small");
const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${FULL_DISK_MIB}m`, "tmpfs", small]).status === 0;
if (!isMounted) console.warn("a rebuilding on a full disk is not tried: only root can mount a small one");

let place: MemoryPlace<JsonlJournal>;
let dir = "";

afterAll(() => {
  if (isMounted) spawnSync("umount", ["-l", small]);
  rmSync(disk, { recursive: true, force: true });
});

beforeEach(async () => {
  place = await openMemoryPlace((folder) => openJournal({ dir: folder, now: () => 0 }));
  dir = join(place.home, "memory");
});
afterEach(() => place.close());

const write = (name: string, text: string) => writeFile(join(place.source, name), text);

/** A source that can be told to hold a run up. Sources are read after folders. */
function openGate() {
  let held: { readonly reached: () => void; readonly goOn: Promise<void> } | undefined;
  const source = {
    name: "plugin:gate/source",
    description: "holds a run up",
    async *documents() {
      held?.reached();
      await held?.goOn;
      yield ok({ id: "1", title: "", text: "a quokka of the source" });
    },
  };
  return {
    source,
    /** The next run waits here. */
    hold() {
      const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { reached: reached.resolve, goOn: goOn.promise };
      return {
        reached: reached.promise,
        open() {
          held = undefined;
          goOn.resolve();
        },
      };
    },
  };
}

async function rebuild(memory: TestMemory, signal = never): Promise<Result<IndexProgress>> {
  let last: Result<IndexProgress> | undefined;
  for await (const progress of memory.rebuild(signal)) last = progress;
  if (last === undefined) throw new Error("nothing was reported");
  return last;
}

/** A memory with one file, "kangaroo", and the source behind a gate. */
async function openIndexed(more: Partial<MemoryOptions> = {}, at = dir) {
  const gate = openGate();
  const memory = place.open({ sources: () => [gate.source], ...more }, at);
  await write("a.md", "one kangaroo");
  expect((await memory.desk.bring({ kind: "folder", folder: place.source }, never)).ok).toBe(true);
  expect((await memory.desk.bring({ kind: "source", name: gate.source.name }, never)).ok).toBe(true);
  return { memory, gate };
}

const isThere = async (memory: TestMemory, word: string) => (await memory.find(word)).length === 1;

async function expectWhole(memory: TestMemory, at = dir): Promise<void> {
  expect(await memory.verify(never)).toEqual({ ok: true, value: [] });
  expect((await readdir(at)).filter((name) => name.startsWith("rebuil"))).toEqual([]);
}

test("a search during a rebuilding answers from the state before it, and from the new one after it", async () => {
  const { memory, gate } = await openIndexed();
  await write("a.md", "one wallaby");
  const gateway = gate.hold();
  const running = rebuild(memory);
  await gateway.reached;
  expect(await isThere(memory, "kangaroo")).toBe(true);
  expect(await isThere(memory, "wallaby")).toBe(false);
  expect(await memory.stats()).toMatchObject({ ok: true, value: { files: 1, chunks: 2 } });
  gateway.open();
  expect(await running).toMatchObject({ ok: true, value: { files: 1, chunks: 2, done: true } });
  expect(await isThere(memory, "kangaroo")).toBe(false);
  expect(await isThere(memory, "wallaby")).toBe(true);
  expect(await isThere(memory, "quokka")).toBe(true);
  await expectWhole(memory);
});

test("the new store has its vectors when it takes its place, and those that were paid for are not asked for again", async () => {
  let asked = 0;
  const embedder: Embedder = {
    id: "paid",
    dimensions: 4,
    async embed(texts, kind) {
      if (kind === "document") asked += texts.length;
      return ok(texts.map((text) => Float32Array.of(text.length, 1, 2, 3)));
    },
  };
  const { memory } = await openIndexed({ embedder: () => ({ kind: "asked", embedder }) });
  await memory.stats();
  await memory.embedded();
  expect(asked).toBe(2);
  await write("b.md", "a second file");
  expect((await rebuild(memory)).ok).toBe(true);
  const blocks = (await readdir(join(dir, "segments"))).filter((name) => name.endsWith(".vec"));
  expect(blocks).toHaveLength(1);
  expect(asked).toBe(3);
  await memory.find("kangaroo");
  await memory.embedded();
  expect(asked).toBe(3);
  expect(await memory.stats()).toMatchObject({ ok: true, value: { embedded: 3, toEmbed: 0 } });
  await expectWhole(memory);
});

test("a rebuilding that is cancelled leaves the store that was there", async () => {
  const { memory, gate } = await openIndexed();
  await write("a.md", "one wallaby");
  const gateway = gate.hold();
  const stop = new AbortController();
  const running = rebuild(memory, stop.signal);
  await gateway.reached;
  stop.abort();
  gateway.open();
  expect(await running).toMatchObject({ ok: false, failure: { code: "cancelled" } });
  await memory.desk.idle();
  expect(await isThere(memory, "kangaroo")).toBe(true);
  expect(await isThere(memory, "wallaby")).toBe(false);
  expect(memory.indexProblems()).toEqual([]);
  await expectWhole(memory);
});

test("what changes during a rebuilding is brought in when it is done, and two at once come one after the other", async () => {
  const { memory, gate } = await openIndexed();
  const gateway = gate.hold();
  const both = [rebuild(memory), rebuild(memory)];
  await gateway.reached;
  await write("b.md", "one wombat");
  await rm(join(place.source, "a.md"));
  const caughtUp = memory.desk.bring({ kind: "paths", folder: place.source, paths: ["a.md", "b.md"] }, never);
  const dropped = memory.desk.bring({ kind: "dropSource", name: gate.source.name }, never);
  expect(await isThere(memory, "kangaroo")).toBe(true);
  gateway.open();
  for (const each of [...both, caughtUp, dropped]) expect((await each).ok).toBe(true);
  expect(await isThere(memory, "wombat")).toBe(true);
  expect(await isThere(memory, "kangaroo")).toBe(false);
  expect(await isThere(memory, "quokka")).toBe(false);
  expect((await memory.desk.listed()).sources).toEqual([]);
  await expectWhole(memory);
});

test("a watched folder that changes during a rebuilding is in line with what is there afterwards", async () => {
  const { memory, gate } = await openIndexed();
  memory.keepUp();
  const gateway = gate.hold();
  const running = rebuild(memory);
  await gateway.reached;
  for (let file = 0; file < 50; file += 1) await write(`new${file}.md`, `platypus number${file}`);
  gateway.open();
  expect((await running).ok).toBe(true);
  await expect.poll(async () => (await memory.find("platypus", { limit: 100 })).length, { timeout: 20_000 }).toBe(50);
  await expectWhole(memory);
});

test.each(["damaged", "deleted"] as const)("a store that is %s says so while it is made anew", async (how) => {
  const first = await openIndexed();
  if (how === "damaged") {
    await first.memory.close();
    await writeFile(join(dir, "memory.duckdb"), "nonsense".repeat(10_000));
  }
  const { gate } = first;
  const memory = how === "damaged" ? place.open({ sources: () => [gate.source] }) : first.memory;
  const gateway = gate.hold();
  const running = rebuild(memory);
  await gateway.reached;
  if (how === "deleted") await rm(join(dir, "memory.duckdb"));
  for (let search = 0; search < 3; search += 1) {
    expect(await memory.answer("kangaroo")).toMatchObject({
      ok: false,
      failure: { code: "unavailable", message: expect.stringContaining("is being made anew") },
    });
  }
  gateway.open();
  expect((await running).ok).toBe(true);
  expect(await isThere(memory, "kangaroo")).toBe(true);
  await expectWhole(memory);
});

test("deleting what is being made anew costs the rebuilding, not the store", async () => {
  const { memory, gate } = await openIndexed();
  const gateway = gate.hold();
  const running = rebuild(memory);
  await gateway.reached;
  await rm(join(dir, "rebuild"), { recursive: true });
  gateway.open();
  expect((await running).ok).toBe(false);
  expect(await isThere(memory, "kangaroo")).toBe(true);
  expect((await rebuild(memory)).ok).toBe(true);
  await expectWhole(memory);
});

test("what would take more than store_limit_mib is not put in the place of what is there", async () => {
  const first = await openIndexed();
  const stats = await first.memory.stats();
  await first.memory.close();
  const settings = { rrf: "weighted", halfLifeDays: 0, vectorWeight: undefined, conversations: false } as const;
  const storeLimitBytes = stats.ok ? stats.value.storeBytes : 0;
  const memory = place.open({ sources: () => [first.gate.source], settings: { ...settings, storeLimitBytes } });
  for (let file = 0; file < 200; file += 1)
    await write(`m${file}.md`, `wallaby ${file} ${"words upon words ".repeat(400)}`);
  expect(await rebuild(memory)).toMatchObject({
    ok: false,
    failure: { code: "exhausted", hint: expect.stringContaining("store_limit_mib") },
  });
  expect(await isThere(memory, "kangaroo")).toBe(true);
  expect(memory.indexProblems()).toEqual([]);
  await expectWhole(memory);
});

test.skipIf(!isMounted)("a disk without room for two stores refuses the rebuilding and keeps the one", async () => {
  const at = join(small, "memory");
  const { memory } = await openIndexed({}, at);
  await writeFile(join(small, "filler"), Buffer.alloc(40 * 1_048_576, 1));
  expect(await rebuild(memory)).toMatchObject({
    ok: false,
    failure: { code: "exhausted", hint: expect.stringContaining("free some space") },
  });
  expect(await isThere(memory, "kangaroo")).toBe(true);
  await expectWhole(memory, at);
  await rm(join(small, "filler"));
  expect((await rebuild(memory)).ok).toBe(true);
  expect(await isThere(memory, "kangaroo")).toBe(true);
  await expectWhole(memory, at);
  await memory.close();
});

test("wherever a swap is cut off, the next opening ends it, and a filling that was cut off is removed", async () => {
  const { memory } = await openIndexed();
  await memory.close();
  const newer = join(place.home, "newer");
  await write("a.md", "one wallaby");
  const builder = place.open({ sources: () => [] }, newer);
  expect((await builder.desk.bring({ kind: "folder", folder: place.source }, never)).ok).toBe(true);
  await builder.close();
  const steps: readonly (() => Promise<void>)[] = [
    () => rename(join(dir, "rebuild"), join(dir, "rebuilt")),
    () => rm(join(dir, "segments"), { recursive: true }),
    () => rename(join(dir, "rebuilt", "segments"), join(dir, "segments")),
    () => rename(join(dir, "rebuilt", "memory.duckdb"), join(dir, "memory.duckdb")),
  ];
  await cp(dir, join(place.home, "before"), { recursive: true });
  for (let done = 0; done <= steps.length; done += 1) {
    await rm(dir, { recursive: true });
    await cp(join(place.home, "before"), dir, { recursive: true });
    await mkdir(join(dir, "rebuild"));
    for (const name of ["memory.duckdb", "segments"])
      await cp(join(newer, name), join(dir, "rebuild", name), { recursive: true });
    for (const step of steps.slice(0, done)) await step();
    const again = place.open();
    expect(await isThere(again, done === 0 ? "kangaroo" : "wallaby")).toBe(true);
    await expectWhole(again);
    await again.close();
  }
});

/** Kills the child at its line number `at`; false when it was done before. */
async function rebuildUntil(at: number): Promise<boolean> {
  const child = spawn(process.execPath, [REBUILD_CHILD, dir, join(place.home, "journal")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  let lines = 0;
  for await (const _ of createInterface({ input: child.stdout })) if (++lines === at) child.kill("SIGKILL");
  const [code] = await gone;
  return code !== 0;
}

test(
  `kill -9 at ${KILL_POINTS} points of a rebuilding leaves the old or the new store, whole`,
  async () => {
    const first = place.open();
    await write("f0.md", "generation0");
    expect((await first.desk.bring({ kind: "folder", folder: place.source }, never)).ok).toBe(true);
    await first.close();
    let known = 0;
    let killed = 0;
    for (let point = 1; point <= KILL_POINTS; point += 1) {
      for (let file = 0; file < 80; file += 1) await write(`f${file}.md`, `generation${point} ${"filler ".repeat(80)}`);
      if (await rebuildUntil(1 + ((point * 3) % 17))) killed += 1;
      const memory = place.open();
      const isNew = (await memory.find(`+generation${point}`)).length > 0;
      const isOld = (await memory.find(`+generation${known}`)).length > 0;
      expect([isOld, isNew]).toContain(true);
      expect(isOld && isNew).toBe(false);
      if (isNew) known = point;
      await expectWhole(memory);
      expect(existsSync(join(dir, "sources.json"))).toBe(true);
      await memory.close();
    }
    expect(killed).toBeGreaterThan(0);
  },
  30_000 + KILL_POINTS * 8_000,
);
