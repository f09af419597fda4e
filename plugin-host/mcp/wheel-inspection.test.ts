import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findPython } from "./python-program.ts";
import { inspectWheels } from "./wheel-inspection.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "wheels-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const PYTHON = "/usr/bin/python3";
const inspect = (packages: readonly string[], program?: string) =>
  inspectWheels(PYTHON, dir, "f", { kind: "python", packages, program, args: [] });

function install(name: string, version: string, entryPoints: string): string {
  const info = join(dir, "f", "site", `${name}-${version}.dist-info`);
  mkdirSync(info, { recursive: true });
  writeFileSync(join(info, "entry_points.txt"), entryPoints);
  return info;
}

test("the program is the one of the package's name, however that is written, or the only one", () => {
  install(
    "My_Server",
    "1.2.0",
    "[gui_scripts]\nno = a:b\n[console_scripts]\n# x\nother = it:other\nmy-server=it.run:main\n",
  );
  expect(inspect(["my.server[cli]@1.2"])).toMatchObject({
    value: { name: "my-server", version: "1.2.0", integrity: "", command: [PYTHON, "-S", join(dir, "f/start.py")] },
  });
  const text = readFileSync(join(dir, "f/start.py"), "utf8");
  expect(text).toContain("import it.run\n");
  expect(text).toContain('sys.modules["it.run"].main()');
});

test("programs of packages beside it are not its own unless they are named", () => {
  install("one", "1", "[console_scripts]\na = one:main\n");
  install("two", "2", "[console_scripts]\nb = two:main\n");
  install("unasked", "3", "[console_scripts]\nc = unasked:main\n");
  expect(inspect(["one", "two"], "c")).toMatchObject({ failure: { code: "not_found" } });
  expect(inspect(["one", "two"], "b")).toMatchObject({ value: { name: "two", version: "2" } });
  rmSync(join(dir, "f/start.py"));
  expect(inspect(["one", "two"])).toMatchObject({ value: { name: "one" } });
});

test("what pip says it took is the digest", () => {
  install("one", "1", "[console_scripts]\na = one:main\n");
  mkdirSync(join(dir, "f/cache"));
  const archive_info = { hashes: { sha256: "ab".repeat(32) } };
  const report = { install: [{ metadata: { name: "One" }, download_info: { archive_info } }] };
  writeFileSync(join(dir, "f/cache/report.json"), JSON.stringify(report));
  expect(inspect(["one"])).toMatchObject({ value: { integrity: `sha256-${"ab".repeat(32)}` } });
});

test("words that are no names of Python's start nothing, and neither does a list that is a link", () => {
  const info = install("one", "1", '[console_scripts]\na = one:main;import os\nb = "x":y\nc = one:main()\nd = one\n');
  expect(inspect(["one"])).toMatchObject({ failure: { message: "the package one has no program to start" } });
  writeFileSync(join(dir, "list"), "[console_scripts]\na = one:main\n");
  rmSync(join(info, "entry_points.txt"));
  symlinkSync(join(dir, "list"), join(info, "entry_points.txt"));
  expect(inspect(["one"])).toMatchObject({ failure: { code: "not_found" } });
});

const python = findPython(process.env.PATH ?? "", "/nowhere");
if (python === undefined) console.log("skipped: no python3 here, by which what starts a server could be tried");

test.skipIf(python === undefined)("a program's name is a text, whatever it is made of", () => {
  install("one", "1", '[console_scripts]\na"+exit(7)+" \\x\u202e = one:main\n');
  writeFileSync(join(dir, "f/site/one.py"), "import sys\ndef main():\n    print(ascii(sys.argv))\n");
  expect(inspect(["one"])).toMatchObject({ ok: true });
  const said = execFileSync(python?.binary ?? "", ["-S", join(dir, "f/start.py"), "word"], { encoding: "utf8" });
  expect(said.trim()).toBe(String.raw`['a"+exit(7)+" \\x\u202e', 'word']`);
});

test("the system's Python comes first, and scripts and folders that may not be shown are passed over", () => {
  const at = (...words: readonly string[]) => join(dir, ...words);
  for (const folder of ["shims", "home/bin", "own/bin"]) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("shims/python3"), "#!/bin/sh\n");
  writeFileSync(at("home/bin/python3"), "\x7fELF");
  writeFileSync(at("own/bin/python3"), "\x7fELF");
  const path = [at("shims"), at("home/bin"), at("own/bin"), "relative"].join(":");
  expect(findPython(path, at("home"))).toEqual({ binary: at("own/bin/python3"), read: [at("own")] });
  expect(findPython(at("shims"), at("home"))).toBeUndefined();
});
