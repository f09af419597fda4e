import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where a run of the tests has what hundreds of them share. It is made before all suites, and goes with the run. */
export type RunFolder = {
  readonly dir: string;
  /** What a hook host is made of, bundled as in dist/. */
  readonly hostFilesDir: string;
  /** The program through which a confined child reaches the network. */
  readonly forwarderFile: string;
  /** The program of memory's threads. */
  readonly memoryWorkerFile: string;
};

const VARIABLE = "CLAWD_TEST_RUN_FOLDER";
const DIST = join(import.meta.dirname, "../../dist");

export function layRunFolder(dir: string): RunFolder {
  process.env[VARIABLE] = dir;
  return runFolder();
}

/** Outside of vitest, as in a bench, it is a folder that goes with the process, and the programs are those of dist/. */
export function runFolder(): RunFolder {
  const dir = process.env[VARIABLE];
  if (dir === undefined) return bundledRun();
  return {
    dir,
    hostFilesDir: join(dir, "host"),
    forwarderFile: join(dir, "forwarder.cjs"),
    memoryWorkerFile: join(dir, "memory-worker.mjs"),
  };
}

function bundledRun(): RunFolder {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "clawd-run-")));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  return {
    dir,
    hostFilesDir: DIST,
    forwarderFile: join(DIST, "egress-forwarder.js"),
    memoryWorkerFile: join(DIST, "memory-worker.js"),
  };
}
