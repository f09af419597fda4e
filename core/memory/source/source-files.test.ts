import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pdfWithPages } from "../fixtures/pdf-maker.ts";
import { splitFolders, splitPaths, stampFolder, walkFolder } from "./folder-walk.ts";
import { cutPdf, FILE_LIMIT_BYTES, type FileOutcome, readSources } from "./source-files.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "clawd-source-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function walk(only?: readonly string[]): { readonly paths: string[]; readonly folders: string[] } {
  const outcome = walkFolder({ root, ...(only && { only }) });
  if (outcome.status !== "walked") throw new Error(outcome.status);
  return { paths: splitPaths(outcome.paths), folders: splitFolders(outcome.folders) };
}

function read(path: string, hashes: readonly string[] = []): FileOutcome {
  const [outcome] = readSources({ root, files: [{ path, hashes }] });
  if (outcome === undefined) throw new Error("nothing was read");
  return outcome;
}

function changed(path: string) {
  const outcome = read(path);
  if (outcome.status !== "changed") throw new Error(outcome.status);
  return outcome;
}

test("dotted names, left-out folders and what ignore files name are not walked", () => {
  for (const folder of ["node_modules", "target", "__pycache__", "dist", ".git", ".hidden", "src"])
    put(`${folder}/a.md`, "x");
  for (const file of [".env", "keep.md", "a.log", "b.secret", "sub/c.secret", "sub/c.log", "sub/d.tmp"]) put(file, "x");
  put(".gitignore", "*.log\n*.secret\n");
  put(".clawdignore", "!b.secret\n");
  put("sub/.gitignore", "!c.log\n");
  put("sub/.clawdignore", "*.tmp\n");
  expect(walk()).toEqual({
    paths: ["b.secret", "keep.md", "src/a.md", "sub/c.log"],
    folders: ["", "src", "sub"],
  });
});

test("links are not followed, and a circle of them ends", () => {
  put("a/b.md", "x");
  symlinkSync("/etc", join(root, "etc"));
  symlinkSync("/etc/passwd", join(root, "passwd.txt"));
  symlinkSync("..", join(root, "a/up"));
  symlinkSync(root, join(root, "a/root"));
  expect(walk()).toEqual({ paths: ["a/b.md"], folders: ["", "a"] });
  for (const path of ["etc/passwd", "passwd.txt", "../../etc/passwd"])
    expect(read(path)).toEqual({ status: "skipped" });
});

test("only some paths are walked when only they are asked for, under the rules of the folders above them", () => {
  for (const path of ["a/1.md", "a/b/2.md", "a/b/c/3.md", "a/b/4.log", "d/5.md", "node_modules/6.md"]) put(path, "x");
  put("a/.gitignore", "*.log\n");
  expect(walk(["a/b"]).paths).toEqual(["a/b/2.md", "a/b/c/3.md"]);
  expect(walk(["a/b/2.md", "a/b/4.log", "gone.md", "d"]).paths).toEqual(["a/b/2.md", "d/5.md"]);
  expect(walk(["node_modules/6.md"]).paths).toEqual([]);
  expect(walk([]).paths).toEqual([]);
  expect(walk(["", "d"]).paths).toEqual(["a/1.md", "a/b/2.md", "a/b/c/3.md", "d/5.md"]);
});

test("binary, too large, foreign and unreadable files are told apart from texts", () => {
  put("text.weird", "words");
  put("nul.md", "a\0b");
  put("late.txt", `${"x".repeat(9_000)}\0end`);
  put("latin.txt", Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  put("large.txt", Buffer.alloc(FILE_LIMIT_BYTES + 1, "x"));
  put("limit.txt", Buffer.alloc(FILE_LIMIT_BYTES, "x"));
  put("bom.md", "\ufeff# Title\n\nwords");
  put("empty.md", "");
  execFileSync("mkfifo", [join(root, "pipe.md")]);
  expect(read("text.weird").status).toBe("changed");
  expect(read("nul.md").status).toBe("skipped");
  expect(changed("late.txt").pieces.at(-1)?.text).toContain(" end");
  expect(read("latin.txt")).toEqual({ status: "failed", reason: "it is not UTF-8" });
  expect(read("large.txt").status).toBe("skipped");
  expect(read("limit.txt").status).toBe("changed");
  expect(changed("bom.md").pieces[0]).toMatchObject({ title: "Title", text: "# Title\n\nwords" });
  expect(changed("empty.md").pieces).toEqual([]);
  expect(read("pipe.md").status).toBe("skipped");
  expect(read("none.md").status).toBe("skipped");
});

test.skipIf(process.getuid?.() === 0)("a file that may not be read is an error", () => {
  put("locked.md", "x");
  chmodSync(join(root, "locked.md"), 0);
  expect(read("locked.md").status).toBe("failed");
});

test("an unchanged file is known by its hash and cut no second time", () => {
  put("a.md", "words");
  utimesSync(join(root, "a.md"), 5, 7);
  const { hash, atMs } = changed("a.md");
  expect(atMs).toBe(7_000);
  expect(read("a.md", ["other", hash])).toEqual({ status: "unchanged", hash });
});

test("a file of another name has other ids, but titles and texts that a vector is kept for", () => {
  put("src/a.ts", `export function add() {\n${"  work();\n".repeat(20)}}\n`);
  const before = changed("src/a.ts").pieces;
  renameSync(join(root, "src/a.ts"), join(root, "src/b.ts"));
  const after = changed("src/b.ts").pieces;
  expect(after.map(({ title, text }) => [title, text])).toEqual(before.map(({ title, text }) => [title, text]));
  expect(after[0]?.title).toBe("export function add()");
  expect(after[0]?.id).not.toBe(before[0]?.id);
  expect(Number.isSafeInteger(after[0]?.id)).toBe(true);
});

test("a PDF is named, not read, and its pages are cut with their numbers", () => {
  put("a.pdf", pdfWithPages(["x"]));
  const outcome = read("a.pdf");
  expect(outcome.status).toBe("pdf");
  expect(outcome.status === "pdf" && read("a.pdf", [outcome.hash]).status).toBe("unchanged");
  const pieces = cutPdf({ key: "/a.pdf", pages: ["one", "", "three"] });
  expect(pieces.map(({ page, line, text }) => [page, line, text])).toEqual([
    [1, 0, "one"],
    [3, 0, "three"],
  ]);
  expect(new Set(cutPdf({ key: "/a.pdf", pages: ["same", "same"] }).map(({ id }) => id)).size).toBe(2);
});

test("a batch ends when it has a mebibyte of text", () => {
  for (const name of ["a", "b", "c"]) put(`${name}.txt`, "word ".repeat(150_000));
  const files = ["a.txt", "b.txt", "c.txt"].map((path) => ({ path, hashes: [] }));
  expect(readSources({ root, files })).toHaveLength(2);
});

test("the stamp of a folder is another after every change, and only then", () => {
  put("a/b.md", "one");
  const stamps = [stampFolder(root)];
  expect(stampFolder(root)).toBe(stamps[0]);
  put("a/b.md", "three");
  stamps.push(stampFolder(root));
  put("c.md", "new");
  stamps.push(stampFolder(root));
  rmSync(join(root, "a"), { recursive: true });
  stamps.push(stampFolder(root));
  rmSync(root, { recursive: true });
  stamps.push(stampFolder(root));
  expect(new Set(stamps).size).toBe(5);
});
