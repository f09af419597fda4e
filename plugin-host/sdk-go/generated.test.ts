import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

test("the generated code in Go is that of today's protos; plugin-host/sdk-go/generate.sh makes it anew", () => {
  const hash = createHash("sha256");
  for (const file of globSync("proto/clawd/plugin/**/*.proto", { cwd: ROOT }).sort()) {
    hash.update(readFileSync(join(ROOT, file)));
  }
  expect(readFileSync(join(import.meta.dirname, "gen/protos.sha256"), "utf8")).toBe(`${hash.digest("hex")}\n`);
});
