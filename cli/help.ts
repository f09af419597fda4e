import type { CommandEntry } from "./command.ts";
import { wrapWords } from "./display-width.ts";
import { nearest } from "./nearest.ts";
import { fail, ok, type Result } from "./trouble.ts";

const INTRO = `claw talks to clawd, the agent daemon whose extensions cannot hurt you.

claw COMMAND [FLAGS] · claw COMMAND --help`;
const OUTRO = `A missing daemon is started. Data folder: $CLAWD_HOME, by default ~/.clawd.
stdout carries data only, stderr everything else.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the daemon, 4 daemon unreachable.`;
/** Where a narrow terminal leaves little room beside the names. */
const ABOUT_MIN_WIDTH = 24;

/**
 * The help of the program, of a family such as `plugin`, or of one command.
 *
 * @param width columns at which lines break; `Infinity` breaks none
 */
export function describeCommands(
  commands: readonly CommandEntry[],
  of: readonly string[],
  width: number,
): Result<string> {
  if (of.length === 0) return ok(`${INTRO}\n\n${list(commands, width)}\n\n${wrapWords(OUTRO, width, "")}\n`);
  const family = commands.filter((command) => of.every((word, at) => command.path[at] === word));
  const [only] = family;
  if (only === undefined) {
    const close = nearest(of[0] ?? "", [...new Set(commands.map((command) => command.path[0] ?? ""))]);
    const hint = close === undefined ? "claw --help lists them" : `did you mean "claw ${close}"?`;
    return fail("usage", `there is no command "${of.join(" ")}"`, hint);
  }
  if (family.length === 1) return ok(describeCommand(only, width));
  return ok(`claw ${of.join(" ")} COMMAND [FLAGS] · claw ${of.join(" ")} COMMAND --help\n\n${list(family, width)}\n`);
}

function describeCommand(command: CommandEntry, width: number): string {
  const { openFlags = [], examples = [] } = command;
  const flags = [
    ...openFlags.map((flag) => [`--${flag.prefix}${flag.value}`, flag.about]),
    ...command.flags.map((flag) => [
      `--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`,
      `${flag.about}${flag.kind === "list" ? "; may be given more than once" : ""}`,
    ]),
  ];
  const parts = [`claw ${synopsis(command, flags.length > 0)}`, wrapWords(command.about, width, "")];
  if (flags.length > 0) parts.push(alignPairs(flags, width));
  if (examples.length > 0) parts.push(examples.map((example) => `  claw ${example}`).join("\n"));
  return `${parts.join("\n\n")}\n`;
}

function list(commands: readonly CommandEntry[], width: number): string {
  return alignPairs(
    commands.map((command) => [synopsis(command, false), command.about]),
    width,
  );
}

function synopsis(command: CommandEntry, hasFlags: boolean): string {
  const { names, min, max } = command.positionals;
  const places = names.map((name, at) => {
    const shown = max === Number.POSITIVE_INFINITY && at === names.length - 1 ? `${name}…` : name;
    return at < min ? shown : `[${shown}]`;
  });
  const flags = hasFlags ? ["[FLAGS]"] : [];
  // What stands behind the words of a `tail` command is handed on, flags included.
  const words = command.tail === true ? [...flags, ...places, "[ARGS…]"] : [...places, ...flags];
  return [...command.path, ...words].join(" ");
}

function alignPairs(pairs: readonly (readonly string[])[], width: number): string {
  const left = Math.max(...pairs.map(([name = ""]) => name.length)) + 4;
  const indent = " ".repeat(left);
  return pairs
    .map(([name = "", about = ""]) => {
      const text = wrapWords(indent + about, Math.max(width, left + ABOUT_MIN_WIDTH), indent);
      return `  ${name}`.padEnd(left) + text.slice(left);
    })
    .join("\n");
}
