import { stat } from "node:fs/promises";
import { basename, isAbsolute, resolve } from "node:path";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { programPath } from "../broker/ground-grant.ts";
import { type KnownVariables, readCommandLine, type SimpleCommand, type Word } from "./command-line.ts";

const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** Words of the shell with a command behind them. */
const BEFORE_COMMAND = [
  "if",
  "then",
  "elif",
  "else",
  "while",
  "until",
  "do",
  "!",
  "{",
  "time",
  "exec",
  "command",
  "env",
  "nohup",
];
/** Words that the shell knows itself. */
const BUILT_IN = new Set(
  `. : [ alias bg break case cd continue done echo esac eval exit export false fc fg fi for function getopts hash in jobs kill
   let local printf pwd read readonly return select set shift source test times trap true type typeset declare ulimit umask
   unalias unset wait } [[`.split(/\s+/),
);
const SHELL = /^(?:ba|da|z|k)?sh$/;
const INTERPRETER = /^(?:(?:ba|da|z|k)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|tsx|ruby[\d.]*|perl|php)$/;
const SUBCOMMANDS = ["run", "exec"];
const OPTIONS_WITH_VALUE = ["-W", "-X", "-r", "--require", "--import", "--loader", "-o", "-O", "+o", "+O"];

/** A file that a command line cannot do without. */
export type NeededFile = {
  readonly path: string;
  /** True when the line itself says where it lies, so that what lies beside it may belong to it. */
  readonly byPath: boolean;
};

/** Whether an option says what to execute, so that no file follows. */
function isInline(program: string, option: string): boolean {
  if (SHELL.test(program)) return /^-[a-z]*c/.test(option) || option === "-s";
  return /^-[A-Za-z]*[cemp]$|^--(?:eval|print|version|help)/.test(option);
}

function takesValue(program: string, option: string): boolean {
  return OPTIONS_WITH_VALUE.includes(option) || (SHELL.test(program) && /^-[a-z]+o$/.test(option));
}

/** The file that an interpreter is told to execute; undefined when there is none, or only the shell knows it. */
function scriptOf(program: string, words: SimpleCommand): string | undefined {
  for (let at = 0; at < words.length; at += 1) {
    const { text, known } = words[at] as Word;
    if (!known || isInline(program, text)) return undefined;
    if (text === "--") return words[at + 1]?.known ? words[at + 1]?.text : undefined;
    if (takesValue(program, text)) at += 1;
    else if (/^[-+]/.test(text) || (at === 0 && SUBCOMMANDS.includes(text) && /deno|bun/.test(program))) continue;
    else return text;
  }
  return undefined;
}

type Call = { readonly program: Word; readonly rest: SimpleCommand };

/** What a simple command calls, behind assignments and words such as `if`. */
function callOf(command: SimpleCommand): Call | undefined {
  const at = command.findIndex(({ text }) => !ASSIGNMENT.test(text) && !BEFORE_COMMAND.includes(text));
  const program = command[at];
  return program && !program.text.startsWith("-") ? { program, rest: command.slice(at + 1) } : undefined;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}

function missing(what: string, text: string): Failed {
  return fail("unavailable", `cannot be started: there is no ${what} ${text}`);
}

async function needsOf(call: Call, cwd: string | undefined, searchPath: string): Promise<Result<NeededFile[]>> {
  const { text, known } = call.program;
  if (!known) return ok([]);
  const needed: NeededFile[] = [];
  const sourced = text === "." || text === "source" ? call.rest[0] : undefined;
  if (!BUILT_IN.has(text)) {
    if (cwd === undefined && text.includes("/") && !isAbsolute(text)) return ok([]);
    const path = await programPath(text.includes("/") ? resolve(cwd ?? "/", text) : text, searchPath);
    if (path === undefined) return missing("program", text);
    needed.push({ path, byPath: text.includes("/") });
  }
  const program = basename(text);
  const script = sourced?.known ? sourced.text : INTERPRETER.test(program) ? scriptOf(program, call.rest) : undefined;
  if (script === undefined || (cwd === undefined && !isAbsolute(script))) return ok(needed);
  const path = resolve(cwd ?? "/", script);
  if (!(await isFile(path))) return missing("script", script);
  return ok([...needed, { path, byPath: true }]);
}

/**
 * Finds the programs and scripts that a shell line names, before it is run: an interpreter that does not find its script
 * ends with code 2 as a hook does that says no. What only the shell can know is left out.
 * @param cwd absolute: where the line runs
 */
export async function findNeeded(
  line: string,
  cwd: string,
  variables: KnownVariables,
  searchPath: string,
): Promise<Result<readonly NeededFile[]>> {
  const commands = readCommandLine(line, variables);
  if (!commands.ok) return commands;
  const all: NeededFile[] = [];
  let here: string | undefined = cwd;
  for (const command of commands.value) {
    const call = callOf(command);
    if (!call) continue;
    const needed = await needsOf(call, here, searchPath);
    if (!needed.ok) return needed;
    all.push(...needed.value);
    if (["cd", "pushd", "chdir"].includes(call.program.text)) here = undefined;
  }
  return ok(all);
}
