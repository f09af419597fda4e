import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { type BrokerBench, bare, boxed, openBrokerBench } from "./fixtures/broker-bench.ts";

const isBoxed = boxed.level === "bubblewrap";
if (!isBoxed) console.warn(`children in a sandbox are not tested: ${boxed.detail}`);

const READ = { read: true, write: false, append: false, truncate: false, create: false, createNew: false, mode: null };
const NO_SUCH = "BadResource: Bad resource ID";
const HANDLE_CALLS = [
  ["fileRead", { bytes: 1 }],
  ["fileWrite", { data: "" }],
  ["fileSeek", { offset: 0, whence: 0 }],
  ["fileTruncate", { length: 0 }],
  ["fileSync", {}],
  ["fileStat", {}],
  ["fileUtime", { atime: 0, mtime: 0 }],
  ["watchNext", {}],
  ["commandRead", { from: "stdout" }],
  ["commandWrite", { data: null }],
  ["commandWait", {}],
  ["commandKill", {}],
  ["closeHandle", {}],
] as const;

/** What is held open is read off the system. */
const testLinux = test.skipIf(process.platform !== "linux");
let sleeps = 0;

const open: BrokerBench[] = [];

async function bench(options: Parameters<typeof openBrokerBench>[0] = {}): Promise<BrokerBench> {
  const made = await openBrokerBench({ env: { PATH: "/usr/bin:/bin" }, ...options });
  open.push(made);
  return made;
}

afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function openFile(room: BrokerBench, path: string, more: Partial<typeof READ> = {}): Promise<number> {
  const handle = await room.call("openFile", { path, options: { ...READ, ...more } });
  if (typeof handle !== "number") throw new Error(String(handle));
  return handle;
}

async function start(room: BrokerBench, line: string, stdin = false): Promise<number> {
  const order = { program: "sh", args: ["-c", line], cwd: null, env: {}, clearEnv: false, stdin };
  const handle = await room.call("commandStart", order);
  if (typeof handle !== "number") throw new Error(String(handle));
  return handle;
}

/** All that is left to read. */
async function readAll(room: BrokerBench, handle: number, from: "stdout" | "stderr"): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = await room.call("commandRead", { handle, from });
    if (piece === null) return Buffer.concat(pieces);
    pieces.push(Buffer.from(piece as string, "base64"));
  }
}

/** Processes of the machine with this among their arguments. */
function running(argument: string): number {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0").slice(0, 2).join(" ") === `sleep ${argument}`;
    } catch {
      return false; // it has ended since
    }
  }).length;
}

/** A length of sleep that nobody else's has, seconds. */
function ownSleep(): string {
  sleeps += 1;
  return `600.${process.pid}${sleeps}`;
}

/** How often this process holds what lies there open. */
function heldOpen(path: string): number {
  const links = readdirSync("/proc/self/fd").map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return ""; // it was the one that the list was read by
    }
  });
  return links.filter((link) => link === path).length;
}

describe("a handle", () => {
  test("of another guest, of nobody and of another kind is none", async () => {
    const options = { allow: ["read=."], files: { "a.txt": "mine" } };
    const [mine, other] = [await bench(options), await bench(options)];
    const handle = await openFile(mine, "a.txt");
    for (const [name, args] of HANDLE_CALLS) {
      expect(await other.call(name, { ...args, handle } as never), name).toBe(NO_SUCH);
      for (const wrong of [0, -1, 0.5, 1e15, handle + 1]) {
        expect(await mine.call(name, { ...args, handle: wrong } as never), name).toMatch(
          /^(BadResource|TypeError|RangeError)/,
        );
      }
      if (!name.startsWith("file") && name !== "closeHandle")
        expect(await mine.call(name, { ...args, handle } as never), name).toBe(NO_SUCH);
    }
    expect(await mine.call("fileRead", { handle, bytes: 9 })).toBe(btoa("mine"));
  });

  testLinux("is closed once, is not used afterwards, and its number does not come back", async () => {
    const room = await bench({ allow: ["read=."], files: { "a.txt": "text" } });
    const handle = await openFile(room, "a.txt");
    expect(await room.call("closeHandle", { handle })).toBe(null);
    expect(await room.call("closeHandle", { handle })).toBe(NO_SUCH);
    expect(await room.call("fileRead", { handle, bytes: 1 })).toBe(NO_SUCH);
    expect(await openFile(room, "a.txt")).not.toBe(handle);
    expect(heldOpen(room.path("a.txt"))).toBe(1);
  });

  testLinux("that is closed while it is used ends what is under way first", async () => {
    const room = await bench({ allow: ["read=.", "write=."], files: { "a.txt": "" } });
    const handle = await openFile(room, "a.txt", { write: true });
    const data = Buffer.alloc(1024 * 1024, "x").toString("base64");
    const writes = [1, 2, 3].map(() => room.call("fileWrite", { handle, data }));
    const closed = room.call("closeHandle", { handle });
    expect(await Promise.all([...writes, closed])).toEqual([1024 * 1024, 1024 * 1024, 1024 * 1024, null]);
    expect(readFileSync(room.path("a.txt"))).toHaveLength(3 * 1024 * 1024);
    expect(heldOpen(room.path("a.txt"))).toBe(0);
  });
});

