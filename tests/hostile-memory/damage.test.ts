import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../kit/claw.ts";
import { type EmbeddingServer, startEmbeddingServer } from "../kit/embedding-server.ts";
import { type MemoryHouse, openMemoryHouse } from "../kit/memory-house.ts";
import { shareOf } from "../kit/thoroughness.ts";

// What lies beside the journals is taken away or damaged, under a daemon that is down and under one that runs.

const ALL_PARTS = [".", "memory.duckdb", "memory.duckdb.wal", "segments", "vectors.duckdb", "views"];
const ALL_WAYS = ALL_PARTS.flatMap((part) => ["down", "killed"].map((how) => [how, part] as const));
const WAYS = shareOf("parts of memory that are deleted, in each way", ALL_WAYS, {
  oneIn: ALL_PARTS.length,
  kindOf: ([how]) => how,
  offset: ALL_PARTS.indexOf("segments"),
});
const RUNNING_PARTS = shareOf("parts of memory that are deleted under a running daemon", ALL_PARTS, {
  oneIn: ALL_PARTS.length,
});
/** Where in a file a bit flips. */
const FLIPS = shareOf("places of a file where a bit flips", [0.001, 0.5, 0.97], { oneIn: 3, offset: 1 });
const FILES = 10;

let house: MemoryHouse;
let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer(64);
  house = await openMemoryHouse({ EMBEDDING_API_URL: server.url });
  for (let file = 0; file < FILES; file += 1)
    await writeFile(join(house.workspace, `f${file}.md`), `kangaroo ${file}\n`);
  await house.up();
  await house.dial().memory.remember({ text: "the kangaroo is called Skip" });
  await house.index();
  await house.embedded();
});
afterEach(async () => {
  await house.close();
  await server.close();
});

const chunks = () => house.sql("select count(*) from memory_chunks");

/** Everything that was there is found, and nothing is wrong. */
async function expectWhole(): Promise<void> {
  for (const mode of ["lexical", "vector", "hybrid"]) {
    const found = await house.texts("kangaroo", { mode });
    expect(found.length, mode).toBe(FILES + 1);
  }
  expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
  expect(await chunks()).toEqual([[FILES]]);
  expect((await house.dial().memory.listNotes({})).notes).toHaveLength(1);
}

test.each(WAYS)("with the daemon %s, memory/%s is deleted and made anew", async (how, part) => {
  await chunks();
  await house.down(how === "down" ? "SIGTERM" : "SIGKILL");
  await rm(join(house.home, "memory", part), { recursive: true, force: true });
  if (part === ".") await mkdir(join(house.home, "memory"));
  await house.up();
  if (part === ".") {
    // The list of what is indexed is gone with it.
    expect(await house.texts("kangaroo")).toHaveLength(1);
    await house.index();
  }
  await house.embedded();
  await expectWhole();
});

test.each(RUNNING_PARTS)(
  "memory/%s is deleted under a running daemon, which goes on and mends it with the next run",
  async (part) => {
    await chunks();
    await rm(join(house.home, "memory", part), { recursive: true, force: true });
    expect(await house.texts("kangaroo", { mode: "hybrid" })).toContain("the kangaroo is called Skip");
    await writeFile(join(house.workspace, "f0.md"), "kangaroo again\n");
    await house.index();
    await house.embedded();
    await expectWhole();
    await house.down("SIGKILL");
    await house.up();
    await house.texts("kangaroo");
    await house.embedded();
    await expectWhole();
  },
);

async function flip(file: string, at: number): Promise<void> {
  const handle = await open(file, "r+");
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  byte[0] = (byte[0] ?? 0) ^ 0x10;
  await handle.write(byte, 0, 1, at);
  await handle.close();
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test("a bit that flips in any file of memory costs no answer", { timeout: 120_000 }, async () => {
  const folder = join(house.home, "memory");
  let tried = 0;
  for (const part of FLIPS) {
    await house.texts("kangaroo");
    await house.embedded();
    await house.down();
    for (const file of await filesBelow(folder)) {
      if (!existsSync(file) || file.endsWith("sources.json")) continue;
      const { size } = await stat(file);
      if (size === 0) continue;
      await flip(file, Math.min(size - 1, Math.floor(size * part)));
      tried += 1;
      await house.up();
      const found = await house.texts("kangaroo");
      expect(found.length, `${file} at ${part}`).toBe(FILES + 1);
      const { problems } = await house.dial().memory.verifyMemory({});
      if (problems.length > 0) for await (const _ of house.dial().memory.rebuild({}));
      await house.embedded();
      await expectWhole();
      await house.down();
    }
    await house.up();
  }
  expect(tried).toBeGreaterThanOrEqual(4 * FLIPS.length);
});

test.each([
  ["missing", undefined],
  ["torn", '{"folders": ["/'],
  ["of another kind", '{"folders": 7}'],
])(
  "a list of what is indexed that is %s is read off the store: folders are watched and come back after a rebuild",
  async (_, text) => {
    await house.down("SIGKILL");
    const list = join(house.home, "memory", "sources.json");
    await (text === undefined ? rm(list) : writeFile(list, text));
    await house.up();
    expect((await house.dial().memory.stats({})).folders).toEqual([house.workspace]);
    await writeFile(join(house.workspace, "new.md"), "a wallaby that nobody told of\n");
    await eventually(
      () => house.texts("wallaby"),
      (found) => found.length === 1,
      "that the new file is found",
    );
    await rm(join(house.workspace, "new.md"));
    for await (const _ of house.dial().memory.rebuild({}));
    await house.embedded();
    await expectWhole();
    await house.down();
    expect(JSON.parse(await readFile(list, "utf8"))).toEqual({ folders: [house.workspace], sources: [] });
  },
);

test("a damaged list without a store says that it is lost, keeps what was left of it, and starts anew", async () => {
  await house.down();
  const memory = join(house.home, "memory");
  await rm(join(memory, "memory.duckdb"));
  await writeFile(join(memory, "sources.json"), '{"folders": ["/precious"');
  await house.up();
  expect(await house.texts("kangaroo")).toEqual(["the kangaroo is called Skip"]);
  const { problems } = await house.dial().daemon.status({});
  expect(JSON.stringify(problems)).toContain("sources.json.aside");
  expect(await readFile(join(memory, "sources.json.aside"), "utf8")).toContain("/precious");
  await house.index();
  await house.embedded();
  await expectWhole();
  expect(JSON.stringify((await house.dial().daemon.status({})).problems)).not.toContain("sources.json.aside");
});
