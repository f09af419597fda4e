import { existsSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "./kit/claw.ts";
import { type MemoryHouse, openMemoryHouse } from "./kit/memory-house.ts";

/* Which files memory holds, and how it keeps up with them: through the daemon, its threads, its watcher and its store. */

const EXTENSIONS =
  "rs py js ts tsx jsx json toml yaml yml md txt html css scss sql sh bash zsh go java kt swift c cpp h hpp rb lua vim conf cfg ini env xml csv";

let house: MemoryHouse;
beforeEach(async () => {
  house = await openMemoryHouse();
});
afterEach(() => house.close());

test("every kind of text is read; hidden names, what programs make, links and what is outside are not", async () => {
  const kinds = EXTENSIONS.split(" ");
  await house.files(Object.fromEntries(kinds.map((kind) => [`all/file.${kind}`, `harpsichord ${kind}\n`])));
  for (const folder of [".hidden", "node_modules", "target", "__pycache__", "deep/node_modules"]) {
    await house.files({ [`${folder}/inside.md`]: "harpsichord inside\n" });
  }
  await house.files({ ".env": "harpsichord\n", "docs/.draft.md": "harpsichord\n" });
  await symlink("/etc", join(house.workspace, "etc"));
  await symlink("/etc/passwd", join(house.workspace, "passwd.txt"));
  await symlink(house.workspace, join(house.workspace, "all", "again"));
  await symlink("all/file.md", join(house.workspace, "alias.md"));
  await house.up();
  expect(await house.index()).toMatchObject({ files: kinds.length, skipped: 0 });
  const paths = await house.sql("select path from memory_documents order by path");
  expect(paths.flat()).toEqual(kinds.map((kind) => join(house.workspace, `all/file.${kind}`)).sort());
  expect(await house.found("harpsichord inside")).not.toContainEqual(expect.stringContaining("inside.md"));
  expect(await house.found("root bin nologin", "lexical")).toEqual([]);
});

test("what is too large or binary is left out and what is no UTF-8 is an error: the status counts exactly", async () => {
  await house.files({
    "a.md": "first\n",
    "b.ts": "export const second = 2;\n",
    "gone.md": "third\n",
    "large.txt": Buffer.alloc(10 * 1_048_576 + 1, "large "),
    "edge.txt": Buffer.alloc(10_240, "edge "),
    "binary.txt": Buffer.concat([Buffer.alloc(8_191, "x"), Buffer.from([0])]),
    "latin.txt": Buffer.from("caf\xe9 au lait", "latin1"),
  });
  // Else the watcher may be the one who sees that a file is gone.
  await house.config("[memory]\nauto_reindex = false\n");
  await house.up();
  await house.index();
  const { memory } = house.dial();
  expect(await memory.stats({})).toMatchObject({ files: 4, skipped: 2, errors: 1, removed: 0 });
  await rm(join(house.workspace, "gone.md"));
  await house.index();
  expect(await memory.stats({})).toMatchObject({ files: 3, skipped: 2, errors: 1, removed: 1 });
  const shown = await house.claw("memory", "status");
  expect(shown.stdout).toContain("files     3; at the last runs 2 left out, 1 gone, 1 unreadable\n");
});

test("an edit, a new file, a new name, a new folder and a deletion are seen by themselves", async () => {
  await house.files({ "tree.md": "oak\n", "bush.md": "hazel\n" });
  await house.up();
  await house.index();
  const seen = (word: string, paths: readonly string[]) =>
    eventually(
      () => house.found(word, "lexical"),
      (found) => JSON.stringify(found) === JSON.stringify(paths),
      `that ${word} is found in ${JSON.stringify(paths)}`,
    );
  await seen("oak", ["tree.md"]);
  await house.files({ "tree.md": "beech\n" });
  await seen("beech", ["tree.md"]);
  await seen("oak", []);
  await house.files({ "flower.md": "crocus\n" });
  await seen("crocus", ["flower.md"]);
  await rename(join(house.workspace, "flower.md"), join(house.workspace, "bulb.md"));
  await seen("crocus", ["bulb.md"]);
  await house.files({ "far/away/herb.md": "thyme\n" });
  await seen("thyme", ["far/away/herb.md"]);
  await rm(join(house.workspace, "bush.md"));
  await seen("hazel", []);
  await rm(join(house.workspace, "far"), { recursive: true });
  await seen("thyme", []);
}, 60_000);

test("with auto_reindex = false nothing is seen until it is indexed by hand; else a start sees what changed meanwhile", async () => {
  await house.config("[memory]\nauto_reindex = false\n");
  await house.files({ "tree.md": "oak\n" });
  await house.up();
  await house.index();
  await house.files({ "tree.md": "beech\n" });
  await house.down();
  await house.up();
  expect([await house.found("oak", "lexical"), await house.found("beech", "lexical")]).toEqual([["tree.md"], []]);
  await house.index();
  expect(await house.found("beech", "lexical")).toEqual(["tree.md"]);
  await house.down();
  await house.config("");
  await house.files({ "tree.md": "larch\n" });
  await house.up();
  await eventually(
    () => house.found("larch", "lexical"),
    ([path]) => path === "tree.md",
    "that the start saw the edit",
  );
}, 60_000);

test("SQL tells what is there: whether, with which hash, which text and which ids", async () => {
  await house.files({ "a.md": "# Tea\n\nGreen tea wants seventy degrees.\n", "b.md": "Coffee.\n" });
  await house.up();
  await house.index();
  const file = join(house.workspace, "a.md");
  const [row] = await house.sql(`select hash, chunks, kind, author from memory_documents where path = '${file}'`);
  expect(row).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), 1, "file", "file"]);
  expect(await house.sql("select count(*) from memory_documents where path = '/nowhere'")).toEqual([[0]]);
  const text = await house.sql(`select id, line, text from memory_chunks where path = '${file}' order by ordinal`);
  expect(text).toEqual([[expect.any(Number), 1, expect.stringContaining("Green tea")]]);
  await house.files({ "a.md": "Other.\n" });
  await house.index();
  expect(await house.sql(`select hash from memory_documents where path = '${file}'`)).not.toEqual([[row?.[0]]]);
});

