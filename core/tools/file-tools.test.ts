import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { madeFor, openToolBench, type ToolBench } from "./fixtures/tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = openToolBench();
});
afterEach(() => bench.close());

const put = (path: string, content: string | Uint8Array) =>
  writeFileSync(madeFor(join(bench.workspace, path)), content);
const seen = (path: string) => readFileSync(join(bench.workspace, path), "utf8");
const done = (output: string) => ({ status: "done", output });
const failedWith = (code: string, message: string) => ({
  status: "failed",
  failure: { code, message: expect.stringContaining(message) },
});

test("read shows a text as it is, and pages by lines", async () => {
  put("a.txt", "one\ntwö\nthree\n");
  expect(await bench.call("read", { path: "a.txt" })).toEqual(done("one\ntwö\nthree\n"));
  expect(await bench.call("read", { path: join(bench.workspace, "a.txt"), offset: 2, limit: 1 })).toEqual(
    done("twö\n[lines 2 to 2 are shown; call again with offset 3 for the rest]"),
  );
  expect(await bench.call("read", { path: "./x/../a.txt", offset: 3, limit: 1 })).toEqual(done("three\n"));
  expect(await bench.call("read", { path: "a.txt", offset: 9 })).toMatchObject(failedWith("invalid", "only 3 lines"));
});

