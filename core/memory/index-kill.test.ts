import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { runFolder } from "../../tests/kit/run-folder.ts";
import { timesOf } from "../../tests/kit/thoroughness.ts";
import { ok } from "../domain/failure.ts";
import { ask, folderTarget, runOver, unwrap } from "./fixtures/index-bench.ts";
import { openStore } from "./store/open-store.ts";
import type { Store } from "./store/store.ts";
import { memoryPool } from "./worker/memory-pool.ts";

const INDEX_CHILD = join(import.meta.dirname, "fixtures", "index-child.ts");
/** At how many places of an index run its process is killed. */
const KILL_POINTS = timesOf("places of an index run at which its process is killed", { whole: 100, share: 12 });
const FILES = 150;
const never = new AbortController().signal;
const pool = memoryPool(runFolder().memoryWorkerFile);
const QUERIES = ["topic2 part", "topic4", "filler", "part* -topic1"];

let home = "";
let source = "";

afterAll(() => pool.close());

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-kill-"));
  source = join(home, "source");
  await mkdir(source);
});

afterEach(() => rm(home, { recursive: true, force: true }));

/** Gives the hashes of the files, so that a mixture of generations would show. */
async function writeGeneration(generation: number): Promise<string> {
  const hashes: string[] = [];
  for (let file = 0; file < FILES; file += 1) {
    const parts = Array.from(
      { length: 4 },
      (_, part) => `## Part ${part}\n\ntopic${(file + part) % 6} ${"filler ".repeat(20 + file)}`,
    );
    const text = `gen${generation}\n\n${parts.join("\n\n")}`;
    hashes.push(hash("sha256", text, "hex"));
    await writeFile(join(source, `f${file}.md`), text);
  }
  return hashes.sort().join();
}

/** Kills the child at its line number `at`; false when it was done before. */
async function indexUntil(dir: string, at: number): Promise<boolean> {
  const child = spawn(process.execPath, [INDEX_CHILD, dir, source], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  let lines = 0;
  for await (const _ of createInterface({ input: child.stdout })) if (++lines === at) child.kill("SIGKILL");
  const [code] = await gone;
  return code !== 0;
}

/** Hashes of what a search finds; what is found must be there with its text. */
async function searchedHashes(store: Store): Promise<string> {
  const stored = unwrap(await store.documentsOf({ kind: "folder", folder: source }));
  const { segments } = unwrap(await store.segments());
  const ids = new Set(QUERIES.flatMap((query) => ask(segments, query)).map((line) => Number.parseInt(line, 10)));
  expect(unwrap(await store.texts([...ids])).size).toBe(ids.size);
  const live = stored.filter(({ staged }) => !staged);
  expect(ids.size > 0).toBe(live.length > 0);
  return live
    .map(({ hash }) => hash)
    .sort()
    .join();
}

test(
  `kill -9 at ${KILL_POINTS} points of an index run leaves the old or the new state, and the next run goes on to the same index`,
  async () => {
    const dir = join(home, "memory");
    let before = "";
    let after = "";
    let killed = 0;
    for (let point = 0; point < KILL_POINTS; point += 1) {
      // Some points strike the same run again: it goes on from what was staged.
      if (point % 3 === 0) after = await writeGeneration(point);
      if (await indexUntil(dir, 1 + ((point * 7) % 19))) killed += 1;
      const store = unwrap(await openStore(dir));
      const now = await searchedHashes(store);
      expect([before, after]).toContain(now);
      const problems = await store.problems((files) => Promise.resolve(ok(files.map(() => true))), never);
      expect(unwrap(problems)).toEqual([]);
      expect((await readdir(join(dir, "segments"))).filter((name) => !/^\d+\.seg$/.test(name))).toEqual([]);
      await store.close();
      before = now;
    }
    expect(killed).toBeGreaterThan(KILL_POINTS / 3);
    const store = unwrap(await openStore(dir));
    const fresh = unwrap(await openStore(join(home, "fresh")));
    for (const each of [store, fresh]) unwrap(await runOver(each, pool, folderTarget(source)));
    const [mine, theirs] = [unwrap(await store.segments()).segments, unwrap(await fresh.segments()).segments];
    for (const query of QUERIES) expect(ask(mine, query)).toEqual(ask(theirs, query));
    await store.close();
    await fresh.close();
  },
  20_000 + KILL_POINTS * 5_000,
);

test("a second process that opens the store is told who has it", async () => {
  await writeFile(join(source, "a.md"), "kangaroo");
  const dir = join(home, "memory");
  const child = spawn(process.execPath, [INDEX_CHILD, dir, source, "stay"], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) if (line === "done") break;
  expect(await openStore(dir)).toMatchObject({
    ok: false,
    failure: { code: "conflict", message: expect.stringContaining(`process ${child.pid}`) },
  });
  child.kill("SIGKILL");
  await gone;
  const store = unwrap(await openStore(dir));
  expect(await openStore(dir)).toMatchObject({ ok: false, failure: { code: "conflict" } });
  expect(ask(unwrap(await store.segments()).segments, "kangaroo")).toHaveLength(1);
  await store.close();
  expect(await readFile(join(dir, "memory.duckdb"))).toBeDefined();
});