describe("what a guest holds", () => {
  testLinux("are 64 files at a time, and one that is too many is not left open", async () => {
    const room = await bench({ allow: ["read=."], files: { "a.txt": "text" } });
    const tries = await Promise.all(
      Array.from({ length: 70 }, () => room.call("openFile", { path: "a.txt", options: READ })),
    );
    const refused = tries.filter((each) => typeof each === "string");
    expect(refused).toHaveLength(6);
    expect(refused[0]).toBe("Busy: 64 open files at once are the limit: close one first");
    expect(heldOpen(room.path("a.txt"))).toBe(64);
    await room.call("closeHandle", { handle: tries.find((each) => typeof each === "number") as number });
    await openFile(room, "a.txt");
  });

  test("are 16 watchers at a time", async () => {
    const room = await bench({ allow: ["read=."], folders: ["in"] });
    const watch = () => room.call("watchStart", { paths: ["in"], recursive: false });
    for (let count = 0; count < 16; count += 1) expect(await watch()).toEqual(expect.any(Number));
    expect(await watch()).toBe("Busy: 16 watchers at once are the limit: close one first");
  });

  testLinux("is closed with the guest, what is opened meanwhile included, and read by nobody afterwards", async () => {
    const room = await bench({ allow: ["read=."], files: { "a.txt": "text" } });
    const handle = await openFile(room, "a.txt");
    const watcher = (await room.call("watchStart", { paths: ["a.txt"], recursive: false })) as number;
    const waiting = room.raw("watchNext", { handle: watcher });
    const opening = room.raw("openFile", { path: "a.txt", options: READ });
    room.capabilities.close();
    expect(await waiting).toEqual({ ok: true, value: null });
    expect((await opening).ok).toBe(false);
    await expect.poll(() => heldOpen(room.path("a.txt"))).toBe(0);
    expect(await room.call("fileRead", { handle, bytes: 1 })).toMatch(/^Interrupted/);
  });
});

describe("a watcher", () => {
  test("of one file that was named twice tells each change once, and ends whole", async () => {
    const room = await bench({ allow: ["read=."], files: { "a.txt": "" } });
    const handle = (await room.call("watchStart", { paths: ["a.txt", "./a.txt"], recursive: false })) as number;
    writeFileSync(room.path("a.txt"), "new");
    expect(await room.call("watchNext", { handle })).toEqual({ kind: "modify", paths: [room.path("a.txt")] });
    const waiting = room.call("watchNext", { handle });
    expect(await room.call("closeHandle", { handle })).toBe(null);
    // One write may come as two changes.
    expect([null, { kind: "modify", paths: [room.path("a.txt")] }]).toContainEqual(await waiting);
  });

  test("that nobody asks keeps the newest changes, and no more than 256", async () => {
    const room = await bench({ allow: ["read=."], folders: ["in"] });
    const watch = async () => (await room.call("watchStart", { paths: ["in"], recursive: false })) as number;
    const [unasked, asked] = [await watch(), await watch()];
    const last = room.path("in/last");
    for (let count = 0; count < 600; count += 1) writeFileSync(room.path(`in/${count}`), "");
    writeFileSync(last, "");
    const readUntilLast = async (handle: number) => {
      for (let count = 1; ; count += 1) {
        const change = (await room.call("watchNext", { handle })) as { paths: string[] };
        if (change.paths[0] === last) return count;
      }
    };
    await readUntilLast(asked);
    expect(await readUntilLast(unasked)).toBeLessThan(600);
  });

  test("whose waiting is given up can be asked again", async () => {
    const room = await bench({ allow: ["read=."], folders: ["in"] });
    const handle = (await room.call("watchStart", { paths: ["in"], recursive: false })) as number;
    const waiting = room.capabilities.call(77, "watchNext", { handle });
    await room.raw("abort", { call: 77 });
    expect(await waiting).toEqual({ ok: true, value: null });
    writeFileSync(room.path("in/a"), "");
    expect(await room.call("watchNext", { handle })).toMatchObject({ paths: [room.path("in/a")] });
  });
});

