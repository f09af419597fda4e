import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createBareLauncher } from "./bare-launcher.ts";
import { namespaceArguments, SCRATCH_LIMIT_BYTES } from "./bubblewrap-arguments.ts";
import { createBubblewrapLauncher } from "./bubblewrap-launcher.ts";
import { type NetworkDoor, proxyOpener } from "./filtered-network.ts";
import { askLandlock, type LandlockQuestion, NO_ARCHITECTURE, readAnswer } from "./landlock-probe.ts";
import { lookUpProgram } from "./launch-check.ts";
import type { Launcher } from "./launcher.ts";
import { createLeaseWatcher, NO_MARK } from "./lease-watcher.ts";
import { CGROUPS_DIR, isCountedByUser, openProcessGroups, type ProcessGroups } from "./process-groups.ts";
import { createSeatbeltLauncher, SANDBOX_EXEC } from "./seatbelt-launcher.ts";
import type { Architecture } from "./syscall-filter.ts";

const PROBE_TIMEOUT_MS = 5_000;
/** Those whose system calls can be filtered. */
const ARCHITECTURES: readonly Architecture[] = ["x64", "arm64"];

/** A daemon of an ordinary user has the kernel count for it. */
const UNCOUNTED =
  "Processes are not counted: the daemon is root and has no cgroup, which would also hold shares of the processor and the memory of whole trees. Let it write to /sys/fs/cgroup, or run it as an ordinary user";

const UNHELD = { cpuPercent: "shares of the processor", memoryMib: "the memory of a whole process tree" } as const;

/** Deny by default, and open what a program needs to start: what every launch does, but for the places. */
const SEATBELT_TRIAL =
  '(version 1)(deny default)(import "system.sb")(allow process*)(allow sysctl-read)(allow file-read*)';
const SEATBELT_DETAIL =
  "sandbox-exec: only what is granted. It is no namespace: children see which processes there are, and one that leaves its process group is not ended with its tree";

export type ProbeOptions = {
  /** Folders in which to look for bwrap and the watcher's tools, as in PATH. */
  readonly searchPath: string;
  /** `none` switches the sandbox off, because a person said so. */
  readonly wanted: "auto" | "none";
  /** The program that must be able to start in the sandbox: hook hosts and plugins run on it. */
  readonly nodeBinary: string;
  /** For children with a filtered network; without it, there can be none. */
  readonly door?: NetworkDoor;
};

/**
 * Finds out how strong a wall this machine offers, by building one. Never fails: the weakest level is `none`. Must be
 * asked on the main thread, where a parent-death signal means the death of the process. Call it once, at the start.
 */
export async function probeLauncher({ searchPath, wanted, nodeBinary, door }: ProbeOptions): Promise<Launcher> {
  const markPrefix = readMarkPrefix();
  const isCounted = isCountedByUser();
  const groups = isCounted ? undefined : openProcessGroups(CGROUPS_DIR, markPrefix);
  const uncounted = isCounted || groups ? sayMissing(groups) : `. ${UNCOUNTED}`;
  const watcher = createLeaseWatcher(searchPath, markPrefix, groups?.pathPrefixes ?? []);
  let marks = 0;
  const nextMark = () => {
    marks += 1;
    return markPrefix === NO_MARK ? NO_MARK : `${markPrefix}${marks}.`; // the dot ends it: 1. is not found in 12.
  };
  const proxies = proxyOpener(door, nodeBinary);
  const bare = (why: string) =>
    createBareLauncher(
      `children are not confined, and a network grant is advice to them: ${why}${uncounted}`,
      watcher,
      groups,
      proxies,
      nextMark,
    );

  if (wanted === "none") return bare("the sandbox is switched off by the configuration");
  if (process.platform === "darwin") {
    const [open, shut] = await Promise.all([
      run(SANDBOX_EXEC, ["-p", SEATBELT_TRIAL, nodeBinary, "--version"]),
      run(SANDBOX_EXEC, [
        "-p",
        `${SEATBELT_TRIAL}(deny file-read* (subpath "/private/etc"))`,
        "/bin/cat",
        "/etc/hosts",
      ]),
    ]);
    if (!open.done) return bare(`${SANDBOX_EXEC} does not work here (${open.said})`);
    if (shut.done) return bare(`${SANDBOX_EXEC} runs programs here, but does not hold them`);
    return createSeatbeltLauncher(`${SEATBELT_DETAIL}${uncounted}`, watcher, proxies, tmpdir(), nextMark);
  }
  const bwrap = lookUpProgram("bwrap", searchPath);
  if (!bwrap) return bare("bubblewrap is not installed. Install it with: apt-get install bubblewrap");
  const architecture = ARCHITECTURES.find((known) => known === process.arch);
  const question = architecture && askLandlock(architecture);
  const [version, trial] = await Promise.all([
    run(bwrap, ["--version"]),
    run(bwrap, trialArguments(nodeBinary, question), question?.input),
  ]);
  if (!trial.done) return bare(`${bwrap} does not work here (${trial.said}). ${adviseOn(trial.said)}`);
  const landlock = question ? readAnswer(trial.out) : NO_ARCHITECTURE;
  const calls = architecture === undefined ? "every system call" : "few system calls";
  const twice = "abi" in landlock ? ", Landlock behind it" : "";
  const detail = `${version.said}: own namespaces, no privileges, ${calls}, only what is granted${twice}${uncounted}`;
  const parts = { bwrap, detail, landlock, watcher, groups, architecture, proxies, nextMark };
  return createBubblewrapLauncher(parts);
}

