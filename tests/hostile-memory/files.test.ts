import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pdfWithPages } from "../../core/memory/fixtures/pdf-maker.ts";
import { CLAW } from "../kit/claw.ts";
import { type MemoryHouse, openMemoryHouse } from "../kit/memory-house.ts";

// Folders whose author wants to hang, fill, mislead or rob whoever indexes them.

/** In one folder; more by CLAWD_MANY_FILES. */
const MANY_FILES = Number(process.env.CLAWD_MANY_FILES ?? "2000");
const SPARSE_BYTES = 10 * 1024 ** 3;
const TOKEN_BYTES = 10 * 1024 * 1024 - 1;

let house: MemoryHouse;
beforeEach(async () => {
  house = await openMemoryHouse();
  await writeFile(join(house.workspace, "honest.md"), "The kangaroo is honest.\n");
});
afterEach(() => house.close());

const inFiles = (...names: readonly string[]) => join(house.workspace, ...names);

function claw(...args: readonly string[]): string {
  const ran = spawnSync(process.execPath, [CLAW, ...args], { env: house.env, cwd: house.workspace, encoding: "utf8" });
  return ran.stdout + ran.stderr;
}

test("names with newlines, escapes and marks that reorder text show as what they are", async () => {
  const names = [
    "a\nb.md",
    "\u001b[2J\u001b[31mred.md",
    "\u202egnp.md",
    "-rf --json.md",
    "'; drop table chunks; --.md",
    "a\u0085b.md",
  ];
  for (const name of names) await writeFile(inFiles(name), "The kangaroo has a name.\n");
  await writeFile(inFiles("text.md"), "The kangaroo says \u001b]0;owned\u0007\u001b[2J\u202e and \u009b31m\n");
  await house.up();
  await house.index();
  expect((await house.texts("kangaroo")).length).toBeGreaterThan(0);
  const { hits } = await house.dial().memory.search({ query: "name", mode: "lexical", limit: 100 });
  const folded = hits.flatMap(({ reason }) => reason?.folded ?? []);
  expect(hits.length + folded.length).toBe(names.length);
  expect(await house.sql("select count(*) from memory_documents")).toEqual([[names.length + 2]]);
  for (const args of [
    ["memory", "search", "--why", "kangaroo"],
    ["memory", "stats"],
    ["memory", "search", "owned"],
  ]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(claw(...args)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  }
});

test("pipes, sockets, devices, sparse giants, unreadable and endless things are left out, and nobody waits for them", async () => {
  execFileSync("mkfifo", [inFiles("pipe.md")]);
  const server = createServer().listen(inFiles("socket.md"));
  await once(server, "listening");
  if (process.getuid?.() === 0) spawnSync("mknod", [inFiles("zero.md"), "c", "1", "5"]);
  await symlink("/etc/passwd", inFiles("passwd.md"));
  await symlink("/proc/self/environ", inFiles("environ.md"));
  await symlink(".", inFiles("self"));
  await symlink("/", inFiles("root"));
  const giant = await open(inFiles("giant.md"), "w");
  await giant.truncate(SPARSE_BYTES);
  await giant.close();
  await writeFile(inFiles("invalid.md"), Buffer.from([0x6b, 0xff, 0xfe, 0x80, 0x20, 0x61]));
  await writeFile(inFiles("binary.md"), Buffer.from([0x6b, 0, 0x61]));
  await writeFile(inFiles("token.md"), `kangaroo ${"x".repeat(TOKEN_BYTES - 9)}`);
  await writeFile(inFiles("lines.md"), "\n".repeat(1_000_000));
  await writeFile(inFiles("headings.md"), "# a\n".repeat(100_000));
  let deep = house.workspace;
  for (let depth = 0; depth < 200; depth += 1) deep = join(deep, "d");
  await mkdir(deep, { recursive: true });
  await writeFile(join(deep, "deep.md"), "The kangaroo is too deep.\n");
  await writeFile(inFiles("locked.md"), "The kangaroo is locked.\n");
  await chmod(inFiles("locked.md"), 0);
  await writeFile(
    inFiles("broken.pdf"),
    "%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 1 0 R>>\nendobj\ntrailer<</Root 1 0 R>>",
  );
  await writeFile(inFiles("whole.pdf"), pdfWithPages(["A kangaroo in a PDF."]));
  await house.up();
  await house.index();
  const found = await house.texts("kangaroo");
  expect(found).toContain("The kangaroo is honest.");
  expect(found.join()).toContain("A kangaroo in a PDF");
  expect(found.join()).not.toMatch(/root:|too deep/);
  expect(await house.texts("root nologin")).toEqual([]);
  expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
  server.close();
});

/** A thread that puts a link to the house of secrets in a folder's place and back, as fast as it can. */
const SWAPPER = `
const { renameSync } = require("node:fs");
const { workerData } = require("node:worker_threads");
const { real, link, aside } = workerData;
for (;;) {
  renameSync(real, aside);
  renameSync(link, real);
  renameSync(real, link);
  renameSync(aside, real);
}`;

test("a folder that is swapped for a link while it is walked gives nothing from outside", async () => {
  const secrets = join(house.home, "secrets");
  await mkdir(secrets);
  await mkdir(inFiles("room"));
  for (let file = 0; file < 100; file += 1) {
    await writeFile(join(secrets, `f${file}.md`), "the swordfish is secret\n");
    await writeFile(inFiles("room", `f${file}.md`), "the herring is public\n");
  }
  await symlink(secrets, inFiles("link"));
  await house.up();
  const places = { real: inFiles("room"), link: inFiles("link"), aside: inFiles("aside") };
  const swapper = new Worker(SWAPPER, { eval: true, workerData: places });
  const gone = once(swapper, "exit");
  try {
    for (let round = 0; round < 5; round += 1) await house.index();
  } finally {
    await swapper.terminate();
    await gone;
  }
  expect(await house.texts("swordfish")).toEqual([]);
  expect(await house.sql("select count(*) from memory_chunks where text like '%swordfish%'")).toEqual([[0]]);
  expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
});

test("a folder that is filled and emptied while it is walked leaves an index that equals a fresh one", async () => {
  await house.up();
  await mkdir(inFiles("churn"));
  let churning = true;
  const churn = (async () => {
    for (let round = 0; churning; round += 1) {
      const file = inFiles("churn", `f${round % 50}.md`);
      if (round % 3 === 2) await rm(file, { force: true });
      else await writeFile(file, `kangaroo churn${round}\n`);
    }
  })();
  try {
    for (let round = 0; round < 15; round += 1) await house.index();
  } finally {
    churning = false;
    await churn;
  }
  await house.index();
  const mine = (await house.texts("kangaroo")).toSorted();
  for await (const _ of house.dial().memory.rebuild({}));
  expect((await house.texts("kangaroo")).toSorted()).toEqual(mine);
  expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
});

test(`${MANY_FILES} tiny files in one folder do not hold the daemon up`, {
  timeout: 60_000 + MANY_FILES * 5,
}, async () => {
  await mkdir(inFiles("many"));
  for (let file = 0; file < MANY_FILES; file += 1) await writeFile(inFiles("many", `${file}.md`), "k");
  await house.up();
  const indexed = house.index().then(
    () => "",
    (cause: unknown) => String(cause),
  );
  let slowestMs = 0;
  let over = false;
  void indexed.then(() => {
    over = true;
  });
  while (!over) {
    const before = performance.now();
    await house.dial().daemon.status({});
    slowestMs = Math.max(slowestMs, performance.now() - before);
  }
  if (MANY_FILES <= 200_000) expect(await indexed).toBe("");
  else expect(await indexed).toContain("more than 200000 files");
  console.log(`the slowest answer meanwhile took ${Math.round(slowestMs)} ms`);
  expect(await readFile(inFiles("honest.md"), "utf8")).toContain("honest");
});
