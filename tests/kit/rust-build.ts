import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { FETCH_HINT, MAY_FETCH_LANGUAGES } from "./thoroughness.ts";

const ROOT = join(import.meta.dirname, "../..");
/** One for all crates: what they have in common is compiled once. */
const TARGET = join(ROOT, "node_modules/.cache/clawd-rust");
/** Of a first build, with everything that it needs to download and compile; on a busy machine. */
export const RUST_TIMEOUT_MS = 600_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** What builds fastest, and needs the least space. */
const ENV = {
  ...process.env,
  CARGO_TARGET_DIR: TARGET,
  CARGO_INCREMENTAL: "0",
  CARGO_PROFILE_DEV_DEBUG: "false",
  CARGO_PROFILE_DEV_STRIP: "symbols",
  CARGO_TERM_COLOR: "never",
};

/** Why nothing in Rust can be built here; undefined when it can. */
export const rustMissing = whyMissing();

function whyMissing(): string | undefined {
  if (spawnSync("cargo", ["--version"]).status !== 0) return "there is no cargo on the PATH";
  return MAY_FETCH_LANGUAGES || existsSync(TARGET) ? undefined : FETCH_HINT;
}
if (rustMissing !== undefined) process.stderr.write(`skipped: plugins in Rust: ${rustMissing}\n`);

/** A program of a crate. Nothing is compiled that was compiled before; cargo lets one build after the other in. */
export async function buildRust(crate: string, program: string): Promise<Uint8Array> {
  await cargo(crate, "build", "--bin", program);
  return readFile(join(TARGET, "debug", program));
}

/** The crate's own tests; gives what they print. Rejects when one fails. */
export function testRust(crate: string, ...flags: readonly string[]): Promise<string> {
  return cargo(crate, "test", ...flags);
}

async function cargo(crate: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: crate, env: ENV, timeout: RUST_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  const { stdout } = await promisify(execFile)("cargo", args, options);
  return stdout;
}