const LEVELS = [
  ["in the sandbox", boxed, ["run=sh"]],
  ["without one", bare, ["run=sh", "read", "write", "net"]],
] as const;

describe.each(LEVELS)("a child %s", (_where, launcher, allow) => {
  const here = test.skipIf(process.platform !== "linux" || (launcher === boxed && !isBoxed));

  here("waits with output that nobody reads, and all of it is read after its end", async () => {
    const room = await bench({ launcher, allow });
    const quiet = await start(room, "head -c 40000 /dev/zero; echo err >&2");
    expect(await room.call("commandWait", { handle: quiet })).toEqual({ code: 0, signal: null });
    expect(await readAll(room, quiet, "stdout")).toHaveLength(40_000);
    expect(String(await readAll(room, quiet, "stderr"))).toBe("err\n");
    const loud = await start(room, "head -c 3000000 /dev/zero; echo end >&2");
    const waiting = room.call("commandWait", { handle: loud });
    expect(await readAll(room, loud, "stdout")).toHaveLength(3_000_000);
    expect(await waiting).toEqual({ code: 0, signal: null });
  });

  here("that prints without end is held back by its pipe, and is killed", async () => {
    const room = await bench({ launcher, allow });
    const handle = await start(room, "yes");
    expect(await room.call("commandRead", { handle, from: "stdout" })).toMatch(/^eQp5/);
    expect(await room.call("commandKill", { handle })).toBe(null);
    expect(await room.call("commandWait", { handle })).toMatchObject({ code: 137 });
    expect(await room.call("commandKill", { handle })).toBe(null);
    expect(await room.call("closeHandle", { handle })).toBe(null);
    expect(await room.call("commandWait", { handle })).toBe(NO_SUCH);
  });

  here("that is gone, or has closed its input, breaks the pipe", async () => {
    const room = await bench({ launcher, allow });
    const handle = await start(room, "exit 3", true);
    expect(await room.call("commandWait", { handle })).toEqual({ code: 3, signal: null });
    const write = () => room.call("commandWrite", { handle, data: btoa("x".repeat(100_000)) });
    expect([await write(), await write()].at(-1)).toBe("BrokenPipe: Broken pipe (os error 32)");
    expect(await room.call("commandWrite", { handle, data: null })).toBe(null);
    const ended = await start(room, "cat");
    expect(await room.call("commandWrite", { handle: ended, data: btoa("x") })).toMatch(/^BrokenPipe/);
  });

  here("whose write waits, because it reads nothing, is ended by its closing", async () => {
    const room = await bench({ launcher, allow });
    const handle = await start(room, "exec sleep 600", true);
    const writing = room.call("commandWrite", { handle, data: btoa("x".repeat(1_000_000)) });
    expect(await room.call("closeHandle", { handle })).toBe(null);
    expect(await writing).toMatch(/^BrokenPipe/);
  });

  here("is one of 16 at a time, and one that is too many does not run on", async () => {
    const room = await bench({ launcher, allow });
    const line = `exec sleep ${ownSleep()}`;
    const handles: number[] = [];
    for (let count = 0; count < 16; count += 1) handles.push(await start(room, line));
    const tooMany = ownSleep();
    await expect(start(room, `exec sleep ${tooMany}`)).rejects.toThrow(
      "Busy: 16 child processes at once are the limit: close one first",
    );
    expect(running(tooMany)).toBe(0);
    expect(await room.call("closeHandle", { handle: handles[0] ?? 0 })).toBe(null);
    await start(room, "true");
  });

  here("and all that it started does not outlive its guest", async () => {
    const room = await bench({ launcher, allow });
    const length = ownSleep();
    const handle = await start(room, `sleep ${length} & (sleep ${length} &); echo up; wait`);
    expect(await room.call("commandRead", { handle, from: "stdout" })).toBe(btoa("up\n"));
    await expect.poll(() => running(length)).toBe(2);
    const waiting = room.raw("commandRead", { handle, from: "stdout" });
    room.capabilities.close();
    expect(await waiting).toEqual({ ok: true, value: null });
    await expect.poll(() => running(length)).toBe(0);
  });
});
