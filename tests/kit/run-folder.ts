import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * Runs once, before all suites, and makes what hundreds of starts share. Node keeps there what it has compiled for the
 * next start of the same program, and memory's threads get a bundle: from its sources a thread takes longer to start than
 * its task takes. The folder is this run's own and goes with it: children load files of temporary folders too, whose
 * compiled forms nobody would ever ask for again.
 */
export async function setup(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "clawd-tests-"));
  const workerFile = join(folder, "memory-worker.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "../../core/memory/worker/memory-worker.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: workerFile,
    logLevel: "error",
  });
  process.env.CLAWD_TEST_MEMORY_WORKER = workerFile;
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