test("a folder is taken out of memory, its files stay, and neither a start nor the watcher brings it back", async () => {
  await house.files({ "a/tree.md": "oak\n", "b/bush.md": "hazel\n" });
  await house.up();
  const [first, second] = [join(house.workspace, "a"), join(house.workspace, "b")];
  await house.index(first);
  await house.index(second);
  await mkdir(join(first, "sub"));
  for (const [folder, hint] of [
    [house.workspace, `indexed are ${first}, ${second}`],
    [join(first, "sub"), ".clawdignore"],
  ] as const) {
    const refused = await house.claw("memory", "index", "--remove", folder);
    expect(refused).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining(hint) });
  }
  // Nothing was there, and nothing is: a typing error, although a folder around it is indexed.
  const mistyped = await house.claw("memory", "index", "a/sbu");
  expect(mistyped).toMatchObject({ code: 3, stderr: expect.stringContaining("there is no folder") });
  const removed = await house.claw("memory", "index", "--remove", "a");
  expect(removed).toMatchObject({ code: 0, stderr: expect.stringContaining(`removed ${first}: 1 file`) });
  expect([await house.found("oak", "lexical"), await house.found("hazel", "lexical")]).toEqual([[], ["b/bush.md"]]);
  await writeFile(join(first, "tree.md"), "oak oak\n");
  await house.down();
  await house.up();
  await house.files({ "b/bush.md": "willow\n" });
  await eventually(
    () => house.found("willow", "lexical"),
    ([path]) => path === "b/bush.md",
    "that the other folder is watched",
  );
  expect(await house.found("oak", "lexical")).toEqual([]);
  expect(await house.dial().memory.stats({})).toMatchObject({ files: 1, folders: [second] });
  expect(await house.claw("memory", "verify")).toMatchObject({ code: 0 });
}, 60_000);

test("searches that come during an index run succeed, from the last complete state, and a run that is stopped goes on", async () => {
  const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
  await house.files({ "first.md": "lighthouse\n" });
  await house.up();
  await house.index();
  await house.files(
    Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`many/${n}.md`, `lighthouse ${n} ${words}\n`])),
  );
  const { memory } = house.dial();
  const stop = new AbortController();
  const looks: Promise<unknown>[] = [];
  const run = async () => {
    for await (const { files, done } of memory.index({ folder: house.workspace }, { signal: stop.signal })) {
      if (done || files === 0 || looks.length > 0) continue;
      looks.push(house.found("lighthouse"), house.found("lighthouse", "lexical"));
      stop.abort();
    }
  };
  await expect(run()).rejects.toThrow(/abort|cancel/i);
  for (const found of await Promise.all(looks)) expect(found).toContain("first.md");
  expect(await house.index()).toMatchObject({ files: 401 });
  expect(existsSync(join(house.home, "memory", "memory.duckdb"))).toBe(true);
  expect(await house.sql("select count(*) from memory_documents")).toEqual([[401]]);
  expect(await house.claw("memory", "verify")).toMatchObject({ code: 0 });
}, 60_000);
