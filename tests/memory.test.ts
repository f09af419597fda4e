import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bench, CLAW, eventually, openBench } from "./kit/claw.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const lines = (output: string) => output.trimEnd().split("\n");
const objects = (output: string) => lines(output).map((line) => JSON.parse(line));

async function remember(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await bench.claw("memory", "remember", ...args);
  expect(code, stderr).toBe(0);
  return stdout.trim();
}

/** The same daemon, asked from another folder. */
async function clawIn(folder: string, ...args: readonly string[]): Promise<{ code: number; stdout: string }> {
  const child = spawn(process.execPath, [CLAW, ...args], {
    env: bench.env,
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { code: Number(code), stdout };
}

async function found(...args: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await bench.claw("memory", "search", "--json", ...args);
  expect(code, stderr).toBe(0);
  return stdout === "" ? [] : objects(stdout).map(({ memoryId }) => memoryId);
}

test("a note is found by its words, shown with its author and the words that matched, and forgotten for good", async () => {
  const id = await remember("I", "take my tea without sugar");
  const { stdout } = await bench.claw("memory", "search", "--why", "tea");
  expect(stdout).toMatch(
    new RegExp(`^note ${id} \\(owner, .*\\)\\n  I take my tea without sugar\\n  why: words: place 1`),
  );
  expect(objects((await bench.claw("memory", "recall", "--json", "tea")).stdout)).toMatchObject([
    { memoryId: id, kind: "note", author: "owner", snippet: { marks: [{ start: 10, end: 13 }] } },
  ]);
  const gone = await bench.claw("memory", "forget", id);
  expect(gone).toMatchObject({ code: 0, stdout: "", stderr: `forgot ${id} I take my tea without sugar\n` });
  expect(await found("tea")).toEqual([]);
  expect(await bench.claw("memory", "forget", id)).toMatchObject({ code: 3, stderr: expect.stringContaining(id) });
  await bench.claw("down");
  expect(await found("tea")).toEqual([]);
});

test("a project's note is seen from its folder alone", async () => {
  const id = await remember("--scope", "project", "--label", "deploy", "no deploys on Fridays");
  expect(await found("deploys")).toEqual([id]);
  expect(await found("--label", "deploy", "Fridays")).toEqual([id]);
  const elsewhere = join(bench.workspace, "below");
  await mkdir(elsewhere);
  expect((await clawIn(elsewhere, "memory", "search", "--json", "deploys")).stdout).toBe("");
  expect((await clawIn(elsewhere, "memory", "notes", "--all", "--json")).stdout).toBe("");
  expect((await clawIn(elsewhere, "memory", "forget", id)).code).toBe(3);
  expect(await found("deploys")).toEqual([id]);
});

test("a newer fact supersedes an older one, which stays readable", async () => {
  const old = await remember("the standup is at nine");
  const now = await remember("--supersedes", old, "the standup is at ten");
  expect(await found("standup")).toEqual([now]);
  const listed = await bench.claw("memory", "notes", "--all");
  expect(lines(listed.stdout)).toHaveLength(3);
  expect(listed.stdout).toContain(`superseded by ${now}`);
  const again = await bench.claw("memory", "remember", "--supersedes", old, "the standup is at eleven");
  expect(again).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining(`the newest is ${now}`) });
});

test("notes that say nearly the same are told, and kept", async () => {
  const first = await remember("the wifi password is on the fridge");
  const { code, stdout, stderr } = await bench.claw("memory", "remember", "The WIFI password is on the fridge!");
  expect(code).toBe(0);
  expect(stderr).toContain(`nearly the same: ${first} the wifi password`);
  expect((await found("wifi", "password")).length).toBeGreaterThan(0);
  expect(objects((await bench.claw("memory", "notes", "--json")).stdout).map(({ memoryId }) => memoryId)).toEqual([
    stdout.trim(),
    first,
  ]);
});

