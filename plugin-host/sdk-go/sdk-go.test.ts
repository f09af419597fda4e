import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BUILD_TIMEOUT_MS, GO_ENV, goMissing } from "../../tests/kit/go-build.ts";

test.skipIf(goMissing !== undefined)("the library for Go passes its own tests", { timeout: BUILD_TIMEOUT_MS }, () => {
  const go = (...args: readonly string[]) =>
    execFileSync("go", args, { cwd: import.meta.dirname, env: GO_ENV, encoding: "utf8", stdio: "pipe" });
  expect(go("vet", ".")).toBe("");
  expect(go("test", ".")).toMatch(/^ok\s+clawd\.dev\/plugin/);
});

test.skipIf(goMissing !== undefined)("and is formatted as gofmt does it, like all that uses it", () => {
  const root = join(import.meta.dirname, "../..");
  const folders = ["plugin-host/sdk-go", "plugins-examples/code-search", "tests/contract/fixtures", "bench"];
  expect(execFileSync("gofmt", ["-l", ...folders], { cwd: root, encoding: "utf8" })).toBe("");
});
