import { nearest } from "./nearest.ts";
import { type Failed, fail, ok, type Result } from "./trouble.ts";

/** `switch` is on or off; `text` takes a value; `list` takes one each time it is given. */
export type Flag = {
  readonly name: string;
  readonly kind: "switch" | "text" | "list";
  /** What stands for the value in the help, e.g. "DIR". */
  readonly value?: string;
  readonly about: string;
};

export type OpenFlag = {
  readonly prefix: string;
  /** What stands for the rest in the help, e.g. "KIND[=LIST]". */
  readonly value: string;
  readonly about: string;
};

export type Positionals = {
  readonly names: readonly string[];
  readonly min: number;
  readonly max: number;
};

/** What one command takes. `tail` commands hand everything after their last positional on, flags of strangers included. */
export type Syntax = {
  readonly path: readonly string[];
  readonly about: string;
  readonly flags: readonly Flag[];
  readonly positionals: Positionals;
  /** Flags matched by their beginning and collected as written, e.g. "allow-" for `--allow-read=./data`. */
  readonly openFlags?: readonly OpenFlag[];
  /** Letters that stand for open flags, e.g. R for "allow-read"; they may be joined, as in `-RW=./data`. */
  readonly openLetters?: Readonly<Record<string, string>>;
  readonly tail?: boolean;
};

export type Arguments = {
  readonly positionals: readonly string[];
  /** Arguments behind the last positional of a `tail` command. */
  readonly tail: readonly string[];
  /** Open flags as written, without the dashes, in order. */
  readonly open: readonly string[];
  on(name: string): boolean;
  text(name: string): string | undefined;
  list(name: string): readonly string[];
};

export type Parsed<S extends Syntax> =
  | { readonly kind: "run"; readonly syntax: S; readonly args: Arguments }
  | { readonly kind: "help"; readonly of: readonly string[] }
  | { readonly kind: "version" };

const HELP_FLAGS = new Set(["--help", "-h"]);

/** Turns a command line into a command and its arguments. Every failure is `usage` and names the nearest right word. */
export function parseArguments<S extends Syntax>(commands: readonly S[], argv: readonly string[]): Result<Parsed<S>> {
  const first = argv[0] ?? "";
  if (first === "--version" || first === "-V") return ok({ kind: "version" });
  if (HELP_FLAGS.has(first) || first === "help") {
    return ok({ kind: "help", of: argv.slice(1).filter((word) => !word.startsWith("-")) });
  }
  const found = findCommand(commands, argv);
  if (!found.ok) return found;
  if ("kind" in found.value) return ok(found.value);
  return parseFlags(found.value, argv.slice(found.value.path.length));
}

function findCommand<S extends Syntax>(
  commands: readonly S[],
  argv: readonly string[],
): Result<S | { kind: "help"; of: readonly string[] }> {
  const [first = "", second = ""] = argv;
  const family = commands.filter((command) => command.path[0] === first);
  if (family.length === 0) {
    const names = [...new Set(commands.map((command) => command.path[0] ?? ""))];
    return misuse(first === "" ? "no command was given" : `there is no command "${first}"`, first, names, "claw ");
  }
  const alone = family.find((command) => command.path.length === 1);
  if (alone !== undefined) return ok(alone);
  const command = family.find((one) => one.path[1] === second);
  if (command !== undefined) return ok(command);
  if (HELP_FLAGS.has(second)) return ok({ kind: "help", of: [first] });
  const names = family.map((one) => one.path[1] ?? "");
  const message =
    second === "" || second.startsWith("-")
      ? `"claw ${first}" needs a word more`
      : `"claw ${first}" has no "${second}"`;
  return misuse(message, second, names, `claw ${first} `);
}