test("forgetting by words shows what it found, and does it only with a yes", async () => {
  const old = await remember("old address: 12 Elm Street");
  const kept = await remember("new address: 7 Oak Road");
  const asked = await bench.claw("memory", "forget", "--matching", "old address");
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining(`${old} old address`) });
  expect(asked.stderr).not.toContain(kept);
  const done = await bench.claw("memory", "forget", "--matching", "old address", "--yes");
  expect(done.code).toBe(0);
  expect(await found("address")).toEqual([kept]);
  expect(await bench.claw("memory", "forget", "--matching", "old address", "--yes")).toMatchObject({ code: 1 });
  expect((await bench.claw("memory", "forget")).code).toBe(2);
  expect((await bench.claw("memory", "forget", "x", "--matching", "y")).code).toBe(2);
});

test("what was remembered reaches a new conversation as data, by an event, and can be turned off", async () => {
  const id = await remember("my favourite colour is blue");
  // On a busy machine the first turn may do without: none waits long for memory.
  const said = await eventually(
    () => bench.claw("say", "--json", "what is my favourite colour?"),
    ({ stdout }) => stdout.includes("memoryRecalled"),
    "that memory is asked in time",
  );
  const recalled = objects(said.stdout).flatMap(({ memoryRecalled }) => memoryRecalled ?? []);
  expect(recalled).toMatchObject([
    { memoryIds: [id], text: expect.stringMatching(/^\[note by the owner, [\d-]+\] my favourite colour is blue$/) },
  ]);
  const unrelated = await bench.claw("say", "--json", "zebras");
  expect(unrelated.stdout).not.toContain("memoryRecalled");
  await bench.claw("down");
  await writeFile(join(bench.home, "config.toml"), "[memory]\nrecall = false\n");
  expect((await bench.claw("say", "--json", "my favourite colour")).stdout).not.toContain("memoryRecalled");
});

test("files are found with their place, and leave with their folder's next run", async () => {
  // Else the watcher may be the one who sees that the file is gone.
  await writeFile(join(bench.home, "config.toml"), "[memory]\nauto_reindex = false\n");
  const file = join(bench.workspace, "house.md");
  await writeFile(file, "# House\n\nThe door is blue.\n");
  const indexed = await bench.claw("memory", "index", ".");
  expect(indexed.code, indexed.stderr).toBe(0);
  const { stdout } = await bench.claw("memory", "search", "--kind", "file", "door");
  expect(stdout).toMatch(/^house\.md:\d+ .*\(file, /);
  const stats = await bench.claw("memory", "status", "--json");
  expect(objects(stats.stdout)).toMatchObject([{ files: 1, notes: 0, folders: [expect.any(String)] }]);
  expect(await bench.claw("memory", "verify")).toMatchObject({ code: 0, stdout: "" });
  expect((await bench.claw("memory", "rebuild")).code).toBe(0);
  expect(await found("door")).toHaveLength(1);
  await rm(file);
  expect((await bench.claw("memory", "index", ".")).stderr).toMatch(/ 1 gone\n$/);
  expect(await found("door")).toEqual([]);
  const target = join(bench.workspace, "out");
  await mkdir(target);
  const written = await bench.claw("memory", "export", "out");
  expect(written.code, written.stderr).toBe(0);
  for (const path of lines(written.stdout)) expect((await readFile(path)).subarray(0, 4).toString()).toBe("PAR1");
});

const REFUSED: readonly (readonly [readonly string[], number])[] = [
  [["index"], 2],
  [["index", ".", "--conversations"], 2],
  [["index", "nowhere"], 3],
  [["index", "--source", "plugin:none/none"], 3],
  [["search", "--mode", "psychic", "x"], 3],
  [["search", "--kind", "ghost", "x"], 3],
  [["search", "--after", "soon", "x"], 2],
  [["search", "after:2026-02-30 x"], 3],
  [["remember", "--expires", "2020-01-01", "x"], 3],
  [["remember", "--scope", "session", "x"], 3],
  [["remember", "--scope", "project:/elsewhere", "x"], 3],
  [["remember", "--importance", "vital", "x"], 3],
  [["remember", "  "], 3],
  [["export", "nowhere"], 3],
];

test("what cannot be done is refused with its exit code, says why, and prints no data", async () => {
  for (const [args, code] of REFUSED) {
    const ran = await bench.claw("memory", ...args);
    expect({ args, ...ran }).toMatchObject({
      args,
      code,
      stdout: "",
      stderr: expect.stringMatching(/^claw: .+\n {2}→ /),
    });
  }
});
