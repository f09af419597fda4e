import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const PROTOS = ["proto/clawd/plugin/*/*.proto", "proto/grpc/health/*/*.proto"];

test("the Rust of the protos is that of the protos as they are; otherwise: npm exec -- plugin-host/sdk-rust/generate.sh", () => {
  const now = globSync(PROTOS, { cwd: ROOT })
    .sort()
    .map(
      (file) =>
        `${createHash("sha256")
          .update(readFileSync(join(ROOT, file)))
          .digest("hex")}  ${file}\n`,
    );
  expect(now.join("")).toBe(readFileSync(join(import.meta.dirname, "src/wire/protos.sha256"), "utf8"));
});
