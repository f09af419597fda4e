import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runFolder } from "../../tests/kit/run-folder.ts";
import { ok } from "../domain/failure.ts";
import { ask, folderTarget, runOver, unwrap } from "./fixtures/index-bench.ts";
import { buildOver } from "./index-run.ts";
import { openStore } from "./store/open-store.ts";
import type { DocumentToStage, Store } from "./store/store.ts";
import { holdStore } from "./store/store-holder.ts";
import { memoryPool } from "./worker/memory-pool.ts";

const home = mkdtempSync(join(tmpdir(), "clawd-full-"));
const pool = memoryPool(runFolder().memoryWorkerFile);
const signal = new AbortController().signal;
const mounts: string[] = [];

function mountDisk(name: string, sizeMib: number): string | undefined {
  const disk = join(home, name);
  mkdirSync(disk);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMib}m`, "tmpfs", disk]).status === 0;
  if (mounted) mounts.push(disk);
  return mounted ? disk : undefined;
}

const large = mountDisk("large", 160);
const small = mountDisk("small", 8);
if (large === undefined) console.warn("the full disk is not tried: only root can mount a small one");

afterAll(async () => {
  await pool.close();
  for (const disk of mounts) spawnSync("umount", ["-l", disk]);
  rmSync(home, { recursive: true, force: true });
});

const kangaroos = async (store: Store) => ask(unwrap(await store.segments()).segments, "kangaroo");

test.skipIf(large === undefined)(
  "a run stops before the disk is full, keeps the answers, and goes on when there is room",
  async () => {
    const disk = large ?? "";
    const source = join(home, "source");
    await mkdir(source);
    for (let file = 0; file < 40; file += 1) await writeFile(join(source, `f${file}.md`), `kangaroo ${file}\n`);
    const store = unwrap(await openStore(join(disk, "memory")));
    unwrap(await runOver(store, pool, folderTarget(source)));
    const before = await kangaroos(store);
    const filler = join(disk, "filler");
    await writeFile(filler, Buffer.alloc(64 * 1_048_576, 1));
    await writeFile(join(source, "more.md"), "a wallaby");
    const failed = await runOver(store, pool, folderTarget(source));
    expect(failed).toMatchObject({ ok: false, failure: { code: "exhausted", hint: expect.stringContaining("free") } });
    expect(await kangaroos(store)).toEqual(before);
    await rm(filler);
    unwrap(await runOver(store, pool, folderTarget(source)));
    expect(ask(unwrap(await store.segments()).segments, "wallaby")).toHaveLength(1);
    const areWhole = (files: readonly string[]) => Promise.resolve(ok(files.map(() => true)));
    expect(unwrap(await store.problems(areWhole, signal))).toEqual([]);
    await store.close();
  },
);

function document(name: string, text: string): DocumentToStage {
  return {
    ...{ source: "folder:/work", key: `/work/${name}`, hash: name, kind: "file", author: "file", sessionId: "" },
    ...{ labels: [], atMs: 0, pieces: [{ id: name.length, line: 1, page: 0, title: "", text }] },
  };
}

test.skipIf(small === undefined)("a disk that is full to the last byte loses nothing that was published", async () => {
  const disk = small ?? "";
  const dir = join(disk, "memory");
  const build = buildOver(pool);
  const publication = { goneIds: [], watermarks: new Map<string, number>(), build, signal };
  const holder = holdStore({ dir, build, idleTimeoutMs: 60_000, refill: ({ store }) => store.markFilled() });
  const put = (name: string, text: string) =>
    holder.use(async ({ store }) => {
      const freshIds = await store.stage([document(name, text)]);
      return freshIds.ok ? store.publish({ ...publication, freshIds: freshIds.value }) : freshIds;
    });
  unwrap(await put("a.md", "kangaroo"));
  const filler = join(disk, "filler");
  {
    await using file = await open(filler, "w");
    await file.writeFile(Buffer.alloc(16 * 1_048_576, 1)).catch(() => undefined);
  }
  const failed = await put("bb.md", "wallaby ".repeat(100_000));
  expect(failed).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  await rm(filler);
  // Whatever the full disk did to the database, the next use has one that works.
  unwrap(await put("ccc.md", "koala"));
  const found = await holder.use(async ({ store }) => ok(await kangaroos(store)));
  expect(unwrap(found)).toHaveLength(1);
  await holder.close();
});