test("read of a large file stops at a line and says how to go on; following it gives the whole file", async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index} ${"é".repeat(index % 17)}\n`);
  put("large.txt", lines.join(""));
  let whole = "";
  for (let offset: number | undefined = 1; offset !== undefined; ) {
    const { output } = await bench.call("read", { path: "large.txt", offset, limit: 100_000 });
    expect(output.length).toBeLessThan(100_000);
    const note = /\n\[lines .* with offset (\d+) for the rest\]$/.exec(output);
    whole += note ? output.slice(0, note.index + 1) : output;
    offset = note ? Number(note[1]) : undefined;
  }
  expect(whole).toBe(lines.join(""));
});

test("read of one endless line, of nothing, of bytes and of a folder says so", async () => {
  put("line.txt", "x".repeat(200_000));
  put("empty.txt", "");
  put("bytes.bin", Uint8Array.of(1, 0, 2));
  put("src/x", "");
  expect((await bench.call("read", { path: "line.txt" })).output).toMatch(
    /^x{80000}\n\[only the first 80,000 characters of line 1 are shown; .* offset 2 /,
  );
  expect(await bench.call("read", { path: "empty.txt" })).toEqual(done("[the file is empty]"));
  expect(await bench.call("read", { path: "bytes.bin" })).toMatchObject(failedWith("invalid", "binary"));
  expect(await bench.call("read", { path: "src" })).toMatchObject(failedWith("invalid", "not a regular file"));
  expect(await bench.call("read", { path: "src/x/y" })).toMatchObject(failedWith("invalid", "src/x/y"));
});

test("a mistyped name is told the nearest one", async () => {
  put("src/session.ts", "x");
  expect(await bench.call("read", { path: "src/sesion.ts" })).toMatchObject({
    failure: { code: "not_found", hint: "Did you mean src/session.ts?" },
  });
});

test("write creates folders, replaces whole files, keeps their mode and leaves nothing else behind", async () => {
  expect(await bench.call("write", { path: "a/b/c.txt", content: "eins" })).toEqual(
    done("Created a/b/c.txt (4 bytes)."),
  );
  chmodSync(join(bench.workspace, "a/b/c.txt"), 0o750);
  expect(await bench.call("write", { path: "a/b/c.txt", content: "zwei" })).toEqual(
    done("Replaced a/b/c.txt (4 bytes)."),
  );
  expect(seen("a/b/c.txt")).toBe("zwei");
  expect(statSync(join(bench.workspace, "a/b/c.txt")).mode & 0o777).toBe(0o750);
  expect(readdirSync(join(bench.workspace, "a/b"))).toEqual(["c.txt"]);
});

test("a file left by a write that was killed does not hinder the next one", async () => {
  put(".clawd-write-0.tmp", "half");
  expect(await bench.call("write", { path: "x", content: "whole" })).toMatchObject({ status: "done" });
  expect([seen("x"), seen(".clawd-write-0.tmp")]).toEqual(["whole", "half"]);
});

test("many writes of one folder at once do not disturb each other, and a reader never sees half a file", async () => {
  const texts = Array.from({ length: 16 }, (_, index) => String(index % 10).repeat(200_000));
  put("same.txt", texts[0] ?? "");
  let isWriting = true;
  const torn: string[] = [];
  const reading = (async () => {
    while (isWriting) {
      const text = seen("same.txt");
      if (!texts.includes(text)) torn.push(`${text.length} characters`);
      await new Promise(setImmediate);
    }
  })();
  const written = await Promise.all(texts.map((content) => bench.call("write", { path: "same.txt", content })));
  isWriting = false;
  await reading;
  expect(torn).toEqual([]);
  expect(written.every(({ status }) => status === "done")).toBe(true);
  expect(readdirSync(bench.workspace).sort()).toEqual(["data", "same.txt"]);
});

test("write refuses folders, the workspace itself, and a file in the way of a folder", async () => {
  put("src/x", "");
  expect(await bench.call("write", { path: "src", content: "" })).toMatchObject(failedWith("invalid", "not a regular"));
  expect(await bench.call("write", { path: ".", content: "" })).toMatchObject(
    failedWith("invalid", "workspace itself"),
  );
  expect(await bench.call("write", { path: "src/x/y", content: "" })).toMatchObject(failedWith("invalid", "src/x"));
  expect(await bench.call("write", { path: "~/x", content: "" })).toMatchObject(failedWith("invalid", "~/x"));
  expect(await bench.call("write", { path: "a\0b", content: "" })).toMatchObject(failedWith("invalid", "NUL"));
});

test("a name that is too long is refused", async () => {
  expect(await bench.call("write", { path: "x".repeat(300), content: "" })).toMatchObject(
    failedWith("invalid", "too long"),
  );
});

test("a write for which there is no space fails with a word; the old content stays and nothing is left over", () => {
  put("kept.txt", "old");
  const script = `
    import { createTools } from ${JSON.stringify(join(import.meta.dirname, "tools.ts"))};
    const shell = { searchPath: "", network: "none", read: [], write: [] };
    const write = createTools({ launcher: { level: "none" }, protectedPaths: [], shell })[1];
    const context = { workspace: process.argv[1], signal: new AbortController().signal };
    const { failure } = await write.run({ path: "kept.txt", content: "x".repeat(1_000_000) }, context);
    console.log(failure.code);`;
  // The largest file a process may write is the only full disk that needs no privileges.
  const limited = `trap '' XFSZ; ulimit -f 64; exec "$@"`;
  const node = [process.execPath, "--input-type=module", "-e", script, bench.workspace];
  expect(execFileSync("/bin/sh", ["-c", limited, "sh", ...node], { encoding: "utf8" })).toBe("exhausted\n");
  expect(seen("kept.txt")).toBe("old");
  expect(readdirSync(bench.workspace).sort()).toEqual(["data", "kept.txt"]);
});

test("edit changes the one place and keeps everything else, byte for byte", async () => {
  put("a.ts", "\uFEFFconst a = 1;\r\nconst b = 2;\r\n");
  expect(await bench.call("edit", { path: "a.ts", old_text: "b = 2", new_text: "b = 3" })).toEqual(
    done("Changed a.ts in 1 place, at line 2."),
  );
  expect(seen("a.ts")).toBe("\uFEFFconst a = 1;\r\nconst b = 3;\r\n");
  expect(await bench.call("edit", { path: "a.ts", old_text: "const", new_text: "let", all: true })).toEqual(
    done("Changed a.ts in 2 places, first at line 1."),
  );
  expect(await bench.call("edit", { path: "a.ts", old_text: "let", new_text: "x" })).toMatchObject(
    failedWith("conflict", "2 times"),
  );
});

test("edit refuses what it would damage", async () => {
  put("latin.txt", Uint8Array.of(0x61, 0xe9, 0x62));
  put("target.txt", "a");
  symlinkSync("target.txt", join(bench.workspace, "link.txt"));
  expect(await bench.call("edit", { path: "latin.txt", old_text: "a", new_text: "b" })).toMatchObject(
    failedWith("invalid", "UTF-8"),
  );
  expect(await bench.call("edit", { path: "link.txt", old_text: "a", new_text: "b" })).toMatchObject(
    failedWith("denied", "symbolic link"),
  );
  expect([seen("target.txt"), readFileSync(join(bench.workspace, "latin.txt")).length]).toEqual(["a", 3]);
});

test("of two edits of the same moment none is lost without a word", async () => {
  put("count.txt", Array.from({ length: 8 }, (_, index) => `slot ${index}: free\n`).join(""));
  const edits = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      bench.call("edit", { path: "count.txt", old_text: `slot ${index}: free`, new_text: `slot ${index}: taken` }),
    ),
  );
  const kept = Array.from({ length: 8 }, (_, index) => seen("count.txt").includes(`slot ${index}: taken`));
  expect(kept).toEqual(edits.map(({ status }) => status === "done"));
  expect(kept).toContain(true);
});

test("list shows a folder sorted, and its depths without what programs made", async () => {
  for (const path of ["b.txt", "a/x.txt", "a/b/y.txt", "node_modules/m/i.js", ".git/HEAD"]) put(path, "");
  symlinkSync("/etc", join(bench.workspace, "z"));
  expect((await bench.call("list", {})).output.split("\n")).toEqual([
    ".git/",
    "a/",
    "b.txt",
    "node_modules/",
    "z -> /etc",
  ]);
  expect((await bench.call("list", { path: "a", recursive: true })).output.split("\n")).toEqual([
    "a/b/",
    "a/b/y.txt",
    "a/x.txt",
  ]);
  expect((await bench.call("list", { recursive: true, limit: 2 })).output).toBe(
    ".git/\na/\n[only the first 2 entries are shown; list a folder below, or grep]",
  );
  mkdirSync(join(bench.workspace, "empty"));
  expect(await bench.call("list", { path: "empty" })).toEqual(done("[the folder is empty]"));
});

test("grep finds lines by pattern, place and kind of file, and says what it left out", async () => {
  put("src/a.ts", "let needle = 1;\nnothing\n");
  put("src/b.md", "a Needle here\n");
  put("bin", Uint8Array.of(0, 1, 2));
  put("node_modules/x.ts", "needle");
  expect((await bench.call("grep", { pattern: "needle" })).output.split("\n")).toEqual([
    "src/a.ts:1: let needle = 1;",
    "[not searched: 1 binary file]",
  ]);
  expect((await bench.call("grep", { pattern: "needle", ignore_case: true, path: "src" })).output.split("\n")).toEqual([
    "src/a.ts:1: let needle = 1;",
    "src/b.md:1: a Needle here",
  ]);
  expect(await bench.call("grep", { pattern: "needle", include: "*.md", path: "src" })).toEqual(
    done("[no match in 1 file]"),
  );
  expect(await bench.call("grep", { pattern: "noth", path: "src/a.ts" })).toEqual(done("src/a.ts:2: nothing"));
  expect((await bench.call("grep", { pattern: ".", limit: 2 })).output).toContain("stopped after 2 matches");
  expect(await bench.call("grep", { pattern: "x", path: "gone" })).toMatchObject(failedWith("not_found", "gone"));
});

test("grep on a line of a million letters shows the place of the match, and a slow pattern ends with a word", async () => {
  put("min.js", `${"x".repeat(5_000)}needle${"y".repeat(1_000_000)}\n`);
  const { output } = await bench.call("grep", { pattern: "needle" });
  expect(output).toMatch(/^min\.js:1: …x{80}needley+…$/);
  expect(output.length).toBeLessThan(400);
  put("slow.txt", `${"a".repeat(60)}!\n`);
  expect(await bench.call("grep", { pattern: "^(a|a)+$", path: "slow.txt" })).toMatchObject(
    failedWith("exhausted", "line 1 of slow.txt"),
  );
});

test("an interrupted search and an interrupted listing end", async () => {
  put("a.txt", "x");
  const signal = AbortSignal.abort();
  for (const [tool, args] of [
    ["grep", { pattern: "x" }],
    ["list", { recursive: true }],
    ["read", { path: "a.txt" }],
  ] as const) {
    expect(await bench.call(tool, args, { signal })).toMatchObject({
      status: "failed",
      failure: { code: "cancelled" },
    });
  }
});
