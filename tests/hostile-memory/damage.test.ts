import { existsSync } from "node:fs";
import { mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddingServer, startEmbeddingServer } from "../kit/embedding-server.ts";
import { type MemoryHouse, openMemoryHouse } from "./memory-house.ts";

// What lies beside the journals is taken away or damaged, under a daemon that is down and under one that runs.

/** Every part in every way takes minutes: on a landing, as the other sweeps. */
const isThorough = Number(process.env.CLAWD_HOUSE_KILL_POINTS ?? "0") >= 100;
const ALL_PARTS = [".", "memory.duckdb", "memory.duckdb.wal", "segments", "vectors.duckdb", "views"];
const WAYS = isThorough
  ? ALL_PARTS.flatMap((part) => ["down", "killed"].map((how) => [how, part]))
  : [
      ["killed", "memory.duckdb"],
      ["down", "segments"],
    ];
const RUNNING_PARTS = isThorough ? ALL_PARTS : [".", "segments"];
/** Where in a file a bit flips. */
const FLIPS = isThorough ? [0.001, 0.5, 0.97] : [0.5];
const FILES = 10;

let house: MemoryHouse;
let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer(64);
  house = await openMemoryHouse({ EMBEDDING_API_URL: server.url });
  for (let file = 0; file < FILES; file += 1) await writeFile(join(house.files, `f${file}.md`), `kangaroo ${file}\n`);
  await house.up();
  await house.ask().memory.remember({ text: "the kangaroo is called Skip" });
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
    const found = await house.find("kangaroo", { mode });
    expect(found.length, mode).toBe(FILES + 1);
  }
  expect((await house.ask().memory.verifyMemory({})).problems).toEqual([]);
  expect(await chunks()).toEqual([`[${FILES}]`]);
  expect((await house.ask().memory.listNotes({})).notes).toHaveLength(1);
}

test.each(WAYS)("with the daemon %s, memory/%s is deleted and made anew", async (how, part) => {
  await chunks();
  await (how === "down" ? house.down() : house.kill());
  await rm(join(house.home, "memory", part), { recursive: true, force: true });
  if (part === ".") await mkdir(join(house.home, "memory"));
  await house.up();
  if (part === ".") {
    // The list of what is indexed is gone with it.
    expect(await house.find("kangaroo")).toHaveLength(1);
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
    expect(await house.find("kangaroo", { mode: "hybrid" })).toContain("the kangaroo is called Skip");
    await writeFile(join(house.files, "f0.md"), "kangaroo again\n");
    await house.index();
    await house.embedded();
    await expectWhole();
    await house.kill();
    await house.up();
    await house.find("kangaroo");
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
    await house.find("kangaroo");
    await house.embedded();
    await house.down();
    for (const file of await filesBelow(folder)) {
      if (!existsSync(file) || file.endsWith("sources.json")) continue;
      const { size } = await stat(file);
      if (size === 0) continue;
      await flip(file, Math.min(size - 1, Math.floor(size * part)));
      tried += 1;
      await house.up();
      const found = await house.find("kangaroo");
      expect(found.length, `${file} at ${part}`).toBe(FILES + 1);
      const { problems } = await house.ask().memory.verifyMemory({});
      if (problems.length > 0) for await (const _ of house.ask().memory.rebuild({}));
      await house.embedded();
      await expectWhole();
      await house.down();
    }
    await house.up();
  }
  expect(tried).toBeGreaterThanOrEqual(4 * FLIPS.length);
});
