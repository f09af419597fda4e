import { join } from "node:path";
import type { Confinement, FilteredNetwork, LaunchSpec, SandboxLevel } from "../../sandbox/os/launcher.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { interpreterFiles, programData, programFiles } from "./granted-programs.ts";

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";
const OPEN_FILES = 1024;
const LARGEST_FILE_MIB = 1024;
/** Behind the daemon and the person's own programs, when all want the processor. */
const NICE = 10;
/** Share of its memory that a Node plugin may fill with objects; the rest is code, stacks and buffers. */
const HEAP_SHARE = 0.6;
/** V8 reserves this much for machine code at its start, and the kernel counts all of it as data. */
const NODE_CODE_RANGE_MIB = 512;
/** A small young generation: otherwise V8 lets an idle plugin grow to several hundred MiB before it cleans up. */
const YOUNG_GENERATION_MIB = 4;

export type LaunchPlan = {
  readonly manifest: PluginManifest;
  readonly granted: Grant;
  /** Absolute path of the installed plugin. */
  readonly folder: string;
  /** Absolute path of the folder of its sockets. */
  readonly socketFolder: string;
  readonly nodeBinary: string;
  /** The daemon's own variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly level: SandboxLevel;
  /** Files of the house that it sees, absolute. */
  readonly programs: readonly string[];
  /** Absolute paths that it never sees, whatever it was granted. */
  readonly hidden: readonly string[];
  readonly onDenied: FilteredNetwork["onDenied"];
};

/** What a grant means for the operating system: the plugin's folder to read, its sockets to write, and what was granted. */
export function planLaunch(plan: LaunchPlan): LaunchSpec {
  const { manifest, granted, folder, socketFolder, nodeBinary, level, hidden, env, onDenied } = plan;
  const onNode = manifest.command[0] === "node";
  const isLegacy = manifest.protocol === "json-rpc";
  const { memoryMib, processes, cpuPercent } = manifest.limits;
  const command = resolveCommand(manifest, folder, nodeBinary);
  const { system, programs } = planPrograms(manifest, granted, command[0]);
  return {
    command,
    cwd: folder,
    env: {
      ...{ PATH: SEARCH_PATH, LANG: "C.UTF-8", HOME: folder, TMPDIR: "/tmp" },
      ...manifest.env,
      ...grantedVariables(granted, env),
      ...(isLegacy ? {} : { CLAWD_PLUGIN: "1" }),
      // Behind a wall its folder is read-only; without one Python would change the files that were granted.
      ...(level === "none" ? { PYTHONDONTWRITEBYTECODE: "1" } : {}),
    },
    confinement: {
      read: [folder, ...plan.programs, ...programs, ...pathsOf(granted, "read")],
      write: [...(isLegacy ? [] : [socketFolder]), ...pathsOf(granted, "write")],
      hide: hidden,
      network: granted.allow.some(({ kind }) => kind === "net") ? { grant: granted, onDenied } : "none",
      system,
    },
    limits: {
      dataMib: onNode ? memoryMib + NODE_CODE_RANGE_MIB : memoryMib,
      memoryMib,
      openFiles: OPEN_FILES,
      fileMib: LARGEST_FILE_MIB,
      nice: NICE,
      ...(cpuPercent === 0 ? {} : { cpuPercent }),
      // Outside a sandbox the kernel counts all processes of the user, who may have thousands of others.
      ...(level === "none" ? {} : { processes }),
    },
    // Descriptor 3 is for the hello, of which a legacy plugin knows nothing.
    pipes: isLegacy ? 0 : 1,
  };
}

/** Those of the daemon's variables that it was granted; one that the daemon does not have is absent. */
export function grantedVariables(granted: Grant, env: LaunchPlan["env"]): Readonly<Record<string, string>> {
  const names = granted.allow.flatMap((one) => (one.kind === "env" && one.name !== undefined ? [one.name] : []));
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * The system's programs that are there for it: all, or the named ones with what interprets those that are scripts and the data
 * that programs look for. Its own program is there anyway. A legacy executable has all, because it cannot ask.
 */
function planPrograms(
  manifest: PluginManifest,
  granted: Grant,
  program: string,
): { readonly system: Confinement["system"]; readonly programs: readonly string[] } {
  const runs = granted.allow.filter((one) => one.kind === "run");
  if (manifest.protocol === "json-rpc" || runs.some((one) => one.program === undefined)) {
    return { system: "programs", programs: [] };
  }
  const named = programFiles(
    runs.flatMap((one) => one.program ?? []),
    SEARCH_PATH,
  );
  if (manifest.command[0] === "node" && named.length === 0) return { system: "libraries", programs: [] };
  const own = program.startsWith("/") ? interpreterFiles(program, SEARCH_PATH) : programFiles([program], SEARCH_PATH);
  return { system: "libraries", programs: [...new Set([...named, ...own, ...programData()])] };
}

function pathsOf(granted: Grant, kind: "read" | "write"): readonly string[] {
  return granted.allow.flatMap((one) => (one.kind === kind && one.path !== undefined ? [one.path] : []));
}

function resolveCommand(manifest: PluginManifest, folder: string, nodeBinary: string): [string, ...string[]] {
  const [program, ...args] = manifest.command;
  if (program === "node") {
    const heapMib = Math.floor(manifest.limits.memoryMib * HEAP_SHARE);
    return [nodeBinary, `--max-old-space-size=${heapMib}`, `--max-semi-space-size=${YOUNG_GENERATION_MIB}`, ...args];
  }
  return [program.includes("/") && !program.startsWith("/") ? join(folder, program) : program, ...args];
}
