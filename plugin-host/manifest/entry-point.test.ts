import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkEntryPoint } from "./entry-point.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "entry-"));
  mkdirSync(join(dir, "plugin"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const hintFor = (folder: string) => {
  const checked = checkEntryPoint(["./words"], folder, "plugin.json");
  return checked.ok ? undefined : checked.failure.hint;
};

test("a program that is not built yet comes with the command that builds it, where its sources say which", () => {
  const plugin = join(dir, "plugin");
  expect(hintFor(plugin)).toMatch(/^build the plugin or put it there/);
  writeFileSync(join(dir, "go.mod"), "");
  expect(hintFor(plugin)).toContain(`build it: cd ${dir} && CGO_ENABLED=0 go build -trimpath -o plugin/ .;`);
  expect(hintFor(dir)).toContain(`build it: cd ${dir} && CGO_ENABLED=0 go build -trimpath -o ./ .;`);
  rmSync(join(dir, "go.mod"));
  writeFileSync(join(dir, "Cargo.toml"), "");
  expect(hintFor(plugin)).toContain(`build it: cd ${dir} && cargo install --path . --root plugin`);
  writeFileSync(join(plugin, "words"), "");
  expect(hintFor(plugin)).toBeUndefined();
});
