import type { Duplex, Readable, Writable } from "node:stream";
import type { DeniedConnection } from "../egress/egress-proxy.ts";
import type { Grant } from "../permission/permission.ts";
import type { SyscallProfile } from "./syscall-profiles.ts";

/** How strong the wall around a child process is. */
export type SandboxLevel = "bubblewrap" | "seatbelt" | "none";

/**
 * What a confined child sees of the machine. Everything else does not exist for it. The deepest path decides: a write
 * path below a read path is writable, a read path below a write path stays read-only. All `read` and `write` paths must
 * exist.
 */
export type Confinement = {
  /** Absolute paths it may read, beside the system's own libraries and programs and the file of its program. */
  readonly read: readonly string[];
  /** Absolute paths it may read and write. */
  readonly write: readonly string[];
  /** Absolute paths that are empty for it although a path above them is in `read` or `write`. They need not exist. */
  readonly hide?: readonly string[];
  /**
   * Absolute paths of folders that it can neither rename nor remove where it may write, as those above what is hidden. Nothing
   * is moved out of them or into them, but copied. They need not exist.
   */
  readonly held?: readonly string[];
  /** Absolute paths of folders that are there for it, empty but for what is shown in them. They must exist. */
  readonly folders?: readonly string[];
  readonly network: NetworkAccess;
  /** `programs`: /usr, /bin, /lib …, /etc read-only. `libraries`: only what the dynamic linker needs. */
  readonly system: "programs" | "libraries";
  /** Which system calls there are for it; `program` when absent. */
  readonly syscalls?: SyscallProfile;
};

/**
 * `none`: not even the machine's own loopback. `host`: all that the machine has, unfiltered. A grant: what its `net`
 * permissions say, through a proxy that looks up, judges and dials for the child and that its environment names
 * (HTTP_PROXY and the like). What knows no proxies reaches nothing. On level `none` nothing holds a child to its grant.
 */
export type NetworkAccess = "none" | "host" | FilteredNetwork;

export type FilteredNetwork = {
  readonly grant: Grant;
  /** Hears of every connection that was denied. */
  readonly onDenied: (denied: DeniedConnection) => void;
};

/** Limits the kernel keeps. Absent means the system's own. */
export type ProcessLimits = {
  /** Address space (RLIMIT_AS), MiB. Not for programs with a JIT: they reserve far more than they use. */
  readonly addressSpaceMib?: number;
  /** Data segment (RLIMIT_DATA), MiB. */
  readonly dataMib?: number;
  /**
   * Processes and threads (RLIMIT_NPROC): of the sandbox, or without one of the whole user. A sandbox with `libraries`
   * only sets it for the system calls of `program`, and the kernel does not keep it for root. A daemon that is root has a control group count
   * them instead, for every child alone and also when this is absent; where it can have none, `Launcher.detail` says so.
   */
  readonly processes?: number;
  /**
   * Share of one processor that the whole tree may use, percent; more than 100 for several processors. Like `memoryMib` it
   * takes a daemon that is root and has control groups; elsewhere nothing holds it, and `Launcher.detail` says so.
   */
  readonly cpuPercent?: number;
  /** Memory of the whole tree together, MiB, beside what a sandbox's own /tmp and /dev/shm hold: one who takes more is killed. */
  readonly memoryMib?: number;
  readonly openFiles?: number;
  /** Size of one written file (RLIMIT_FSIZE), MiB. */
  readonly fileMib?: number;
  /** How far it stands back for others on the processor, 0 to 19: each of its processes, and where there are control groups its whole tree. */
  readonly nice?: number;
};

export type LaunchSpec = {
  /** Program and arguments; never a shell line. */
  readonly command: readonly [string, ...string[]];
  /** Absolute; must be below something the child sees. */
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly confinement: Confinement;
  readonly limits: ProcessLimits;
  /** How many two-way pipes (0 to 6) to open beside stdin, stdout and stderr: descriptors 3, 4 … of the child. */
  readonly pipes: number;
};

/** A child killed by a signal inside bubblewrap ends as code 128 + signal, as in a shell. */
export type Exit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It ran elsewhere, and the connection to that place is gone: how it ended nobody knows. */
  readonly lost?: true;
};

/**
 * A child whose whole tree dies with the daemon, also when the daemon is killed with SIGKILL.
 * `exited` resolves when the child is gone; by then its tree is being killed too. `kill` sends SIGKILL to the tree,
 * `terminate` SIGTERM to the child, `interrupt` SIGINT. All may be called at any time, any number of times.
 */
export type LeasedProcess = {
  /** The head of the tree: the child itself, or the bubblewrap that holds it. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pipes: readonly Duplex[];
  readonly exited: Promise<Exit>;
  kill(): void;
  terminate(): void;
  interrupt(): void;
};

/** Landlock, the wall behind that of bubblewrap: which ABI of it the kernel has, or why it is not there. */
export type Landlock = { readonly abi: number } | { readonly missing: string };

/** The one door to child processes of strangers' code. */
export type Launcher = {
  readonly level: SandboxLevel;
  /** What the level is made of, or why it is not stronger and how to get a stronger one. */
  readonly detail: string;
  readonly landlock: Landlock;
  /** Throws only when the child cannot be spawned at all (no such program, folder or path, no more processes). */
  launch(spec: LaunchSpec): LeasedProcess;
};
