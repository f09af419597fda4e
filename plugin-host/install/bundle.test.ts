import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { bundleEntry } from "./bundle.ts";

const SDK = fileURLToPath(new URL("../sdk/plugin.ts", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "bundle-"));
afterAll(() => rmSync(dir, { recursive: true }));
const folder = join(dir, "plugin");
mkdirSync(join(folder, "words"), { recursive: true });
mkdirSync(join(dir, "keys"));
writeFileSync(join(dir, "keys", "id.json"), '"the secret"');
writeFileSync(join(folder, "words", "hello.json"), '"hello there"');

const bundle = (program: string) => {
  writeFileSync(join(folder, "main.ts"), program);
  return bundleEntry(folder, "main.ts", join(folder, "main.mjs"), SDK);
};

test.each([
  ["an import", 'import key from "../keys/id.json"; console.log(key);'],
  ["an import as text", 'import key from "../keys/id.json" with { type: "text" }; console.log(key);'],
  ["an import of every file of a name", 'console.log(await import("../keys/" + process.argv[2] + ".json"));'],
  ["an import of every file", 'console.log(await import("../keys/" + process.argv[2], { with: { type: "text" } }));'],
  ["a require of every file", 'console.log(require("../keys/" + process.argv[2] + ".json"));'],
])("%s brings in nothing from outside the plugin's folder", async (_, program) => {
  expect(await bundle(program)).toMatchObject({
    ok: false,
    failure: { code: "invalid", message: "main.ts imports ../keys/id.json, which is outside the plugin's folder" },
  });
});

test("what is in the folder comes in, by any import, and so does the library with all that it needs", async () => {
  const program = `import { servePlugin } from "clawd/plugin";
    console.log(servePlugin, await import("./words/" + process.argv[2] + ".json"));`;
  expect(await bundle(program)).toEqual({ ok: true, value: undefined });
  expect(readFileSync(join(folder, "main.mjs"), "utf8")).toContain("hello there");
});
