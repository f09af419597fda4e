import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fail, type Result } from "../domain/failure.ts";
import { openListedSources } from "./listed-sources.ts";
import { openStore } from "./store/open-store.ts";
import { withFolder } from "./store/source-list.ts";
import type { OpenStore } from "./store/store-holder.ts";

let dir = "";

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-listed-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("a lost list that cannot be read off the store now is not begun anew, and comes back with the store", async () => {
  const opened = await openStore(dir);
  if (!opened.ok) throw new Error(opened.failure.message);
  const store = opened.value;
  await writeFile(join(dir, "sources.json"), "{ torn");
  let reachable = false;
  const lent: OpenStore = { store, segments: [], retired: new AbortController().signal };
  const use = <T>(work: (open: OpenStore) => Promise<Result<T>>): Promise<Result<T>> =>
    reachable ? work(lent) : Promise.resolve(fail("unavailable", "the disk is away"));
  const listed = openListedSources({ dir, use, changed: () => {} });
  expect(await listed.toChange()).toMatchObject({ failure: { message: "the disk is away" } });
  expect(await listed.all()).toEqual({ folders: [], sources: [] });
  expect(listed.trouble()?.message).toContain("the disk is away");
  expect(await readFile(join(dir, "sources.json"), "utf8")).toBe("{ torn");
  reachable = true;
  expect((await listed.toChange()).ok).toBe(true);
  expect(listed.trouble()).toBeUndefined();
  expect(await listed.change((list) => withFolder(list, "/more"))).toEqual({ ok: true, value: undefined });
  expect((await listed.all()).folders).toContain("/more");
  await store.close();
});
