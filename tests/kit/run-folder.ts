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

export function layRunFolder(dir: string): RunFolder {
  process.env[VARIABLE] = dir;
  return runFolder();
}

/** Throws where no run of vitest has made one. */
export function runFolder(): RunFolder {
  const dir = process.env[VARIABLE];
  if (dir === undefined) throw new Error(`${VARIABLE} is not set: this is for tests that .ci/vitest.config.ts runs`);
  return {
    dir,
    hostFilesDir: join(dir, "host"),
    forwarderFile: join(dir, "forwarder.cjs"),
    memoryWorkerFile: join(dir, "memory-worker.mjs"),
  };
}
