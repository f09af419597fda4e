import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { FETCH_HINT, MAY_FETCH_LANGUAGES } from "./thoroughness.ts";

const ROOT = join(import.meta.dirname, "../..");
const SDK = join(ROOT, "plugin-host/sdk-go");
const CACHE = join(ROOT, "node_modules/.cache/clawd-go");
/** Of a first build, with everything that it needs to download and compile; on a busy machine. */
export const BUILD_TIMEOUT_MS = 600_000;
const FLAGS = ["-ldflags", "-s -w"];
/** Without C there is nothing to find on the machine that it runs on. One set of flags for all, so that Go compiles once. */
export const GO_ENV = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-trimpath -buildvcs=false" };

const found = spawnSync("go", ["version"], { encoding: "utf8" });

/** Why nothing in Go can be built here; undefined when it can. */
export const goMissing = whyMissing();

function whyMissing(): string | undefined {
  if (found.status !== 0) return "there is no go on the PATH";
  return MAY_FETCH_LANGUAGES || existsSync(CACHE) ? undefined : FETCH_HINT;
}
if (goMissing !== undefined) process.stderr.write(`skipped: plugins in Go: ${goMissing}\n`);

/** The program of a Go module that uses the library, built once for each state of its sources and the library's. */
export async function buildGo(folder: string): Promise<Uint8Array> {
  const home = join(CACHE, await digestOf([folder, SDK]));
  const file = join(home, basename(folder));
  const cached = await readFile(file).catch(() => undefined);
  if (cached !== undefined) return cached;
  await mkdir(CACHE, { recursive: true });
  const fresh = await mkdtemp(join(CACHE, ".building-"));
  try {
    const options = { cwd: folder, env: GO_ENV, timeout: BUILD_TIMEOUT_MS };
    await promisify(execFile)("go", ["build", ...FLAGS, "-o", join(fresh, basename(folder)), "."], options);
    // Another worker may have been faster; its file is the same.
    await rename(fresh, home).catch(() => undefined);
    return await readFile(file);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function digestOf(folders: readonly string[]): Promise<string> {
  const hash = createHash("sha256").update(`${found.stdout} ${FLAGS.join(" ")}`);
  for (const folder of folders) {
    for (const file of (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && /\.(go|mod|sum)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()) {
      hash.update(`\n${relative(ROOT, file)}\n`).update(await readFile(file));
    }
  }
  return hash.digest("hex").slice(0, 32);
}
