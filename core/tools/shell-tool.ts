import { access, constants } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Launcher, LaunchSpec, NetworkAccess } from "../../sandbox/os/launcher.ts";
import type { Permission } from "../../sandbox/permission/permission.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "../domain/tool.ts";
import { type CommandEnd, followCommand } from "./command-run.ts";
import { findGuarded, outermost } from "./shell-guards.ts";
import { describeNetwork, netNeeds, openCommandNetwork, type ShellNetwork } from "./shell-network.ts";
import { done, failed, numberArg, textArg } from "./tool-outcome.ts";
import { type HiddenPaths, inWorkspace, type Workspace } from "./workspace.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const TIMEOUT_LIMIT_MS = 600_000;
/** The tool's own limit must not come first: it cannot say how far the command got. */
const TIMEOUT_GRACE_MS = 10_000;
const PROCESSES_LIMIT = 1_024;
/** How `sh` ends when it does not find a program. */
const NO_SUCH_PROGRAM_CODE = 127;

export type ShellOptions = {
  /** Folders with programs, as in PATH. */
  readonly searchPath: string;
  readonly network: ShellNetwork;
  /** Absolute paths beside the workspace that commands may read, or read and write. */
  readonly read: readonly string[];
  readonly write: readonly string[];
};

/** Commands in the OS sandbox: the workspace is writable, the system's programs are there, and nothing else. */
export function shellTool(launcher: Launcher, hidden: HiddenPaths, options: ShellOptions): Tool {
  return {
    name: "shell",
    description: `Run a shell command in the workspace and see its exit code, stdout and stderr. It starts anew each time, without input, and everything it started ends with it. ${describeNetwork(options.network)} Prefer read, list, grep and edit for files.`,
    input: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, description: "The command line, for bash or else sh." },
        timeout_ms: {
          type: "integer",
          minimum: 1,
          maximum: TIMEOUT_LIMIT_MS,
          description: `Milliseconds after which it is killed; ${DEFAULT_TIMEOUT_MS} by default.`,
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
    aliases: [
      "bash",
      "sh",
      "run_command",
      "execute",
      "execute_command",
      "run_shell_command",
      "exec",
      "terminal",
      "Bash",
    ],
    category: "shell",
    rerun: "unsafe",
    timeoutMs: TIMEOUT_LIMIT_MS + TIMEOUT_GRACE_MS,
    needs: (_, workspace) => shellNeeds(launcher, options, workspace),
    run: inWorkspace(hidden, (args, workspace, context) => runShell(launcher, options, args, workspace, context)),
  };
}

/** Without a sandbox a command can touch everything, and that is what it needs. */
function shellNeeds(launcher: Launcher, options: ShellOptions, workspace: string): readonly Permission[] {
  if (launcher.level === "none") return [{ kind: "run" }, { kind: "read" }, { kind: "write" }, { kind: "net" }];
  return [
    { kind: "run" },
    ...[workspace, ...options.read, ...options.write].map((path) => ({ kind: "read", path }) as const),
    ...[workspace, ...options.write].map((path) => ({ kind: "write", path }) as const),
    ...netNeeds(options.network),
  ];
}

async function runShell(
  launcher: Launcher,
  options: ShellOptions,
  args: JsonObject,
  workspace: Workspace,
  context: ToolContext,
): Promise<ToolOutcome> {
  const command = textArg(args, "command");
  if (command.includes("\0")) return failed(fail("invalid", "the command has a NUL character in it").failure);
  const network = openCommandNetwork(options.network);
  const spec = await planShell(launcher, options, workspace, command, network.access);
  if (context.signal.aborted) return failed({ code: "cancelled", message: "the command was not started" });
  const child = launch(launcher, spec);
  if (!child.ok) return failed(child.failure);
  const timeoutMs = numberArg(args, "timeout_ms", DEFAULT_TIMEOUT_MS);
  const end = await followCommand(child.value, timeoutMs, context);
  return showEnd(end, network.notes(), timeoutMs, launcher);
}

async function planShell(
  launcher: Launcher,
  options: ShellOptions,
  { real: workspace, hidden }: Workspace,
  command: string,
  network: NetworkAccess,
): Promise<LaunchSpec> {
  const write = [workspace, ...options.write];
  const confined = launcher.level !== "none";
  const guarded = confined ? await Promise.all(outermost(write).map((root) => findGuarded(root, workspace))) : [];
  return {
    command: [await findShell(options.searchPath), "-c", command],
    cwd: workspace,
    env: shellEnvironment(options.searchPath),
    confinement: {
      read: [...options.read, ...guarded.flatMap(({ readOnly }) => readOnly)],
      write,
      // The daemon's socket lies there: a command that reached it could give itself every permission.
      hide: hidden,
      held: guarded.flatMap(({ held }) => held),
      network,
      system: "programs",
    },
    // Without a sandbox the kernel would count all processes of the user.
    limits: confined ? { processes: PROCESSES_LIMIT } : {},
    pipes: 0,
  };
}

/** Nothing of the daemon's own environment: keys are there. */
function shellEnvironment(searchPath: string): Readonly<Record<string, string>> {
  return {
    PATH: searchPath,
    HOME: "/tmp",
    TMPDIR: "/tmp",
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
}

async function findShell(searchPath: string): Promise<string> {
  for (const folder of searchPath.split(":").filter(isAbsolute)) {
    const bash = join(folder, "bash");
    if (
      await access(bash, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return bash;
  }
  return "/bin/sh";
}

function launch(launcher: Launcher, spec: LaunchSpec): Result<ReturnType<Launcher["launch"]>> {
  try {
    return ok(launcher.launch(spec));
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `the command was not started: ${said}`, {
      hint: "claw doctor tells more; [shell] in config.toml names what commands see",
      cause,
    });
  }
}

function showEnd(
  { why, exit, stdout, stderr }: CommandEnd,
  notes: string,
  timeoutMs: number,
  launcher: Launcher,
): ToolOutcome {
  const streams = [stdout === "" ? "" : `--- stdout ---\n${stdout}`, stderr === "" ? "" : `--- stderr ---\n${stderr}`]
    .filter((part) => part !== "")
    .map((part) => (part.endsWith("\n") ? part : `${part}\n`));
  const output = `${streams.length === 0 ? "[no output]" : streams.join("").trimEnd()}${notes}`;
  const stop = (failure: Failure) => failed(failure, output);
  switch (why) {
    case "timeout":
      return stop({
        code: "timed_out",
        message: `the command did not end within ${timeoutMs / 1000} s and was killed`,
        hint: `Give it a longer timeout_ms (at most ${TIMEOUT_LIMIT_MS}) or less to do`,
      });
    case "aborted":
      return stop({ code: "cancelled", message: "the command was interrupted and killed" });
    case "flood":
      return stop({
        code: "exhausted",
        message: "the command wrote too much and was killed",
        hint: "Redirect its output into a file, then read that",
      });
    case "exit": {
      if (exit.signal !== null) {
        return stop({ code: "unavailable", message: `the command was killed by ${exit.signal}` });
      }
      const unseen =
        exit.code === NO_SUCH_PROGRAM_CODE && launcher.level !== "none"
          ? "\n[commands see the system's programs and the workspace; [shell] read in config.toml shows them more]"
          : "";
      return done(`exit code ${exit.code}\n${output}${unseen}`);
    }
  }
}
