import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type BrokerBench, openBrokerBench, WRITE } from "./fixtures/broker-bench.ts";

const open: BrokerBench[] = [];

async function bench(options: Parameters<typeof openBrokerBench>[0]): Promise<BrokerBench> {
  const made = await openBrokerBench(options);
  open.push(made);
  return made;
}

afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const CANARY = "canary-7f3a";

describe("reading", () => {
  test("gives a granted file as text and as bytes, with its byte order mark and U+FFFD for what is no UTF-8", async () => {
    const room = await bench({ allow: ["read=in"], files: { "in/a.txt": "hello" } });
    writeFileSync(room.path("in/odd"), Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff]));
    expect(await room.call("readTextFile", { path: "in/a.txt" })).toBe("hello");
    expect(await room.call("readTextFile", { path: room.path("in/a.txt") })).toBe("hello");
    expect(await room.call("readTextFile", { path: "in/odd" })).toBe("\ufeffa\ufffd");
    expect(await room.call("readFile", { path: "in/a.txt" })).toBe(Buffer.from("hello").toString("base64"));
    expect(room.capabilities.hadEffect).toBe(false);
  });

  test.each([
    [
      "./a/../../out.txt",
      /^NotCapable: Requires read access to ".\/a\/..\/..\/out.txt", run again with the --allow-read=/,
    ],
    ["../out.txt", /^NotCapable/],
    [
      "/etc/hosts",
      /^NotCapable: Requires read access to "\/etc\/hosts", run again with the --allow-read=\/etc\/hosts flag$/,
    ],
    ["", /^TypeError: Empty path/],
    ["a\0b", /^TypeError: .*NUL/],
    ["in/none", /^NotFound: No such file or directory \(os error 2\): readfile 'in\/none'$/],
    ["in", /^IsADirectory: Is a directory \(os error 21\): readfile 'in'$/],
    ["in/a.txt/x", /^NotADirectory/],
    [`in/${"x".repeat(300)}`, /^Error: File name too long \(os error 36\)/],
    [`in/${"x/".repeat(3000)}`, /^Error: File name too long \(os error 36\)/],
    ["IN/a.txt", /^NotCapable/],
    ["in-evil/x", /^NotCapable/],
    ["file:///etc/hosts", /^NotCapable/],
  ])("of %j is refused as Deno does it, or more strictly", async (path, expected) => {
    const room = await bench({
      allow: ["read=in"],
      files: { "in/a.txt": "x", "in-evil/x": CANARY, "out.txt": CANARY },
    });
    expect(await room.call("readTextFile", { path })).toMatch(expected);
  });

  test("goes nowhere through a link that leads out of the grant, and does not tell what is there", async () => {
    const room = await bench({
      allow: ["read=in"],
      files: { "in/a.txt": "x", "out/secret": CANARY },
      links: { "in/there": "../out/secret", "in/folder": "../out", "in/nothing": "../out/missing", "in/loop": "loop" },
    });
    const refusals = [];
    for (const path of [
      "in/there",
      "in/folder/secret",
      "in/nothing",
      "in/folder/missing",
      "in/folder/missing/deeper",
    ]) {
      refusals.push(String(await room.call("readTextFile", { path })).replaceAll(path, "X"));
      refusals.push(String(await room.call("stat", { path })).replaceAll(path, "X"));
    }
    expect(new Set(refusals)).toEqual(
      new Set(['NotCapable: Requires read access to all that "X" leads to, which goes beyond what is granted']),
    );
    expect(room.decisions.every(({ allowed }) => !allowed)).toBe(true);
    expect(await room.call("readTextFile", { path: "in/loop" })).toMatch(/^FilesystemLoop/);
  });

  test("follows a link within the grant, and a granted path that is itself a link", async () => {
    const room = await bench({
      allow: ["read=in", "read=door"],
      files: { "in/a.txt": "a", "house/b.txt": "b" },
      links: { "in/link": "a.txt", door: "house" },
    });
    expect(await room.call("readTextFile", { path: "in/link" })).toBe("a");
    expect(await room.call("readTextFile", { path: "door/b.txt" })).toBe("b");
    expect(await room.call("lstat", { path: "in/link" })).toMatchObject({ isSymlink: true, isFile: false });
    expect(await room.call("stat", { path: "in/link" })).toMatchObject({ isSymlink: false, isFile: true, size: 1 });
  });

  test("is stopped by a deny, as it is written and as it lies", async () => {
    const room = await bench({
      allow: ["read=in"],
      deny: ["read=in/secret"],
      files: { "in/secret/s": CANARY, "in/a": "a" },
      links: { "in/alias": "secret" },
    });
    expect(await room.call("readTextFile", { path: "in/secret/s" })).toBe(
      'NotCapable: Requires read access to "in/secret/s", which the --deny-read flag forbids',
    );
    expect(await room.call("readTextFile", { path: "in/alias/s" })).toMatch(/^NotCapable/);
    expect(await room.call("readTextFile", { path: "in/a" })).toBe("a");
  });

  test("takes no FIFO, socket or kernel file, also with all of read, and waits for none", async () => {
    const room = await bench({ allow: ["read"], folders: ["in"] });
    execFileSync("mkfifo", [room.path("in/fifo")]);
    const server = createServer().listen(room.path("in/socket"));
    await once(server, "listening");
    try {
      expect(await room.call("readTextFile", { path: "in/fifo" })).toMatch(/^Error: .* is not a regular file/);
      expect(await room.call("readTextFile", { path: "in/socket" })).toMatch(/^Error: .* is not a regular file/);
      expect(await room.call("stat", { path: "in/socket" })).toMatchObject({ isFile: false, isDirectory: false });
    } finally {
      server.close();
    }
    for (const path of [
      "/proc/self/environ",
      "/proc/1/environ",
      "/sys/kernel/uevent_seqnum",
      "/dev/mem",
      "/run",
      "/dev",
    ]) {
      expect(await room.call("readTextFile", { path })).toMatch(/^NotCapable: .*never granted/);
    }
    symlinkSync("/proc/self/environ", room.path("in/env"));
    expect(await room.call("readTextFile", { path: "in/env" })).toMatch(/^NotCapable/);
    expect(await room.call("readTextFile", { path: "/dev/null" })).toBe("");
    expect(await room.call("readFile", { path: "/dev/zero" })).toMatch(/^Error: .*limit/);
    expect(await room.call("readFile", { path: "/dev/urandom" })).toMatch(/^Error: .*limit/);
  });

  test("ends at 4 MiB, and text that would not fit into an answer is named", async () => {
    const room = await bench({ allow: ["read=in"], folders: ["in"] });
    writeFileSync(room.path("in/full"), Buffer.alloc(4 * 1024 * 1024, 97));
    writeFileSync(room.path("in/more"), Buffer.alloc(4 * 1024 * 1024 + 1));
    writeFileSync(room.path("in/nuls"), Buffer.alloc(3 * 1024 * 1024));
    expect(((await room.call("readTextFile", { path: "in/full" })) as string).length).toBe(4 * 1024 * 1024);
    expect(await room.call("readFile", { path: "in/more" })).toMatch(/^Error: "in\/more" is larger than 4194304 bytes/);
    expect(await room.call("readTextFile", { path: "in/nuls" })).toMatch(/^Error: .*control characters/);
    expect(((await room.call("readFile", { path: "in/nuls" })) as string).length).toBe(4 * 1024 * 1024);
  });

  test("opens the daemon's own data only to a grant that names a place in it", async () => {
    const files = { "home/token": CANARY, "home/hooks/rules": "r" };
    const probe = await bench({ files });
    const hidden = [probe.path("home")];
    for (const allow of [["read"], [`read=${probe.root}`]]) {
      const room = await bench({ allow, hidden });
      expect(await room.call("readTextFile", { path: probe.path("home/token") })).toMatch(
        /^NotCapable: .*daemon's own/,
      );
    }
    const room = await bench({ allow: ["read", `read=${probe.path("home/hooks/rules")}`], hidden });
    expect(await room.call("readTextFile", { path: probe.path("home/hooks/rules") })).toBe("r");
    expect(await room.call("readTextFile", { path: probe.path("home/token") })).toMatch(/^NotCapable/);
  });

  test("lists folders, and says what is none", async () => {
    const room = await bench({ allow: ["read=in"], files: { "in/a": "", "in/sub/b": "" }, links: { "in/l": "a" } });
    const listed = (await room.call("readDir", { path: "in" })) as { name: string }[];
    expect(listed.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: "a", isFile: true, isDirectory: false, isSymlink: false },
      { name: "l", isFile: false, isDirectory: false, isSymlink: true },
      { name: "sub", isFile: false, isDirectory: true, isSymlink: false },
    ]);
    expect(await room.call("readDir", { path: "in/a" })).toMatch(/^NotADirectory: Not a directory \(os error 20\)/);
    expect(await room.call("readDir", { path: "in/none" })).toMatch(/^NotFound/);
    expect(await room.call("readDir", { path: "." })).toMatch(/^NotCapable/);
  });
});