/** What no limit of single processes can hold takes control groups, which are root's. */
function sayMissing(groups: ProcessGroups | undefined): string {
  const missing = groups?.missing ?? ["cpuPercent", "memoryMib"];
  if (missing.length === 0) return "";
  const what = missing.map((limit) => UNHELD[limit]).join(" and ");
  const why = groups ? "cgroups here have no such controller" : "that takes a daemon that is root and has cgroups";
  return `. Not held: ${what} (${why})`;
}

/**
 * The whole machine read-only: what a trial must prove is that namespaces and every option we use are to be had, and
 * that the program starts.
 */
function trialArguments(nodeBinary: string, question: LandlockQuestion | undefined): string[] {
  const scratch = ["--size", String(SCRATCH_LIMIT_BYTES), "--tmpfs", "/dev/shm"];
  const files = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", ...scratch, ...(question?.mounts ?? [])];
  const command = [nodeBinary, "--version"];
  return [...namespaceArguments(false), ...files, "--chdir", "/", "--", ...(question?.wrap(command) ?? command)];
}

/** `said` is the first line of what it said, or of what was wrong with it. */
type Trial = { readonly done: boolean; readonly said: string; readonly out: string };

function run(program: string, args: readonly string[], input: Buffer = Buffer.alloc(0)): Promise<Trial> {
  return new Promise((resolve) => {
    const options = { env: {}, cwd: "/", timeout: PROBE_TIMEOUT_MS, killSignal: "SIGKILL" as const };
    const child = execFile(program, args, options, (error, out, err) => {
      const said = (error ? err || error.message : out).trim().split("\n")[0] ?? "";
      resolve({ done: !error, said, out });
    });
    // A program that does not listen ends all the same, and its exit says how.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** The switches of Linux distributions that forbid ordinary users what bubblewrap needs. */
const SWITCHES = [
  { name: "kernel.unprivileged_userns_clone", forbids: "0", allows: "1" },
  { name: "kernel.apparmor_restrict_unprivileged_userns", forbids: "1", allows: "0" },
  { name: "user.max_user_namespaces", forbids: "0", allows: "15000" },
];

function adviseOn(said: string): string {
  const shut = SWITCHES.find(({ name, forbids }) => readSwitch(name) === forbids);
  if (shut) return `This kernel forbids user namespaces. Allow them with: sysctl -w ${shut.name}=${shut.allows}`;
  if (/unknown option/i.test(said)) return "It is too old: version 0.7 or newer is needed";
  return "In a container, start it with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined";
}

function readSwitch(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** A name that no other launcher on the machine has, from the kernel; without a `/proc` there is nothing to mark for. */
function readMarkPrefix(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/uuid", "utf8").trim()}.`;
  } catch {
    return NO_MARK;
  }
}