function parseFlags<S extends Syntax>(syntax: S, words: readonly string[]): Result<Parsed<S>> {
  const name = `claw ${syntax.path.join(" ")}`;
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const open: string[] = [];
  let tail: readonly string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const full = syntax.tail === true && positionals.length === syntax.positionals.max;
    if (word === "--") {
      const rest = words.slice(at + 1);
      const room = syntax.tail === true ? syntax.positionals.max - positionals.length : rest.length;
      positionals.push(...rest.slice(0, room));
      tail = rest.slice(room);
      break;
    }
    const isOpen = (syntax.openFlags ?? []).some(({ prefix }) => word.startsWith(`--${prefix}`));
    if (isOpen) {
      open.push(word.slice(2));
      continue;
    }
    if (full) {
      tail = words.slice(at);
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      positionals.push(word);
      continue;
    }
    if (HELP_FLAGS.has(word)) return ok({ kind: "help", of: syntax.path });
    const meant = readLetters(syntax, word);
    if (meant !== undefined) {
      open.push(...meant);
      continue;
    }
    const read = readFlag(syntax, name, word, words[at + 1]);
    if (!read.ok) return read;
    values.set(read.value.name, [...(values.get(read.value.name) ?? []), read.value.value]);
    if (read.value.tookNext) at++;
  }
  const counted = countPositionals(syntax.positionals, positionals, name);
  if (counted !== undefined) return counted;
  const args: Arguments = {
    positionals,
    tail,
    open,
    on: (flag) => values.has(flag),
    text: (flag) => values.get(flag)?.at(-1),
    list: (flag) => values.get(flag) ?? [],
  };
  return ok({ kind: "run", syntax, args });
}

/** The open flags behind `-RW=./data`, of which the last one takes the value; undefined when a letter is unknown. */
function readLetters({ openLetters = {} }: Syntax, word: string): readonly string[] | undefined {
  const [, letters = "", value = ""] = /^-([A-Za-z]+)(=.*)?$/s.exec(word) ?? [];
  const flags: string[] = [];
  for (const letter of letters) {
    const flag = Object.hasOwn(openLetters, letter) ? openLetters[letter] : undefined;
    if (flag === undefined) return undefined;
    flags.push(flag);
  }
  const last = flags.pop();
  return last === undefined ? undefined : [...flags, `${last}${value}`];
}

function readFlag(
  syntax: Syntax,
  command: string,
  word: string,
  next: string | undefined,
): Result<{ name: string; value: string; tookNext: boolean }> {
  const equals = word.indexOf("=");
  const written = equals < 0 ? word : word.slice(0, equals);
  const flag = syntax.flags.find((one) => `--${one.name}` === written);
  if (flag === undefined) {
    const open = syntax.openFlags ?? [];
    const names = [...syntax.flags.map((one) => `--${one.name}`), "--help"];
    // Of an open flag only the beginning is known; the rest is taken to be meant as it stands.
    const rest = /^--\w+-(.+)$/.exec(written)?.[1];
    const begun = rest === undefined ? [] : open.map(({ prefix }) => `--${prefix}${rest}`);
    const shown = [...open.map(({ prefix, value }) => `--${prefix}${value}`), ...names];
    return misuse(`"${command}" has no flag ${written}`, written, [...begun, ...names], "", shown);
  }
  if (flag.kind === "switch") {
    if (equals >= 0) return fail("usage", `${written} takes no value`, `write ${written} alone`);
    return ok({ name: flag.name, value: "", tookNext: false });
  }
  const value = equals < 0 ? next : word.slice(equals + 1);
  // A forgotten value must not swallow the flag behind it; a value that begins with dashes is written with "=".
  if (value === undefined || (equals < 0 && value.startsWith("--"))) {
    return fail("usage", `${written} needs a value`, `write ${written} ${flag.value ?? "VALUE"}`);
  }
  return ok({ name: flag.name, value, tookNext: equals < 0 });
}

function countPositionals(expected: Positionals, given: readonly string[], command: string): Failed | undefined {
  if (given.length < expected.min) {
    return fail(
      "usage",
      `"${command}" needs ${expected.names[given.length] ?? "more words"}`,
      `${command} --help shows how`,
    );
  }
  if (given.length > expected.max) {
    return fail("usage", `"${command}" has no use for "${given[expected.max]}"`, `${command} --help shows how`);
  }
  return undefined;
}

/** @param shown what there is, where that is not the same as what may have been meant */
function misuse(
  message: string,
  written: string,
  names: readonly string[],
  prefix: string,
  shown: readonly string[] = names,
): Failed {
  const close = nearest(written.replace(/^(--?\w[\w-]*)=.*$/, "$1"), names);
  return fail(
    "usage",
    message,
    close === undefined ? `there are: ${shown.join(" ")}` : `did you mean "${prefix}${close}"?`,
  );
}
