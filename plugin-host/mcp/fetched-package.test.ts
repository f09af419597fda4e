import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readFetched, writeFetched } from "./fetched-package.ts";
import { inspectModules } from "./npm-inspection.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "fetched-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const wanted = (...packages: readonly string[]) => ({
  kind: "npm" as const,
  packages,
  program: undefined,
  args: [],
});

function install(name: string, bin: unknown, files: Readonly<Record<string, string>>): void {
  const home = join(dir, "npm-1", "node_modules", name);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ name, version: "1.2.3", bin }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), text);
  const lock = {
    packages: {
      "": { dependencies: { [name]: "1.2.3" } },
      [`node_modules/${name}`]: { version: "1.2.3", integrity: "sha512-x" },
      [`node_modules/${name}/node_modules/@deep/native`]: { hasInstallScript: true },
    },
  };
  writeFileSync(join(dir, "npm-1", "package-lock.json"), JSON.stringify(lock));
}

test("the program is the one that npx would take, and what is no script of node's starts by itself", () => {
  install("@a/s", { other: "b.js", s: "a.js" }, { "a.js": "", "b.js": "" });
  const one = inspectModules(dir, "npm-1", wanted("@a/s"));
  expect(one).toMatchObject({
    value: { version: "1.2.3", integrity: "sha512-x", skippedScripts: ["@deep/native"], name: "@a/s" },
  });
  expect(one.ok && one.value.command).toEqual(["node", join(dir, "npm-1/node_modules/@a/s/a.js")]);
  install("@a/s", "run", { run: "#!/usr/bin/env node\n" });
  expect(inspectModules(dir, "npm-1", wanted("@a/s"))).toMatchObject({
    value: { command: ["node", join(dir, "npm-1/node_modules/@a/s/run")] },
  });
});

test("a program outside of its package is none, and neither is one that is not there", () => {
  writeFileSync(join(dir, "evil.js"), "");
  install("s", { s: "../../../evil.js", t: "/etc/passwd", u: "missing.js" }, {});
  expect(inspectModules(dir, "npm-1", wanted("s"))).toMatchObject({
    failure: { code: "not_found", message: "the package s has no program to start" },
  });
});

test("a program that is a link, a folder or a pipe is none, and files that are none or too long are not read", () => {
  const home = join(dir, "npm-1", "node_modules", "s");
  install("s", { s: "link.js", t: "lib", u: "pipe.js" }, {});
  symlinkSync("/etc/passwd", join(home, "link.js"));
  mkdirSync(join(home, "lib"));
  execFileSync("mkfifo", [join(home, "pipe.js")]);
  const nothing = { failure: { code: "not_found", message: "the package s has no program to start" } };
  expect(inspectModules(dir, "npm-1", wanted("s"))).toMatchObject(nothing);
  install("s", "s.js", { "s.js": "" });
  truncateSync(join(home, "package.json"), 2 ** 31);
  expect(inspectModules(dir, "npm-1", wanted("s"))).toMatchObject(nothing);
  install("s", "s.js", { "s.js": "" });
  const lock = join(dir, "npm-1", "package-lock.json");
  rmSync(lock);
  execFileSync("mkfifo", [lock]);
  expect(inspectModules(dir, "npm-1", wanted("s"))).toMatchObject(nothing);
});

test("a program of half a gigabyte is looked at and not read, and of very many a message names some", () => {
  install("s", { s: "s" }, { s: "#!/usr/bin/env node\n" });
  truncateSync(join(dir, "npm-1", "node_modules", "s", "s"), 2 ** 29);
  expect(inspectModules(dir, "npm-1", wanted("s"))).toMatchObject({ value: { command: ["node", expect.any(String)] } });
  install("s", Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`b${at}`, `${at % 2}.js`])), {
    ...{ "0.js": "", "1.js": "" },
  });
  const found = inspectModules(dir, "npm-1", wanted("s"));
  if (found.ok) throw new Error("there is no program of its name");
  expect(found.failure.message).toContain("several programs");
  expect(JSON.stringify(found.failure).length).toBeLessThan(1_000);
});

test("what was fetched counts for exactly what was asked for, and only while it is there", async () => {
  install("s", "s.js", { "s.js": "" });
  const found = inspectModules(dir, "npm-1", wanted("s@^1"));
  if (!found.ok) throw new Error(found.failure.message);
  await writeFetched(dir, found.value);
  expect(await readFetched(dir, wanted("s@^1"))).toEqual(found.value);
  expect(await readFetched(dir, wanted("s@^2"))).toBeUndefined();
  expect(await readFetched(dir, { ...wanted("s@^1"), program: "s" })).toBeUndefined();
  rmSync(join(dir, "npm-1"), { recursive: true });
  expect(await readFetched(dir, wanted("s@^1"))).toBeUndefined();
  writeFileSync(join(dir, "fetched.json"), '{"command":"rm"}');
  expect(await readFetched(dir, wanted("s@^1"))).toBeUndefined();
});
