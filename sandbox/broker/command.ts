import { realpath, stat } from "node:fs/promises";
import { constants as osConstants } from "node:os";
import { resolve } from "node:path";
import type { CommandAnswer } from "../guest/guest-protocol.ts";
import type { Exit, Launcher, LaunchSpec, LeasedProcess } from "../os/launcher.ts";
import { check } from "../permission/grant.ts";
import { type Grant, type Permission, printPermission } from "../permission/permission.ts";
import { type CommandEnd, collectCommand, OUTPUT_LIMIT_BYTES } from "./command-run.ts";
import { confineCommand, isUnconfined } from "./command-walls.ts";
import { type Environment, viewEnvironment } from "./environment.ts";
import { admitPath, type FileDesk, openAdmitted } from "./file-place.ts";
import { groundPermission, programPath } from "./ground-grant.ts";
import type { Admission } from "./judge.ts";
import { done, type Outcome, refuse } from "./outcome.ts";

/** What a command may take of the machine. */
const COMMAND_LIMITS = { processes: 256, dataMib: 4096, fileMib: 1024, openFiles: 1024, nice: 10 };
/** Shells end so what a signal killed. */
const SIGNAL_CODE_BASE = 128;
/** Variables that make a program load code that was not granted. */
const LOADS_CODE = /^(?:LD_|DYLD_)|^NODE_OPTIONS$/i;
const VARIABLE_NAME = /^[^=\0]+$/;

export type CommandDesk = FileDesk & {
  readonly launcher: Launcher;
  readonly env: Environment;
  /** Folders with programs, as in PATH. */
  readonly searchPath: string;
  readonly programs: ReadonlyMap<string, string>;
  /** Wall time of one command. */
  readonly timeoutMs: number;
  /** Hears of a connection of a command's that was denied. */
  onDenied(permission: string, because: string): void;
};

/** A command as it came from the guest, its fields of the right types. */
export type CheckedCommand = {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string | null;
  readonly env: readonly (readonly [string, string])[];
  readonly clearEnv: boolean;
};

type ProgramDesk = Pick<CommandDesk, "cwd" | "searchPath" | "programs" | "grant" | "admit">;
type FoundProgram = { readonly path: string; readonly real: string; readonly admission: Admission };

/** Runs a program as `startCommand` does, and resolves when it has ended. */
export async function runCommand(
  desk: CommandDesk,
  order: CheckedCommand & { readonly stdin: Buffer },
  signal: AbortSignal,
): Promise<Outcome<CommandAnswer>> {
  const child = await startCommand(desk, order, signal);
  if (!child.ok) return child;
  return showEnd(await collectCommand(child.value, order.stdin, desk.timeoutMs, signal), order.program, desk.timeoutMs);
}

/**
 * Starts a program of the machine for a guest, without a shell, behind walls that leave it no more than the guest has.
 * The caller ends it.
 */
export async function startCommand(
  desk: CommandDesk,
  order: CheckedCommand,
  signal: AbortSignal,
): Promise<Outcome<LeasedProcess>> {
  const fault = findFault(order);
  if (fault) return fault;
  const program = await findGranted(desk, order.program);
  if (!program.ok) return program;
  const cwd = await findFolder(desk, order);
  if (!cwd.ok) return cwd;
  const { admission, path, real } = program.value;
  if (desk.launcher.level === "none" && !isUnconfined(admission.grant)) {
    await admission.deny(real, "there is no OS sandbox to hold it");
    return refuse(
      "NotCapable",
      `Requires an OS sandbox to run ${JSON.stringify(order.program)} under this grant: without one commands run only for who is granted all of read, write and net`,
    );
  }
  const spec = await planLaunch(desk, order, path, cwd.value, admission.grant);
  const written = await admission.allow(real);
  if (!written.ok) return written;
  if (signal.aborted) return refuse("Interrupted", "the command was given up before it began");
  desk.effect();
  return launch(desk.launcher, spec, order.program);
}

/** The code that a shell would end with. */
export function codeOf({ code, signal }: Exit): number {
  return code ?? SIGNAL_CODE_BASE + (signal === null ? 0 : osConstants.signals[signal]);
}

function findFault({ program, args, env }: CheckedCommand): Outcome<never> | undefined {
  if (program === "") return refuse("NotFound", "Failed to spawn '': entity not found");
  if ([program, ...args].some((text) => text.includes("\0")))
    return refuse("TypeError", "nul byte found in provided data");
  for (const [name, value] of env) {
    if (!VARIABLE_NAME.test(name) || value.includes("\0")) {
      return refuse("TypeError", `the environment variable ${JSON.stringify(name)} has an illegal character`);
    }
    if (LOADS_CODE.test(name)) {
      return refuse(
        "NotCapable",
        `Requires all of run access to start a command with ${name}, which is never granted: it makes programs load code`,
      );
    }
  }
  return undefined;
}