describe("writing", () => {
  test("makes, replaces and appends, with Deno's options", async () => {
    const room = await bench({ allow: ["write=out"], folders: ["out"] });
    const write = (path: string, data: string, options = {}) =>
      room.call("writeTextFile", { path, data, options: { ...WRITE, ...options } });
    expect(await write("out/a", "one and more")).toBe(null);
    expect(await write("out/a", "two")).toBe(null);
    expect(await write("out/a", "3", { append: true })).toBe(null);
    expect(readFileSync(room.path("out/a"), "utf8")).toBe("two3");
    expect(await write("out/a", "x", { createNew: true })).toMatch(
      /^AlreadyExists: File exists \(os error 17\): writefile/,
    );
    expect(await write("out/b", "x", { create: false })).toMatch(/^NotFound/);
    expect(await write("out/c", "x", { mode: 0o4755 })).toBe(null);
    expect(statSync(room.path("out/c")).mode & 0o7777).toBe(0o755);
    expect(await room.call("writeFile", { path: "out/d", data: "/wA=", options: WRITE })).toBe(null);
    expect([...readFileSync(room.path("out/d"))]).toEqual([255, 0]);
    expect(room.capabilities.hadEffect).toBe(true);
  });

  test.each([
    ["in.txt", /^NotCapable: Requires write access to "in.txt", run again with the --allow-write=in.txt flag$/],
    ["out/none/x", /^NotFound: No such file or directory/],
    ["out/sub", /^IsADirectory/],
    ["out/file/x", /^NotADirectory/],
    ["out/../in.txt", /^NotCapable/],
    ["out/link", /^NotCapable/],
    ["out/linkfolder/x", /^NotCapable/],
    ["out/dangling", /^NotCapable/],
    ["out/second", /^Error: "out\/second" has a second name/],
    ["out/fifo", /^Error: .* is not a regular file/],
    [`out/${"y".repeat(256)}`, /^Error: File name too long/],
    ["/dev/sda", /^NotCapable/],
  ])("to %s is refused and changes nothing", async (path, expected) => {
    const room = await bench({
      allow: ["write=out"],
      files: { "in.txt": "old", "out/file": "old" },
      folders: ["out/sub", "other"],
      links: { "out/link": "../in.txt", "out/linkfolder": "../other", "out/dangling": "../other/new" },
    });
    execFileSync("mkfifo", [room.path("out/fifo")]);
    linkSync(room.path("in.txt"), room.path("out/second"));
    expect(await room.call("writeTextFile", { path, data: "new", options: WRITE })).toMatch(expected);
    expect(readFileSync(room.path("in.txt"), "utf8")).toBe("old");
    expect(readdirSync(room.path("other"))).toEqual([]);
    expect(room.capabilities.hadEffect).toBe(false);
  });

  test("follows links within the grant", async () => {
    const room = await bench({
      allow: ["write=out"],
      files: { "out/a": "old" },
      links: { "out/link": "a", "out/fresh": "born" },
    });
    expect(await room.call("writeTextFile", { path: "out/link", data: "new", options: WRITE })).toBe(null);
    expect(await room.call("writeTextFile", { path: "out/fresh", data: "new", options: WRITE })).toBe(null);
    expect(readFileSync(room.path("out/a"), "utf8")).toBe("new");
    expect(readFileSync(room.path("out/born"), "utf8")).toBe("new");
    expect(lstatSync(room.path("out/link")).isSymbolicLink()).toBe(true);
  });

  test("never touches what is protected, whatever is granted", async () => {
    const room = await bench({
      allow: ["read", "write"],
      folders: ["w/.git/hooks", "w/sub"],
      files: { "w/plain": "" },
      links: { "w/alias": ".git" },
      protectedWrite: (path) => (path.split("/").includes(".git") ? "git runs what lies there" : undefined),
    });
    const path = "w/.git/hooks/pre-commit";
    const refusals = [
      await room.call("writeTextFile", { path, data: "x", options: WRITE }),
      await room.call("writeTextFile", { path: "w/alias/hooks/pre-commit", data: "x", options: WRITE }),
      await room.call("mkdir", { path: "w/alias/more", recursive: true, mode: null }),
      await room.call("mkdir", { path: "w/sub/.git/hooks", recursive: true, mode: null }),
      await room.call("remove", { path: "w/.git", recursive: true }),
      await room.call("remove", { path: "w", recursive: true }),
      await room.call("rename", { from: "w/.git", to: "w/git" }),
      await room.call("rename", { from: "w/plain", to: "w/.git/config" }),
      await room.call("rename", { from: "w/sub", to: "w/.git" }),
    ];
    for (const refusal of refusals) expect(refusal).toMatch(/^NotCapable/);
    expect(refusals[0]).toContain("git runs what lies there");
    expect(readdirSync(room.path("w/.git"))).toEqual(["hooks"]);
    expect(room.capabilities.hadEffect).toBe(false);
  });

  test("ends at 4 MiB a write and 16 MiB a file", async () => {
    const room = await bench({ allow: ["write=out"], folders: ["out"] });
    const data = "a".repeat(4 * 1024 * 1024);
    const append = { path: "out/a", data, options: { ...WRITE, append: true } };
    for (let at = 0; at < 4; at += 1) expect(await room.call("writeTextFile", append)).toBe(null);
    expect(await room.call("writeTextFile", { ...append, data: "b" })).toMatch(/^Error: .*16777216 bytes/);
    expect(await room.call("writeTextFile", { ...append, data: `${data}b` })).toMatch(/^RangeError/);
    expect(statSync(room.path("out/a")).size).toBe(16 * 1024 * 1024);
  });

  if (process.getuid?.() === 0) console.info("skipped: a read-only file, because root may write it");
  test.skipIf(process.getuid?.() === 0)("of a read-only file fails as it does for everybody", async () => {
    const room = await bench({ allow: ["write=out"], files: { "out/a": "old" } });
    chmodSync(room.path("out/a"), 0o444);
    expect(await room.call("writeTextFile", { path: "out/a", data: "x", options: WRITE })).toMatch(/^PermissionDenied/);
  });

  test("to /dev/null goes nowhere, and needs its grant", async () => {
    const room = await bench({ allow: ["write=/dev/null"] });
    expect(await room.call("writeTextFile", { path: "/dev/null", data: "x", options: WRITE })).toBe(null);
    expect(await room.call("writeTextFile", { path: "/dev/full", data: "x", options: WRITE })).toMatch(/^NotCapable/);
  });
});

