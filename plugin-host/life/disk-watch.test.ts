import { mkdir, mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findExcess, watchDisk } from "./disk-watch.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "clawd-disk-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const limitMib = 1;
const beyond = "its folders hold more than the 1 MiB that it may write";

test("what lies deep counts too, over all folders together", async () => {
  await mkdir(join(folder, "a/b/c"), { recursive: true });
  await mkdir(join(folder, "z"));
  await writeFile(join(folder, "a/b/c/half"), Buffer.alloc(600 * 1024, 1));
  const folders = [join(folder, "a"), join(folder, "z")];
  expect(await findExcess({ folders, limitMib })).toBeUndefined();
  await writeFile(join(folder, "z/half"), Buffer.alloc(600 * 1024, 1));
  expect(await findExcess({ folders, limitMib })).toBe(beyond);
});

test("a file with holes counts what it takes, a link nothing of what it points at", async () => {
  const handle = await open(join(folder, "holes"), "w");
  await handle.truncate(50 * 1024 * 1024);
  await handle.close();
  await symlink("/usr", join(folder, "link"));
  expect(await findExcess({ folders: [folder], limitMib })).toBeUndefined();
});

test("a folder that is not there holds nothing", async () => {
  expect(await findExcess({ folders: [join(folder, "gone")], limitMib })).toBeUndefined();
});

test("the pause until the next look grows with what the last one took", async () => {
  const pauses: number[] = [];
  let look = () => {};
  let again = Promise.withResolvers<void>();
  let [nowMs, lookMs] = [0, 1];
  const clock = {
    // Asked when a look begins and when it ends.
    now() {
      nowMs += lookMs;
      return nowMs;
    },
    after(delayMs: number, run: () => void) {
      pauses.push(delayMs);
      look = run;
      again.resolve();
      return () => {};
    },
  };
  const stop = watchDisk({ folders: [folder], limitMib }, clock, () => {});
  for (lookMs of [1, 1000, 1]) {
    again = Promise.withResolvers();
    look();
    await again.promise;
  }
  stop();
  expect(pauses).toEqual([5_000, 5_000, 20_000, 5_000]);
});