/** The program must be granted, be where it was when it was granted, and be the same file. */
export async function findGranted(desk: ProgramDesk, named: string): Promise<Outcome<FoundProgram>> {
  const { searchPath } = desk;
  const asked = named.includes("/") ? resolve(desk.cwd, named) : named;
  const path = await programPath(asked, searchPath);
  const permission: Permission = { kind: "run", program: path ?? asked };
  const granted = check(desk.grant(), permission).ok;
  const admitted = await desk.admit({
    // A name that was granted as a name, but is another file by now, must not be asked for again as if it were new.
    permission: granted || path === undefined ? permission : { kind: "run", program: asked },
    named,
    ground: () => groundPermission({ kind: "run", program: path ?? asked }, searchPath),
  });
  if (!admitted.ok) return admitted;
  const admission = admitted.value;
  const real = path === undefined ? undefined : await realpath(path).catch(() => undefined);
  if (path === undefined || real === undefined) {
    const written = await admission.allow("");
    return written.ok ? refuse("NotFound", `Failed to spawn '${named}': entity not found`) : written;
  }
  const because = findChange(desk, admission.grant, path, real);
  return because === undefined ? done({ path, real, admission }) : admission.deny(real, because);
}

function findChange(desk: ProgramDesk, grant: Grant, path: string, real: string): string | undefined {
  for (const program of [path, real]) {
    if (!check({ allow: [{ kind: "run" }], deny: grant.deny }, { kind: "run", program }).ok)
      return "its file is denied";
  }
  // Who may run everything may run whatever lies there.
  if (check({ allow: grant.allow, deny: [] }, { kind: "run" }).ok) return undefined;
  if (!check(grant, { kind: "run", program: path }).ok) return "the name meant another file when it was granted";
  return desk.programs.get(path) === real ? undefined : "the file was exchanged since it was granted";
}

/** Where it starts: a folder that it will see. */
async function findFolder(desk: CommandDesk, { cwd, program }: CheckedCommand): Promise<Outcome<string>> {
  if (cwd === null) return done(check(desk.grant(), { kind: "read", path: desk.cwd }).ok ? desk.cwd : "/tmp");
  const act = `cwd '${cwd}'`;
  const admitted = await admitPath(desk, "read", cwd, act);
  if (!admitted.ok) return admitted;
  const opened = await openAdmitted(desk, "read", admitted.value, act, true);
  const missing = refuse("NotFound", `Failed to spawn '${program}': No such cwd '${cwd}'`);
  if (!opened.ok) return opened.error.name === "NotCapable" ? opened : missing;
  await using place = opened.value;
  const written = await admitted.value.admission.allow(place.real);
  if (!written.ok) return written;
  return place.facts.isDirectory() ? done(place.real) : missing;
}

async function planLaunch(
  desk: CommandDesk,
  order: CheckedCommand,
  path: string,
  cwd: string,
  grant: Grant,
): Promise<LaunchSpec> {
  const walls = () =>
    confineCommand(grant, desk.rules, ({ host, port, message }) =>
      desk.onDenied(printPermission({ kind: "net", host, port }), message),
    );
  const handedOn = Object.entries(viewEnvironment(grant, desk.env).values).filter(([name]) => !LOADS_CODE.test(name));
  const inherited = Object.entries({ ...BASIC_ENVIRONMENT, PATH: desk.searchPath, ...Object.fromEntries(handedOn) });
  const env: Record<string, string> = Object.fromEntries([...(order.clearEnv ? [] : inherited), ...order.env]);
  const isThere = await stat(cwd).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  return {
    command: [path, ...order.args],
    cwd: isThere ? cwd : "/tmp",
    env,
    confinement: desk.launcher.level === "none" ? NO_WALLS : await walls(),
    // Without a sandbox the kernel would count all processes of the user.
    limits: desk.launcher.level === "none" ? {} : COMMAND_LIMITS,
    pipes: 0,
  };
}

/** Nothing of the daemon's own: what is granted of that comes on top. */
const BASIC_ENVIRONMENT = { HOME: "/tmp", TMPDIR: "/tmp", LANG: "C.UTF-8", TERM: "dumb" };

/** Where nothing would hold them. */
const NO_WALLS = { read: [], write: [], network: "host", system: "programs" } as const;

function launch(launcher: Launcher, spec: LaunchSpec, named: string): Outcome<LeasedProcess> {
  try {
    return done(launcher.launch(spec));
  } catch {
    // What the launcher says names places that the guest did not.
    return refuse("Error", `Failed to spawn '${named}': it could not be started`);
  }
}

function showEnd({ why, exit, stdout, stderr }: CommandEnd, named: string, timeoutMs: number): Outcome<CommandAnswer> {
  switch (why) {
    case "timeout":
      return refuse("TimedOut", `'${named}' did not end within ${timeoutMs / 1000} s and was killed`);
    case "aborted":
      return refuse("Interrupted", `'${named}' was given up and killed`);
    case "flood":
      return refuse("Error", `'${named}' printed more than ${OUTPUT_LIMIT_BYTES} bytes and was killed`);
    case "exit": {
      const { signal } = exit;
      return done({
        ...{ code: codeOf(exit), signal },
        ...{ stdout: stdout.toString("base64"), stderr: stderr.toString("base64") },
      });
    }
  }
}