describe("folders", () => {
  test("are made, also with all that is missing above them", async () => {
    const room = await bench({ allow: ["write=out"], files: { "out/file": "" } });
    const make = (path: string, recursive = false) => room.call("mkdir", { path, recursive, mode: null });
    expect(await make("out/a")).toBe(null);
    expect(await make("out/a")).toMatch(/^AlreadyExists: File exists \(os error 17\): mkdir 'out\/a'$/);
    expect(await make("out/a", true)).toBe(null);
    expect(await make("out/b/c/d")).toMatch(/^NotFound/);
    expect(await make("out/b/c/d", true)).toBe(null);
    expect(await make("out/file", true)).toMatch(/^AlreadyExists/);
    expect(await make("out/file/x", true)).toMatch(/^NotADirectory/);
    expect(await make("elsewhere", true)).toMatch(/^NotCapable/);
    expect(existsSync(room.path("out/b/c/d"))).toBe(true);
  });

  test("are removed empty, or with all that is in them but never through a link", async () => {
    const room = await bench({
      allow: ["write=out"],
      files: { "out/full/deep/a": "", "out/b": "", "keep/me": "here" },
      links: { "out/full/link": "../../keep", "out/other": "../keep" },
    });
    const remove = (path: string, recursive = false) => room.call("remove", { path, recursive });
    expect(await remove("out/none")).toMatch(
      /^NotFound: No such file or directory \(os error 2\): remove 'out\/none'$/,
    );
    expect(await remove("out/full")).toMatch(/^Error: Directory not empty \(os error 39\)/);
    expect(await remove("out/full", true)).toBe(null);
    expect(await remove("out/other", true)).toBe(null);
    expect(await remove("out/b")).toBe(null);
    expect(await remove("out", true)).toBe(null);
    expect(await remove("keep", true)).toMatch(/^NotCapable/);
    expect(readFileSync(room.path("keep/me"), "utf8")).toBe("here");
  });

  test("with something denied in them are neither removed nor moved", async () => {
    const room = await bench({
      allow: ["read=w", "write=w"],
      deny: ["write=w/a/kept", "read=w/b/secret"],
      files: { "w/a/kept/x": "", "w/b/secret/s": CANARY },
    });
    expect(await room.call("remove", { path: "w/a", recursive: true })).toMatch(/^NotCapable/);
    expect(await room.call("rename", { from: "w/a", to: "w/c" })).toMatch(/^NotCapable/);
    expect(await room.call("rename", { from: "w/b", to: "w/c" })).toMatch(/^NotCapable/);
    expect(readdirSync(room.path("w")).sort()).toEqual(["a", "b"]);
  });

  test("and files are moved by who may read and write here and write there", async () => {
    const files = { "w/a": "a", "ro/b": "b", "wo/c": "c" };
    const room = await bench({ allow: ["read=w,ro", "write=w,wo"], files, folders: ["w/sub"], links: { "w/l": "a" } });
    const move = (from: string, to: string) => room.call("rename", { from, to });
    expect(await move("w/a", "w/a2")).toBe(null);
    expect(await move("w/l", "w/l2")).toBe(null);
    expect(await move("ro/b", "w/b")).toMatch(/^NotCapable: Requires write access to "ro\/b"/);
    expect(await move("wo/c", "w/c")).toMatch(/^NotCapable: Requires read access to "wo\/c"/);
    expect(await move("w/a2", "ro/a")).toMatch(/^NotCapable: Requires write access to "ro\/a"/);
    expect(await move("w/none", "w/x")).toMatch(/^NotFound: .*: rename 'w\/none' -> 'w\/x'$/);
    expect(await move("w/a2", "w/sub")).toMatch(/^IsADirectory/);
    expect(await move("w/sub", "w/a2")).toMatch(/^NotADirectory/);
    expect(await move("w/a2", "wo/a")).toBe(null);
    expect(readdirSync(room.path("w")).sort()).toEqual(["l2", "sub"]);
  });

  test("that hold what is denied are not carried away from their denial", async () => {
    const room = await bench({
      allow: ["read=w", "write=w"],
      deny: ["read=w/a/b/secret", "write=w/c/kept"],
      files: { "w/a/b/secret": "canary", "w/c/kept": "old", "w/e/x": "x" },
    });
    const move = (from: string, to: string) => room.call("rename", { from, to });
    expect(await move("w/a", "w/a2")).toMatch(/^NotCapable/);
    expect(await move("w/a/b", "w/b")).toMatch(/^NotCapable/);
    expect(await move("w/c", "w/c2")).toMatch(/^NotCapable/);
    expect(await move("w/e", "w/e2")).toBe(null);
    expect(readdirSync(room.path("w")).sort()).toEqual(["a", "c", "e2"]);
  });

  test("that hold the daemon's own data are not carried away from their protection", async () => {
    const room = await bench({ allow: ["read", "write"], folders: ["user/home"], hidden: [] });
    const hidden = [room.path("user/home")];
    const guarded = await bench({
      allow: ["read", "write"],
      hidden,
      protectedWrite: (path) =>
        path.startsWith(room.path("user/home")) ? "clawd keeps its own data there" : undefined,
    });
    const from = room.path("user");
    expect(await guarded.call("rename", { from, to: room.path("other") })).toMatch(/^NotCapable/);
    expect(await guarded.call("remove", { path: from, recursive: true })).toMatch(/^NotCapable/);
    expect(existsSync(room.path("user/home"))).toBe(true);
  });
});

