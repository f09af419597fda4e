import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readServerEntry } from "./server-entry.ts";
import { usualLaunch } from "./usual-grant.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "usual-")));
  mkdirSync(join(dir, "home", "pkg", "dist"), { recursive: true });
  mkdirSync(join(dir, "node_modules", "s", "dist"), { recursive: true });
  mkdirSync(join(dir, "data"));
  writeFileSync(join(dir, "home", "pkg", "package.json"), "{}");
  writeFileSync(join(dir, "home", "package.json"), "{}");
  for (const file of ["home/pkg/dist/main.js", "home/alone.js", "node_modules/s/dist/index.js"])
    writeFileSync(join(dir, file), "");
});
afterEach(() => rmSync(dir, { recursive: true }));

function launch(command: string, args: readonly string[], allow: readonly string[] = []) {
  const place = { folder: dir, homeDir: join(dir, "home"), searchPath: "/usr/bin:/bin" };
  const read = readServerEntry("s", { command, args: [...args], allow: [...allow] }, { ...place, file: "f", env: {} });
  if (!read.ok) throw new Error(read.failure.message);
  return usualLaunch(read.value, place);
}

test("a script's package is read, and the folders and files named beside it", () => {
  const { command, allow } = launch("node", ["home/pkg/dist/main.js", join(dir, "data")]);
  expect(command).toEqual(["node", join(dir, "home/pkg/dist/main.js"), join(dir, "data")]);
  expect(allow).toEqual(["run", "write=./data", `read=${join(dir, "home/pkg")}`, `read=${join(dir, "data")}`]);
});

test("a script among installed packages reads all of them, and one that lies about alone reads itself", () => {
  expect(launch("node", [join(dir, "node_modules/s/dist/index.js")]).allow).toContain(
    `read=${join(dir, "node_modules")}`,
  );
  expect(launch("node", [join(dir, "home/alone.js")]).allow).toEqual([
    "run",
    "write=./data",
    `read=${join(dir, "home/alone.js")}`,
  ]);
});

test("the home folder is never read as a whole, whatever is named", () => {
  for (const named of [join(dir, "home"), dir, "/", "."])
    expect(launch("node", [named]).allow).toEqual(["run", "write=./data"]);
});

test("programs that the owner named leave the others away", () => {
  expect(launch("node", [], ["run=git"]).allow).toEqual(["write=./data"]);
});

test("a program beside the file is named by its path, one of the system by its name", () => {
  writeFileSync(join(dir, "tool"), "", { mode: 0o755 });
  expect(launch("./tool", []).command).toEqual([join(dir, "tool")]);
  expect(launch("sh", []).command).toEqual(["sh"]);
});
