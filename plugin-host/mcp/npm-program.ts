import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { Launcher, NetworkAccess } from "../../sandbox/os/launcher.ts";

/** npm holds the descriptions of all packages in its memory while it chooses. */
const MEMORY_MIB = 1024;
const PROCESSES = 64;
const OPEN_FILES = 1024;
const LARGEST_FILE_MIB = 512;
/** Behind the daemon and the person's own programs. */
const NICE = 10;
/** Of what it prints; the end of its complaints is what matters. */
const OUTPUT_LIMIT_BYTES = 1024 * 1024;
const CLI = "lib/node_modules/npm/bin/npm-cli.js";

/** What the person's npm is and may be told; read afresh for each run, since they may change it. */
export type NpmSurroundings = {
  readonly launcher: Launcher;
  readonly nodeBinary: string;
  /** The daemon's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

export type NpmRun = {
  readonly args: readonly string[];
  /** Absolute; it is npm's home, and all that it writes. */
  readonly folder: string;
  /** Absolute paths of files that it needs of the person's. */
  readonly read: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly network: NetworkAccess;
  /** Ends it. */
  readonly signal: AbortSignal;
};

export type NpmEnd = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** The script of the npm that the search path leads to, or of the Node beside it; undefined when there is none. */
export function findNpm({ env, nodeBinary }: NpmSurroundings): string | undefined {
  const folders = (env.PATH ?? "").split(":").filter((one) => isAbsolute(one));
  for (const program of [...folders.map((one) => join(one, "npm")), nodeBinary]) {
    if (!existsSync(program)) continue;
    const real = realpathSync(program);
    const beside = join(dirname(dirname(real)), CLI);
    if (real.endsWith("/npm-cli.js")) return real;
    if (existsSync(beside)) return realpathSync(beside);
  }
  return undefined;
}

/** Runs npm on the house's Node, in a sandbox with its own files, those that are named, and one folder to write. */
export async function runNpm(around: NpmSurroundings, npm: string, run: NpmRun): Promise<NpmEnd> {
  const child = around.launcher.launch({
    command: [around.nodeBinary, npm, ...run.args],
    cwd: run.folder,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", HOME: run.folder, TMPDIR: "/tmp", ...run.env },
    confinement: {
      read: [dirname(dirname(npm)), ...run.read.filter((path) => existsSync(path))],
      write: [run.folder],
      network: run.network,
      system: "programs",
    },
    limits: {
      ...{ memoryMib: MEMORY_MIB, openFiles: OPEN_FILES, fileMib: LARGEST_FILE_MIB, nice: NICE },
      ...(around.launcher.level === "none" ? {} : { processes: PROCESSES }),
    },
    pipes: 0,
  });
  const stop = () => child.kill();
  run.signal.addEventListener("abort", stop);
  if (run.signal.aborted) stop();
  try {
    child.stdin.end();
    const [stdout, stderr, exit] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
    return { code: exit.code ?? -1, stdout, stderr };
  } finally {
    run.signal.removeEventListener("abort", stop);
  }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    const data = Buffer.from(part);
    bytes += data.length;
    // Read on, so that it can end; what is beyond is not kept.
    if (bytes <= OUTPUT_LIMIT_BYTES) parts.push(data);
  }
  return Buffer.concat(parts).toString("utf8");
}
