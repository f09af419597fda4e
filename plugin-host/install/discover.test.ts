import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { discoverPlugins } from "./discover.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "clawd-discover-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("every folder is listed, and those after the first thousand say why they are not read", () => {
  const name = (index: number) => `plugin-${String(index).padStart(4, "0")}`;
  for (let index = 0; index < 1_002; index += 1) mkdirSync(join(dir, name(index)));
  writeFileSync(join(dir, name(1_001), "plugin.json"), "nobody reads this");
  const found = discoverPlugins(dir);
  expect(found.map((one) => one.name)).toEqual(Array.from({ length: 1_002 }, (_, index) => name(index)));
  expect(found.slice(998).map(({ read }) => (read.ok ? "" : read.failure.code))).toEqual([
    ...["not_found", "not_found", "exhausted", "exhausted"],
  ]);
  expect(found[1_001]?.read).toMatchObject({
    failure: { message: 'plugin "plugin-1001" comes after the first 1000 by name, and no more are read' },
  });
});
