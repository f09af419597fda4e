import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CLAWD } from "../kit/claw.ts";
import { openMemoryHouse } from "../kit/memory-house.ts";

// A disk that is full, and a second daemon on the first one's data.

/** Memory leaves 128 MiB of the disk to others. */
const DISK_MIB = 192;
const disk = await mkdtemp(join(tmpdir(), "clawd-disk-"));
const isMounted =
  process.getuid?.() === 0 &&
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", disk]).status === 0;
if (!isMounted) console.log("skipped: the full disk (mounting a small tmpfs needs root)");

afterAll(async () => {
  if (isMounted) spawnSync("umount", ["-l", disk]);
  await rm(disk, { recursive: true, force: true });
});

/** Leaves so many bytes free, or none. */
function fillDisk(leftBytes: number): void {
  const filler = join(disk, "filler");
  const { stdout } = spawnSync("df", ["--output=avail", "-B1", disk], { encoding: "utf8" });
  const free = Number(stdout.trim().split("\n").at(-1));
  spawnSync("sh", ["-c", 'head -c "$1" /dev/zero >> "$2"', "sh", String(free - leftBytes), filler]);
}

/** The exit code; one that would stay is ended, and has none. */
async function endOf(child: ChildProcess): Promise<number | null> {
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  return code;
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => "",
    (cause: unknown) => String(cause),
  );

test.skipIf(!isMounted)(
  "on a disk that fills up nothing acknowledged is lost, searches go on, and work goes on when there is room again",
  { timeout: 90_000 },
  async () => {
    const house = await openMemoryHouse({}, join(disk, "home"));
    try {
      await house.files({ "a.md": "The kangaroo sleeps.\n" });
      await house.up();
      const { memory } = house.dial();
      await memory.remember({ text: "the kangaroo is called Skip" });
      await house.index();
      fillDisk(64 * 1_048_576);
      await house.files({ "b.md": "The wallaby wakes.\n" });
      expect(await failureOf(house.index())).toMatch(/MiB are free/);
      expect(await house.texts("kangaroo")).toHaveLength(2);
      await memory.remember({ text: "there is room for the wallaby in a note" });
      fillDisk(0);
      const kept: string[] = [];
      for (let number = 0; number < 40; number += 1) {
        const text = `wallaby${number} ${"of many words ".repeat(1_000)}`;
        const failure = await failureOf(memory.remember({ text }));
        if (failure === "") kept.push(`wallaby${number}`);
        else expect(failure).toMatch(/resource_exhausted|unavailable/);
      }
      expect(kept.length).toBeLessThan(40);
      expect(await house.texts("kangaroo")).toHaveLength(2);
      expect(await failureOf(memory.forget({ memoryIds: ["nobody"] }))).toContain("not_found");
      expect(await failureOf(house.sql("select count(*) from memory_chunks"))).toMatch(
        /^$|exhausted|unavailable|internal/,
      );
      await house.down("SIGKILL");
      await rm(join(disk, "filler"));
      await house.up();
      expect(await house.texts("kangaroo")).toHaveLength(2);
      for (const word of kept) expect(await house.texts(word), word).toHaveLength(1);
      await house.index();
      expect((await house.texts("wakes")).length).toBe(1);
      await house.dial().memory.remember({ text: "after all of it" });
      expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
    } finally {
      await house.close();
    }
  },
);

test.skipIf(!isMounted)(
  "a daemon that starts on a full disk answers from memory, and a store that is gone is made anew when there is room",
  { timeout: 90_000 },
  async () => {
    const house = await openMemoryHouse({}, join(disk, "home2"));
    try {
      await house.files({ "a.md": "The kangaroo sleeps.\n" });
      await house.up();
      await house.dial().memory.remember({ text: "the kangaroo is called Skip" });
      await house.index();
      await house.down();
      await rm(join(disk, "home2/memory/memory.duckdb"));
      fillDisk(0);
      const started = await failureOf(house.up());
      if (started === "") {
        // Notes need only the journal.
        const { hits } = await house.dial().memory.search({ query: "kind:note kangaroo", mode: "lexical" });
        expect(hits).toHaveLength(1);
        await failureOf(house.texts("kangaroo"));
      }
      await rm(join(disk, "filler"));
      await house.down("SIGKILL");
      await house.up();
      expect(await house.texts("kangaroo")).toHaveLength(2);
      expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
    } finally {
      await house.close();
    }
  },
);

test("a second daemon on the same data is turned away, and takes nothing of memory with it", {
  timeout: 60_000,
}, async () => {
  const house = await openMemoryHouse();
  try {
    await house.files({ "a.md": "The kangaroo sleeps.\n" });
    await house.up();
    await house.index();
    await house.dial().memory.remember({ text: "the kangaroo is called Skip" });
    // The same by another name of the folder, too.
    const name = join(house.workspace, "other-name");
    await symlink(house.home, name);
    for (const place of [house.home, name]) {
      const env = { ...house.env, CLAWD_HOME: place };
      const rivals = await Promise.all([1, 2, 3].map(() => endOf(spawn(process.execPath, [CLAWD], { env }))));
      for (const code of rivals) expect(code).toBeGreaterThan(0);
    }
    expect((await house.dial().daemon.status({})).pid).toBe(house.pid());
    expect(await house.texts("kangaroo")).toHaveLength(2);
    expect(existsSync(join(house.home, "memory/memory.duckdb.aside"))).toBe(false);
    expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
    await house.down();
    await writeFile(join(house.workspace, "b.md"), "The kangaroo wakes.\n");
    await house.up();
    await house.index();
    expect(await house.texts("kangaroo")).toHaveLength(3);
  } finally {
    await house.close();
  }
});
