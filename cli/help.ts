import type { CommandEntry } from "./command.ts";
import { nearest } from "./nearest.ts";
import { fail, ok, type Result } from "./trouble.ts";

const INTRO = "claw talks to clawd, the agent daemon whose extensions cannot hurt you.";
const OUTRO = `A missing daemon is started. Data folder: $CLAWD_HOME, by default ~/.clawd.
stdout carries data only, stderr everything else.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the daemon, 4 daemon unreachable.`;

/** The help of the program, of a family such as `plugin`, or of one command. */
export function describeCommands(commands: readonly CommandEntry[], of: readonly string[]): Result<string> {
  if (of.length === 0)
    return ok(`${INTRO}\n\nclaw COMMAND [FLAGS] · claw COMMAND --help\n\n${list(commands)}\n\n${OUTRO}\n`);
  const family = commands.filter((command) => of.every((word, at) => command.path[at] === word));
  const [only] = family;
  if (only === undefined) {
    const close = nearest(of[0] ?? "", [...new Set(commands.map((command) => command.path[0] ?? ""))]);
    const hint = close === undefined ? "claw --help lists them" : `did you mean "claw ${close}"?`;
    return fail("usage", `there is no command "${of.join(" ")}"`, hint);
  }
  return ok(family.length > 1 ? `${list(family)}\n` : describeCommand(only));
}

function describeCommand(command: CommandEntry): string {
  const flags = command.flags.map((flag) => [
    `--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`,
    flag.about,
  ]);
  const body = flags.length === 0 ? "" : `\n${alignPairs(flags)}\n`;
  return `claw ${synopsis(command)}\n\n${command.about}\n${body}`;
}

function list(commands: readonly CommandEntry[]): string {
  return alignPairs(commands.map((command) => [synopsis(command), command.about]));
}

function synopsis(command: CommandEntry): string {
  const { names, min, max } = command.positionals;
  const places = names.map((name, at) => {
    const shown = max === Number.POSITIVE_INFINITY ? `${name}…` : name;
    return at < min ? shown : `[${shown}]`;
  });
  return [...command.path, ...places, ...(command.tail === true ? ["[ARGS]"] : [])].join(" ");
}

function alignPairs(pairs: readonly (readonly string[])[]): string {
  const width = Math.max(...pairs.map(([left = ""]) => left.length));
  return pairs.map(([left = "", right = ""]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
