import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, openBench } from "./kit/claw.ts";
import { BUILD_TIMEOUT_MS, GO_ENV, goMissing } from "./kit/go-build.ts";

/* What docs/go.md promises: a plugin in Go from nothing to a call in a conversation, with what claw prints. */

describe.skipIf(goMissing !== undefined)("a skeleton in Go", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench.close());
  const go = (...args: readonly string[]) =>
    execFileSync("go", args, { cwd: join(bench.workspace, "gopher"), env: GO_ENV, encoding: "utf8", stdio: "pipe" });

  test("passes its own tests, needs nothing tidied, is installed and called", {
    timeout: BUILD_TIMEOUT_MS,
  }, async () => {
    const made = await bench.claw("plugin", "new", "go", "gopher");
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("go build -trimpath -o plugin/ .") });
    expect(go("mod", "tidy", "-diff")).toBe("");
    expect(go("test", ".")).toContain("ok");
    const manifest = join(bench.workspace, "gopher/plugin/plugin.json");
    const before = JSON.parse(readFileSync(manifest, "utf8"));
    go("run", ".", "manifest", "plugin/plugin.json");
    expect(JSON.parse(readFileSync(manifest, "utf8"))).toEqual(before);
    go("build", "-o", "plugin/", ".");
    expect(await bench.claw("plugin", "install", "gopher/plugin", "--yes")).toMatchObject({ code: 0 });
    const said = await bench.claw("say", 'call plugin_gopher_count_words {"text":"one two three"}', "--yolo");
    expect(said.stdout).toContain("3 words");
  });

  test("started by hand it explains itself and ends with code 64", () => {
    const program = join(bench.workspace, "gopher/plugin/gopher");
    expect(() => execFileSync(program, { env: {}, stdio: "pipe" })).toThrow(
      expect.objectContaining({ status: 64, stderr: expect.any(Buffer) }),
    );
    expect(() => execFileSync(program, { env: {}, stdio: "pipe" })).toThrow(/claw plugin install FOLDER/);
  });
});
