import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArguments } from "./args.ts";
import type { Context } from "./command.ts";
import { COMMANDS } from "./command-table.ts";
import { dialDaemon } from "./dial.ts";
import { escapeControls } from "./escape.ts";
import { type Environment, findCallerFolder, findHome, findSocket } from "./home.ts";
import { openInterrupts } from "./interrupts.ts";
import { openScreen, type Screen } from "./screen.ts";
import { EXIT, errorCode, fail, ok, type Result, type Trouble, unreachable } from "./trouble.ts";

export type Invocation = {
  readonly argv: readonly string[];
  readonly env: Environment;
  /** The bundled client; the bundled daemon lies beside it. */
  readonly clientFile: string;
  readonly packageRoot: string;
  readonly userHome: string;
};

/** The whole of `claw`: the number is the exit code. */
export async function runProgram(invocation: Invocation): Promise<number> {
  const { env } = invocation;
  // A reader that left, as in `claw sql … | head`, is no failure.
  process.stdout.on("error", (cause) => process.exit(errorCode(cause) === "EPIPE" ? EXIT.done : EXIT.failed));
  process.stderr.on("error", () => {});
  const screen = openScreen(process.stdout, process.stderr, env);
  const currentFolder = findCurrentFolder();
  if (!currentFolder.ok) return reportTrouble(screen, currentFolder.trouble);
  const context = openContext(invocation, {
    screen,
    folder: findCallerFolder(env, currentFolder.value, invocation.packageRoot),
    attended: () => process.stdin.isTTY === true && screen.notesAreTerminal,
  });
  // `npm start` shows the house; `npm start -- ARGS` is `claw ARGS`.
  const isBareStart = invocation.argv.length === 0 && env.npm_lifecycle_event === "start";
  return context.run(isBareStart ? ["tour"] : invocation.argv);
}

function findCurrentFolder(): Result<string> {
  try {
    return ok(process.cwd());
  } catch {
    return fail("failed", "the folder that you are in is not there any more", "go to another one: cd");
  }
}

type Place = {
  readonly screen: Screen;
  /** Where relative paths start. */
  readonly folder: string;
  /** Asked when it matters: looking at stdin opens it. */
  readonly attended: () => boolean;
};

/** What commands may touch, for one environment; the tour opens a second one on a data folder of its own. */
function openContext(invocation: Omit<Invocation, "argv">, { screen, folder, attended }: Place): Context {
  const { env, packageRoot, clientFile } = invocation;
  const temporaryFolder = tmpdir();
  const home = findHome(env, invocation.userHome);
  const plan = {
    home,
    socketPath: findSocket(home, env, temporaryFolder),
    nodeBinary: process.execPath,
    daemonFile: join(dirname(clientFile), "clawd.js"),
    env,
  };
  const context: Context = {
    env,
    packageRoot,
    clientFile,
    temporaryFolder,
    screen,
    plan,
    folder,
    // Opened on first use: most commands read nothing.
    get stdin() {
      return process.stdin;
    },
    get inputIsTerminal() {
      return process.stdin.isTTY === true;
    },
    get attended() {
      return attended();
    },
    onInterrupt: openInterrupts(process, () => performance.now(), "SIGINT"),
    onTerminate: openInterrupts(process, () => performance.now(), "SIGTERM"),
    dial: async () => {
      const dialled = await dialDaemon(plan);
      return dialled.ok ? ok(dialled.value.connection) : dialled;
    },
    run: (argv) => runCommand(context, argv),
    report: (trouble) => reportTrouble(screen, trouble),
    unattended: (other) =>
      openContext(
        { ...invocation, env: { ...env, ...other.env } },
        { screen: other.screen, folder: other.folder, attended: () => false },
      ),
  };
  return context;
}

async function runCommand(context: Context, argv: readonly string[]): Promise<number> {
  const { screen } = context;
  if (argv.length === 0) {
    const { describeCommands } = await import("./help.ts");
    const help = describeCommands(COMMANDS, [], screen.notesAreTerminal ? screen.columns : Number.POSITIVE_INFINITY);
    if (help.ok) screen.note(help.value.trimEnd());
    return EXIT.usage;
  }
  const parsed = parseArguments(COMMANDS, argv);
  if (!parsed.ok) return context.report(parsed.trouble);
  switch (parsed.value.kind) {
    case "version":
      screen.data(`${readVersion(context.packageRoot)}\n`);
      return EXIT.done;
    case "help": {
      const { describeCommands } = await import("./help.ts");
      const width = screen.dataIsTerminal ? screen.columns : Number.POSITIVE_INFINITY;
      const help = describeCommands(COMMANDS, parsed.value.of, width);
      if (!help.ok) return context.report(help.trouble);
      screen.data(help.value);
      return EXIT.done;
    }
    case "run": {
      const command = await parsed.value.syntax.load();
      return command(context, parsed.value.args);
    }
    default:
      return unreachable(parsed.value);
  }
}

function reportTrouble(screen: Screen, trouble: Trouble): number {
  const { paintNote } = screen;
  screen.note(`${paintNote("red", "claw:")} ${escapeControls(trouble.message)}`);
  if (trouble.hint !== undefined)
    screen.note(paintNote("dim", `  → ${escapeControls(trouble.hint).replaceAll("\n", "\n    ")}`));
  return EXIT[trouble.kind];
}

function readVersion(packageRoot: string): string {
  const manifest = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string };
  return manifest.version;
}
