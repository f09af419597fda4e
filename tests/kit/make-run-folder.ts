import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { buildHostFiles } from "../../sandbox/fixtures/host-files.ts";
import { layRunFolder } from "./run-folder.ts";

const ROOT = join(import.meta.dirname, "../..");

/**
 * Runs once, before all suites, and builds what hundreds of them start: from its sources each start would take longer
 * than its task. Node keeps there, too, what it has compiled for the next start of the same program. The folder is this
 * run's own and goes with it: children load files of temporary folders as well, whose compiled forms nobody would ever
 * ask for again.
 */
export async function setup(): Promise<() => void> {
  const run = layRunFolder(realpathSync(mkdtempSync(join(tmpdir(), "clawd-tests-"))));
  process.env.NODE_COMPILE_CACHE = join(run.dir, "compiled");
  mkdirSync(run.hostFilesDir);
  await Promise.all([
    bundle("core/memory/worker/memory-worker.ts", "esm", run.memoryWorkerFile),
    bundle("sandbox/egress/forwarder.ts", "cjs", run.forwarderFile),
    buildHostFiles(run.hostFilesDir),
  ]);
  return () => rmSync(run.dir, { recursive: true, force: true, maxRetries: 3 });
}

async function bundle(entry: string, format: "esm" | "cjs", outfile: string): Promise<void> {
  await build({
    bundle: true,
    platform: "node",
    logLevel: "error",
    entryPoints: [join(ROOT, entry)],
    ...{ format, outfile },
  });
}
