import { existsSync } from "node:fs";
import type { Launcher, NetworkAccess } from "../../sandbox/os/launcher.ts";

/** Installers hold the descriptions of all packages in their memory while they choose. */
const MEMORY_MIB = 1024;
const PROCESSES = 64;
const OPEN_FILES = 1024;
const LARGEST_FILE_MIB = 512;
/** Behind the daemon and the person's own programs. */
const NICE = 10;
/** Of what it prints; the end of its complaints is what matters. */
const OUTPUT_LIMIT_BYTES = 1024 * 1024;

/** What the person's installers are and may be told; read afresh for each run, since they may change it. */
export type InstallerPlace = {
  readonly launcher: Launcher;
  readonly nodeBinary: string;
  /** The daemon's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
};

/** An installer of the person's. */
export type InstallerProgram = {
  readonly command: readonly [string, ...string[]];
  /** Its own files, absolute. */
  readonly read: readonly string[];
};

export type InstallerRun = {
  readonly args: readonly string[];
  /** Absolute; all that it writes, and its home unless `env` says otherwise. */
  readonly folder: string;
  /** Absolute paths of files that it needs of the person's. */
  readonly read: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly network: NetworkAccess;
  /** Ends it. */
  readonly signal: AbortSignal;
};

export type InstallerEnd = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs an installer in a sandbox with its own files, those that are named, and one folder to write. */
export async function runInstaller(
  { launcher }: InstallerPlace,
  program: InstallerProgram,
  run: InstallerRun,
): Promise<InstallerEnd> {
  const child = launcher.launch({
    command: [...program.command, ...run.args],
    cwd: run.folder,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", HOME: run.folder, TMPDIR: "/tmp", ...run.env },
    confinement: {
      read: [...program.read, ...run.read.filter((path) => existsSync(path))],
      write: [run.folder],
      network: run.network,
      system: "programs",
    },
    limits: {
      ...{ memoryMib: MEMORY_MIB, openFiles: OPEN_FILES, fileMib: LARGEST_FILE_MIB, nice: NICE },
      ...(launcher.level === "none" ? {} : { processes: PROCESSES }),
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