describe("while another process exchanges a folder for a link", () => {
  const SWAPS = `
    const fs = require("node:fs");
    const [root] = process.argv.slice(1);
    process.chdir(root);
    process.stdout.write("ready");
    for (;;) {
      fs.renameSync("in/door", "in/real"); fs.renameSync("in/fake", "in/door");
      fs.renameSync("in/door", "in/fake"); fs.renameSync("in/real", "in/door");
    }`;
  const ROUNDS = 2000;

  test("no read leaks and no write, mkdir or remove lands outside", { timeout: 120_000 }, async () => {
    const room = await bench({
      allow: ["read=in", "write=in"],
      files: { "in/door/file": "inside", "out/file": CANARY },
      links: { "in/fake": "../out" },
      // A clock so fast that no record waits for its turn.
      now: () => performance.now() * 1000,
    });
    const child = spawn(process.execPath, ["-e", SWAPS, room.root], { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    try {
      await once(child.stdout, "data");
      let insideReads = 0;
      for (let at = 0; at < ROUNDS; at += 1) {
        const read = await room.call("readTextFile", { path: "in/door/file" });
        if (read === "inside") insideReads += 1;
        expect(read).not.toContain(CANARY);
        const kind = at % 4;
        if (kind === 0) await room.call("writeTextFile", { path: "in/door/new", data: "x", options: WRITE });
        if (kind === 1) await room.call("mkdir", { path: "in/door/made", recursive: false, mode: null });
        if (kind === 2) await room.call("remove", { path: "in/door/made", recursive: true });
        if (kind === 3) await room.call("rename", { from: "in/door/new", to: "in/door/new2" });
      }
      expect(insideReads).toBeGreaterThan(0);
      expect(child.exitCode).toBe(null);
    } finally {
      child.kill("SIGKILL");
      await exited;
    }
    expect(readdirSync(room.path("out"))).toEqual(["file"]);
    expect(readFileSync(room.path("out/file"), "utf8")).toBe(CANARY);
  });
});

test("a full disk is said, not hidden", async ({ skip }) => {
  const room = await bench({ allow: ["write=small"], folders: ["small"] });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", room.path("small")], { stdio: "ignore" });
  } catch {
    skip("mounting a small disk is not allowed here");
  }
  try {
    const data = "x".repeat(256 * 1024);
    expect(await room.call("writeTextFile", { path: "small/a", data, options: WRITE })).toMatch(
      /^Error: No space left on device \(os error 28\): writefile 'small\/a'$/,
    );
  } finally {
    execFileSync("umount", [room.path("small")]);
  }
});

test("a place that was granted means what it was when it was granted", async () => {
  const room = await bench({ allow: ["read=in/rules"], files: { "in/rules/a": "a", "out/a": CANARY } });
  execFileSync("mv", [room.path("in/rules"), room.path("in/old")]);
  symlinkSync("../out", room.path("in/rules"));
  expect(await room.call("readTextFile", { path: "in/rules/a" })).toMatch(/^NotCapable/);
});
