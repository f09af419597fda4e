// Bundles the entries into dist/, which the bins run: one file loads faster than three hundred, and the hook host runs
// with --jitless, where Node cannot strip types.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { guestBundles } from "./guest-bundles.ts";

const PACKAGES_LEFT_OUT = ["@duckdb/node-api", "isolated-vm", "esbuild", "piscina", "undici"];

// Some packages in the bundle still call require; an ES module has none of its own.
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** What editors of hook authors load; it becomes dist/hooks.d.ts as it is. */
const HOOK_TYPES = "sandbox/guest/types/hooks.d.ts";

/** What went into dist/ and its SHA-256, so that a stale dist/ can be told. */
export const DIGESTS = "dist/inputs.json";

export async function digestOf(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/**
 * Builds into folders of its own and changes them over in one step: whoever runs out of dist/ meanwhile, a daemon that
 * loads a chunk late or a test, finds the old one or the new one, never half of one.
 */
async function bundle(): Promise<void> {
  const fresh = await mkdtemp(".dist-");
  try {
    await buildInto(fresh);
    // Whoever may read the checkout may run it.
    await chmod(fresh, 0o755);
    const replaced = `${fresh}-old`;
    if (existsSync("dist")) await rename("dist", replaced);
    await rename(fresh, "dist");
    await rm(replaced, { recursive: true, force: true });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function buildInto(folder: string): Promise<void> {
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
      "query-process": "core/memory/sql/query-process.ts",
      "memory-worker": "core/memory/worker/memory-worker.ts",
      "plugin-agent": "plugin-host/agent/agent-main.ts",
    },
    outdir: folder,
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
    outdir: folder,
    platform: "node",
    format: "esm",
    banner: { js: REQUIRE },
  });
  // So do the sandboxes of the process that reads a PDF and of a server of the Model Context Protocol: without splitting
  // each is one file.
  const aloneOnes = await build({
    ...shared,
    entryPoints: {
      "pdf-process": "core/memory/source/pdf-process.ts",
      "mcp-bridge": "plugin-host/mcp-bridge/bridge.ts",
    },
    outdir: folder,
    platform: "node",
    format: "esm",
    minifyWhitespace: true,
    minifySyntax: true,
    banner: { js: REQUIRE },
  });
  // The sandbox of a child with a filtered network shows it this one file; alone there, it is no ES module.
  const forwarder = await build({
    ...shared,
    entryPoints: { "egress-forwarder": "sandbox/egress/forwarder.ts" },
    outdir: folder,
    platform: "node",
    format: "cjs",
  });
  const guests = await Promise.all(guestBundles(folder).map((options) => build({ ...shared, ...options })));
  await copyFile(HOOK_TYPES, join(folder, "hooks.d.ts"));
  for (const bin of [join(folder, "claw.js"), join(folder, "clawd.js")]) {
    await writeFile(bin, `#!/usr/bin/env node\n${await readFile(bin, "utf8")}`);
    await chmod(bin, 0o755);
  }
  const inputs = [programs, hookHost, aloneOnes, forwarder, ...guests]
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .concat(HOOK_TYPES)
    .filter((file) => !file.includes("node_modules"))
    .sort();
  const digests = await Promise.all(inputs.map(async (file) => [file, await digestOf(file)]));
  await writeFile(join(folder, basename(DIGESTS)), JSON.stringify(Object.fromEntries(digests), null, 1));
}

if (import.meta.main) await bundle();
