import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HOOKS_MAX, type HookFolder, hookFolder } from "./hook-folder.ts";
import { onErrorAt } from "./hook-header.ts";

const HOOK = "/** @hook at=custom.nothing */\nexport default () => {};\n";
const MODULE = "export const part = 1;\n";
const SETTINGS = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: "true" }] }] } });

let dir = "";
let folder: HookFolder;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-folder-"));
  folder = hookFolder(dir);
});
afterEach(() => rm(dir, { recursive: true }));

const at = (path: string) => join(dir, path);

async function lay(count: number, name: (index: string) => string, text = HOOK): Promise<void> {
  for (let index = 0; index < count; index += 1) await writeFile(at(name(String(index).padStart(4, "0"))), text);
}

/** Those that deny at tool.before because they are broken, with the reason. */
async function brokenGuards() {
  return (await folder.hooks()).flatMap((hook) => {
    const failure = hook.failure();
    const denies = hook.header.points.includes("tool.before") && onErrorAt(hook.header, "tool.before") === "deny";
    return failure && denies ? [[hook.name, failure.message]] : [];
  });
}

describe("a settings file that cannot be read to its end is a broken guard:", () => {
  test.each<readonly [string, (path: string) => unknown, RegExp]>([
    [
      "ten gigabytes, of which one byte is written",
      async (path) => {
        await writeFile(path, "{");
        await truncate(path, 10 * 1024 ** 3);
      },
      /^x\.json has 10737418240 bytes; 1048576 are the limit$/,
    ],
    [
      "whole JSON of one byte too much, the hooks at its end",
      (path) => writeFile(path, `${" ".repeat(1024 ** 2 + 1 - SETTINGS.length)}${SETTINGS}`),
      /^x\.json has 1048577 bytes/,
    ],
    ["an empty one", (path) => writeFile(path, ""), /^x\.json: it is not JSON/],
    ["half of one", (path) => writeFile(path, '{"model": "x", "ho'), /^x\.json: it is not JSON/],
    ["a folder", (path) => mkdir(path), /^x\.json cannot be read$/],
    ["a pipe that nobody writes to", (path) => execFileSync("mkfifo", [path]), /^x\.json cannot be read$/],
    ["a link that leads nowhere", (path) => symlink("gone.json", path), /^x\.json cannot be read$/],
  ])("%s", async (_what, layIt, message) => {
    await layIt(at("x.json"));
    expect(await brokenGuards()).toEqual([["x", expect.stringMatching(message)]]);
    await rm(at("x.json"), { recursive: true });
    expect(await folder.hooks()).toEqual([]);
  });
});

test("a settings file of just the limit is read", async () => {
  await writeFile(at("x.json"), SETTINGS.padEnd(1024 ** 2));
  expect((await folder.hooks()).map((hook) => [hook.name, hook.failure()])).toEqual([["x/Stop.1", undefined]]);
});

test("a script's link that leads nowhere is a broken guard until it leads somewhere", async () => {
  await symlink("real/guard", at("guard.ts"));
  expect(await brokenGuards()).toEqual([["guard", "guard.ts cannot be read"]]);
  await mkdir(at("real"));
  await writeFile(at("real/guard"), HOOK);
  expect(await brokenGuards()).toEqual([]);
  expect((await folder.hooks()).map(({ name }) => name)).toEqual(["guard"]);
});

test("a folder that cannot be looked into denies, and what was known of it goes on", async () => {
  await writeFile(at("a.ts"), HOOK);
  expect(await brokenGuards()).toEqual([]);
  await rm(dir, { recursive: true });
  await writeFile(dir, "");
  expect(await brokenGuards()).toEqual([["hooks/", "the hooks folder cannot be read"]]);
  expect((await folder.hooks()).map(({ name }) => name)).toEqual(["hooks/", "a"]);
  await unlink(dir);
  expect(await folder.hooks()).toEqual([]);
  await mkdir(dir);
  await writeFile(at("b.ts"), HOOK);
  expect((await folder.hooks()).map(({ name }) => name)).toEqual(["b"]);
});

describe("the limit of hooks", () => {
  const tooMany = (count: number) => [
    ["hooks/", `the hooks folder holds ${count} hooks, 256 are the limit; remove some`],
  ];

  test("counts scripts, settings files and hooks of packages, and nothing else", async () => {
    await mkdir(at("pack"));
    await lay(HOOKS_MAX - 106, (index) => `s${index}.ts`);
    await lay(100, (index) => `pack/p${index}.ts`);
    await lay(5, (index) => `c${index}.json`, SETTINGS);
    await lay(300, (index) => `pack/m${index}.ts`, MODULE);
    await lay(50, (index) => `d${index}.json`, "{}");
    await lay(50, (index) => `n${index}.md`);
    await writeFile(at("s.ts"), HOOK);
    expect(await brokenGuards()).toEqual([]);
    expect(await folder.hooks()).toHaveLength(HOOKS_MAX);
    await writeFile(at("pack/m0000.ts"), HOOK);
    expect(await brokenGuards()).toEqual(tooMany(HOOKS_MAX + 1));
  });

  test("lets the first ones by name run, and the folder deny before all of them", async () => {
    await lay(1000, (index) => `h${index}.ts`);
    await writeFile(at("h0000.ts"), HOOK.replace("at=", "priority=-1000000 at="));
    const names = (await folder.hooks()).map(({ name }) => name);
    expect(await brokenGuards()).toEqual(tooMany(1000));
    expect(names).toHaveLength(1 + HOOKS_MAX);
    expect([names[0], names[1], names.at(-1)]).toEqual(["hooks/", "h0000", "h0255"]);
    for (let index = HOOKS_MAX; index < 1000; index += 1) await unlink(at(`h${String(index).padStart(4, "0")}.ts`));
    expect(await brokenGuards()).toEqual([]);
    expect(await folder.hooks()).toHaveLength(HOOKS_MAX);
  });

  test("is known to be kept again also when files that lie beyond it are changed in their place", async () => {
    await mkdir(at("pack"));
    await lay(HOOKS_MAX + 3, (index) => `pack/h${index}.ts`);
    expect(await brokenGuards()).toEqual(tooMany(HOOKS_MAX + 3));
    for (const index of [258, 257, 256]) {
      expect(await brokenGuards()).toHaveLength(1);
      await writeFile(at(`pack/h0${index}.ts`), MODULE);
    }
    expect(await brokenGuards()).toEqual([]);
    await writeFile(at("pack/h0258.ts"), HOOK);
    expect(await brokenGuards()).toEqual(tooMany(HOOKS_MAX + 1));
  });
});
