import type { Arguments, Syntax } from "./args.ts";
import type { Connection } from "./connection.ts";
import type { DialPlan } from "./dial.ts";
import type { Environment } from "./home.ts";
import type { Screen } from "./screen.ts";
import type { Result, Trouble } from "./trouble.ts";

/** Everything a command may touch. Built once by the entry; the tour builds further ones. */
export type Context = {
  readonly env: Environment;
  /** The package's own folder; holds the examples and the docs. */
  readonly packageRoot: string;
  /** Where relative paths of the command line start. */
  readonly folder: string;
  readonly plan: DialPlan;
  /** The bundled client itself. */
  readonly clientFile: string;
  readonly temporaryFolder: string;
  readonly screen: Screen;
  readonly stdin: NodeJS.ReadStream;
  readonly inputIsTerminal: boolean;
  /** True when a person sits at a terminal and can answer questions. */
  readonly attended: boolean;
  /** Hears Ctrl-C; the returned function stops hearing. While nobody hears, Ctrl-C ends the program. */
  onInterrupt(heard: () => void): () => void;
  /** The same for being asked to end. */
  onTerminate(heard: () => void): () => void;
  /** Connects to the daemon and starts it when it is missing. */
  dial(): Promise<Result<Connection>>;
  /** Runs another command of this program in place. */
  run(argv: readonly string[]): Promise<number>;
  /** The same with nobody to answer: `env` holds the variables that change, e.g. another data folder. */
  unattended(other: { readonly env: Environment; readonly screen: Screen; readonly folder: string }): Context;
  /** Prints what went wrong and gives the exit code that says so. */
  report(trouble: Trouble): number;
};

/** Runs a command; the number is the exit code. */
export type Command = (context: Context, args: Arguments) => Promise<number>;

/** A command of the table; its code is loaded when it is used. */
export type CommandEntry = Syntax & {
  /** Whole command lines for the help, without the "claw" before them. */
  readonly examples?: readonly string[];
  readonly load: () => Promise<Command>;
};

/** Dials, runs `work` and hangs up. */
export async function withDaemon(context: Context, work: (daemon: Connection) => Promise<number>): Promise<number> {
  context.screen.spin("connecting");
  const dialled = await context.dial();
  context.screen.rest();
  if (!dialled.ok) return context.report(dialled.trouble);
  try {
    return await work(dialled.value);
  } finally {
    dialled.value.close();
  }
}
