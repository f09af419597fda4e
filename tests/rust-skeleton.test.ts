import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, openBench } from "./kit/claw.ts";
import { buildRust, RUST_TIMEOUT_MS, rustMissing, testRust } from "./kit/rust-build.ts";

/*
 * A plugin in Rust from nothing: written by `claw plugin new`, tested, built, installed and used in a conversation.
 */

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

test.skipIf(rustMissing !== undefined)(
  "a Rust skeleton passes its own test, is built, installed and called",
  async () => {
    const written = await bench.claw("plugin", "new", "rust", "rusty");
    expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining("cargo install --path . --root plugin") });
    const folder = join(bench.workspace, "rusty");
    expect(await testRust(folder)).toContain("3 passed; 0 failed");
    mkdirSync(join(folder, "plugin/bin"));
    writeFileSync(join(folder, "plugin/bin/rusty"), await buildRust(folder, "rusty"), { mode: 0o755 });
    expect(await bench.claw("plugin", "install", "rusty/plugin", "--yes")).toMatchObject({ code: 0 });
    const words = 'call plugin_rusty_count_words {"text":"one two three"}';
    expect((await bench.claw("say", words, "--yolo")).stdout).toContain("3 words");
  },
  RUST_TIMEOUT_MS,
);
