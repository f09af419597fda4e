import type { Launcher, LaunchSpec } from "../os/launcher.ts";

/** Absolute paths of what a hook host is made of. Each file must stand alone: the sandbox shows it nothing beside them. */
export type HostFiles = {
  readonly nodeBinary: string;
  readonly hostFile: string;
  readonly preludeFile: string;
  /** The prelude's own libraries, which it loads when a guest first needs them: name → file. */
  readonly libraryFiles: Readonly<Record<string, string>>;
  /** The isolated-vm addon that fits `nodeBinary`. */
  readonly addonFile: string;
};

/** What kind of process it is. */
export type HostShape = {
  /** With a JIT it is fast at long loops, and its address space cannot be limited. */
  readonly jit: boolean;
  /** Heap of the isolates that it keeps booted, MiB. */
  readonly memoryMib: number;
  /** How many of them, once the first one is taken. */
  readonly kept: number;
};

/** Address space of a host, MiB: without a JIT an isolate takes few, so this caps what a guest can allocate. */
const ADDRESS_SPACE_MIB = 1600;
/** What a host takes of it beside its isolates, MiB. */
const OWN_ADDRESS_SPACE_MIB = 1000;
/**
 * With a JIT: writable memory of a host beside three times the heap of its isolate, MiB. V8 sets 512 of it aside for the
 * code of each isolate, its own included, and touches little of that.
 */
const OWN_DATA_MIB = 1900;
const OPEN_FILES_MAX = 64;

/** Arguments of a hook host and what it may touch, which is nothing. */
export function hostLaunch(files: HostFiles, shape: HostShape, level: Launcher["level"]): LaunchSpec {
  const libraries = Object.entries(files.libraryFiles);
  const own = [files.hostFile, files.preludeFile, files.addonFile, ...libraries.map(([, file]) => file)];
  // Where no OS sandbox stands, Node's permission model is the second wall: no files, no children, no workers.
  const fence =
    level === "none" ? ["--permission", "--allow-addons", ...own.map((file) => `--allow-fs-read=${file}`)] : [];
  const syscalls = shape.jit ? "isolate-jit" : "isolate";
  const speed = shape.jit ? [] : ["--jitless"];
  const memory = shape.jit
    ? { dataMib: OWN_DATA_MIB + 3 * shape.memoryMib }
    : { addressSpaceMib: Math.max(ADDRESS_SPACE_MIB, OWN_ADDRESS_SPACE_MIB + 3 * shape.memoryMib) };
  return {
    command: [
      files.nodeBinary,
      ...speed,
      "--no-node-snapshot",
      "--no-warnings",
      ...fence,
      files.hostFile,
      files.addonFile,
      files.preludeFile,
      String(shape.memoryMib),
      String(shape.kept),
      ...libraries.map(([name, file]) => `${name}=${file}`),
    ],
    // The one folder that every sandbox has; nothing is read from it, and the limit of zero keeps it empty.
    cwd: "/tmp",
    env: { MALLOC_ARENA_MAX: "2" },
    confinement: { read: [files.nodeBinary, ...own], write: [], network: "none", system: "libraries", syscalls },
    limits: { ...memory, openFiles: OPEN_FILES_MAX, fileMib: 0 },
    pipes: 1,
  };
}
