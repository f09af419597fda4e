import { EventEmitter, once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Failure, ok } from "../../domain/failure.ts";
import { stampFolder, walkFolder } from "./folder-walk.ts";
import type { WatchLimits } from "./folder-watch.ts";
import { watchTasks } from "./watch-tasks.ts";
import { createWatcher, type Watcher } from "./watcher.ts";

const TASKS: Readonly<Record<string, (request: never) => unknown>> = { walk: walkFolder, stamp: stampFolder };
const tasks = watchTasks(<T>(task: string, request: unknown) =>
  Promise.resolve(ok(TASKS[task]?.(request as never) as T)),
);

let root: string;
let seen: Set<string>;
let problems: Failure[];
let watcher: Watcher;
const news = new EventEmitter();

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "clawd-watch-")));
  seen = new Set();
  problems = [];
});

afterEach(async () => {
  await watcher.close();
  rmSync(root, { recursive: true, force: true });
});

async function start(limits: WatchLimits = {}): Promise<void> {
  watcher = createWatcher(
    {
      ...tasks,
      onDirty(_, paths) {
        for (const path of paths) seen.add(path);
        news.emit("news");
      },
      onProblem: (_, problem) => void problems.push(problem),
    },
    limits,
  );
  await watcher.watch([root]);
}

/** Waits until all of these were told; forgets them and everything else. */
async function heard(...paths: readonly string[]): Promise<void> {
  while (!paths.every((path) => seen.has(path))) await once(news, "news");
  seen.clear();
}

test("a file that is made, changed, replaced by another name and deleted is told each time", async () => {
  await start();
  const file = join(root, "a.md");
  writeFileSync(file, "one");
  await heard("a.md");
  writeFileSync(file, "two");
  await heard("a.md");
  writeFileSync(join(root, "a.md.new"), "three");
  renameSync(join(root, "a.md.new"), file);
  await heard("a.md", "a.md.new");
  rmSync(file);
  await heard("a.md");
});

test("a new folder is watched, with what was in it before anybody could watch it", async () => {
  await start();
  mkdirSync(join(root, "x/y/z"), { recursive: true });
  writeFileSync(join(root, "x/y/z/deep.md"), "one");
  await heard("x", "x/y", "x/y/z");
  writeFileSync(join(root, "x/y/z/deep.md"), "two");
  await heard("x/y/z/deep.md");
});

test("a folder that is moved away and back is told, and watched where it is", async () => {
  mkdirSync(join(root, "from/in"), { recursive: true });
  await start();
  renameSync(join(root, "from"), join(root, "to"));
  await heard("from", "to", "to/in");
  writeFileSync(join(root, "to/in/a.md"), "one");
  await heard("to/in/a.md");
  renameSync(join(root, "to"), join(root, "from"));
  await heard("from", "to", "from/in");
  writeFileSync(join(root, "from/in/a.md"), "two");
  await heard("from/in/a.md");
});

test("a root that goes away and comes back is told both times", async () => {
  await start();
  renameSync(root, `${root}.away`);
  await heard("");
  renameSync(`${root}.away`, root);
  await heard("");
  writeFileSync(join(root, "a.md"), "one");
  await heard("a.md");
});

test("left-out folders, dotted names and links are not watched; a changed ignore file is told as its folder", async () => {
  mkdirSync(join(root, "node_modules/p"), { recursive: true });
  mkdirSync(join(root, ".git"));
  mkdirSync(join(root, "sub/left"), { recursive: true });
  writeFileSync(join(root, "sub/.clawdignore"), "left/\n");
  const outside = mkdtempSync(join(tmpdir(), "clawd-outside-"));
  symlinkSync(outside, join(root, "link"));
  await start();
  for (const place of ["node_modules/p", ".git", "sub/left", "link"]) writeFileSync(join(root, place, "a.md"), "one");
  writeFileSync(join(root, "last.md"), "one");
  while (!seen.has("last.md")) await once(news, "news");
  expect([...seen]).toEqual(["last.md"]);
  writeFileSync(join(root, "sub/.clawdignore"), "");
  await heard("sub", "sub/left");
  writeFileSync(join(root, "sub/left/b.md"), "one");
  await heard("sub/left/b.md");
  rmSync(outside, { recursive: true });
});

test("more changes than anybody wants to hear of are told as everything", async () => {
  await start();
  for (let number = 0; number < 400; number += 1) writeFileSync(join(root, `${number}.md`), "x");
  await heard("");
});

test("more events than the system queues while the thread is busy lose neither a file nor the watch of a new folder", {
  timeout: 30_000,
}, async () => {
  await start();
  const other = realpathSync(mkdtempSync(join(tmpdir(), "clawd-other-")));
  await watcher.watch([root, other]);
  // One after the other, or the system would tell of both as one event. All before this thread hears of any.
  for (let round = 0; round < 10_000; round += 1)
    for (const name of ["a.md", "b.md"]) appendFileSync(join(root, name), "x");
  mkdirSync(join(other, "late"));
  await heard("");
  while (!seen.has("late/c.md")) {
    appendFileSync(join(other, "late/c.md"), "x");
    await setTimeout(50);
  }
  rmSync(other, { recursive: true });
});

test("a folder with more folders than can be watched is walked instead, and that is said once", async () => {
  for (const name of ["a", "b", "c"]) mkdirSync(join(root, name));
  await start({ watches: 2, walkMs: 20 });
  expect(problems).toMatchObject([{ code: "exhausted", message: expect.stringContaining("cannot be watched") }]);
  writeFileSync(join(root, "c/a.md"), "one");
  await heard("");
  rmSync(join(root, "c/a.md"));
  await heard("");
  expect(problems).toHaveLength(1);
});

test("after it is closed, or told of other folders, nothing is told any more", async () => {
  await start();
  const other = realpathSync(mkdtempSync(join(tmpdir(), "clawd-other-")));
  await watcher.watch([other]);
  writeFileSync(join(root, "a.md"), "one");
  writeFileSync(join(other, "b.md"), "one");
  while (!seen.has("b.md")) await once(news, "news");
  expect([...seen]).toEqual(["b.md"]);
  await watcher.close();
  const closed = seen;
  await start();
  await watcher.watch([other]);
  seen = new Set();
  writeFileSync(join(other, "c.md"), "one");
  await heard("c.md");
  expect([...closed]).toEqual(["b.md"]);
  rmSync(other, { recursive: true });
});
