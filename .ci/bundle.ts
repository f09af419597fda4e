// Bundles the entries into dist/, which the bins run: one file loads faster than three hundred, and the hook host runs
// with --jitless, where Node cannot strip types.
import { createHash } from "node:crypto";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const PACKAGES_LEFT_OUT = ["@duckdb/node-api", "isolated-vm", "esbuild", "piscina"];

// Some packages in the bundle still call require; an ES module has none of its own.
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** What went into dist/ and its SHA-256, so that a stale dist/ can be told. */
export const DIGESTS = "dist/inputs.json";

export async function digestOf(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

async function bundle(): Promise<void> {
  await rm("dist", { recursive: true, force: true });
  const shared = {
    bundle: true,
    metafile: true,
    target: "node24",
    logLevel: "warning",
    legalComments: "none",
  } as const;
  const programs = await build({
    ...shared,
    entryPoints: {
      claw: "cli/main.ts",
      clawd: "core/daemon/main.ts",
      "query-process": "core/memory/query-process.ts",
      "ranking-worker": "core/memory/ranking-worker.ts",
    },
    outdir: "dist",
    platform: "node",
    format: "esm",
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    external: PACKAGES_LEFT_OUT,
    banner: { js: REQUIRE },
    chunkNames: "chunks/[name]-[hash]",
  });
  // The sandbox shows a hook host this one file and nothing beside it.
  const hookHost = await build({
    ...shared,
    entryPoints: { "hook-host": "sandbox/isolate/hook-host.ts" },
    outdir: "dist",
    platform: "node",
    format: "esm",
    banner: { js: REQUIRE },
  });
  const prelude = await build({
    ...shared,
    entryPoints: { "guest-prelude": "sandbox/isolate/guest-prelude.ts" },
    outdir: "dist",
    platform: "neutral",
    format: "iife",
  });
  for (const bin of ["dist/claw.js", "dist/clawd.js"]) {
    await writeFile(bin, `#!/usr/bin/env node\n${await readFile(bin, "utf8")}`);
    await chmod(bin, 0o755);
  }
  const inputs = [programs, hookHost, prelude]
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .filter((file) => !file.includes("node_modules"))
    .sort();
  const digests = await Promise.all(inputs.map(async (file) => [file, await digestOf(file)]));
  await writeFile(DIGESTS, JSON.stringify(Object.fromEntries(digests), null, 1));
}

if (import.meta.main) await bundle();
