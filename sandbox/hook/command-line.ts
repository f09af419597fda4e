import { fail, ok, type Result } from "../../core/domain/failure.ts";

/** A word of a shell line. `known` is false when only the shell can say what it comes to. */
export type Word = { readonly text: string; readonly known: boolean };

/** The words of each simple command of a line; redirections are left out. */
export type SimpleCommand = readonly Word[];

/** What `$NAME` and `~` come to, as far as it is known before the shell runs. */
export type KnownVariables = Readonly<Record<string, string>>;

type Reader = {
  readonly line: string;
  readonly variables: KnownVariables;
  at: number;
};

const OPERATORS = ";&|()\n";
/** Words behind which a line is a program of its own, that only a shell understands. */
const BEYOND_US = /^(?:case|function|select|\[\[|eval|alias|PATH=.*)$/;

/** Reads `$NAME` or `${NAME}`, and passes over anything else behind a dollar sign; undefined for what is not known. */
function readDollar(reader: Reader): string | undefined {
  const rest = reader.line.slice(reader.at);
  if (rest.startsWith("$(")) {
    passOver(reader, "(", ")");
    return undefined;
  }
  const [whole, braced, bare] = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/.exec(rest) ?? [];
  if (whole === undefined) {
    if (rest.startsWith("${")) passOver(reader, "{", "}");
    else reader.at += 1;
    return undefined;
  }
  reader.at += whole.length;
  const name = braced ?? bare ?? "";
  return Object.hasOwn(reader.variables, name) ? reader.variables[name] : undefined;
}

/** Goes behind the bracket that closes the next one, or to the end. */
function passOver(reader: Reader, opening: string, closing: string): void {
  let depth = 0;
  while (reader.at < reader.line.length) {
    const letter = reader.line.charAt(reader.at);
    reader.at += 1;
    if (letter === opening) depth += 1;
    else if (letter === closing) depth -= 1;
    if (letter === closing && depth === 0) return;
  }
}

/** Reads the inside of quotes, from behind the first; undefined when they do not end. */
function readQuoted(reader: Reader, quote: string): Word | undefined {
  let text = "";
  let known = true;
  while (reader.at < reader.line.length) {
    const letter = reader.line.charAt(reader.at);
    if (letter === quote) {
      reader.at += 1;
      return { text, known };
    }
    if (quote === '"' && letter === "$") {
      const value = readDollar(reader);
      known &&= value !== undefined;
      text += value ?? "";
      continue;
    }
    if (quote === '"' && letter === "`") known = false;
    if (quote === '"' && letter === "\\" && '$`"\\\n'.includes(reader.line.charAt(reader.at + 1))) reader.at += 1;
    text += reader.line.charAt(reader.at);
    reader.at += 1;
  }
  return undefined;
}

/** Reads one word; undefined when quotes do not end. */
function readWord(reader: Reader): Word | undefined {
  const { line, variables } = reader;
  let text = "";
  let known = true;
  if (/^~(?:\/|$|[\s;&|()<>])/.test(line.slice(reader.at))) {
    text = variables.HOME ?? "";
    known = variables.HOME !== undefined;
    reader.at += 1;
  }
  while (reader.at < line.length) {
    const letter = line.charAt(reader.at);
    if (/[\s;&|()<>]/.test(letter)) break;
    if (letter === "'" || letter === '"') {
      reader.at += 1;
      const quoted = readQuoted(reader, letter);
      if (!quoted) return undefined;
      text += quoted.text;
      known &&= quoted.known;
    } else if (letter === "$") {
      const value = readDollar(reader);
      known &&= value !== undefined;
      text += value ?? "";
    } else {
      if (letter === "\\") reader.at += 1;
      else if ("`*?[".includes(letter)) known = false;
      text += line.charAt(reader.at);
      reader.at += 1;
    }
  }
  return { text, known };
}

/** Goes behind a redirection, whose target is no argument; undefined when quotes do not end. */
function passRedirection(reader: Reader, words: Word[] | undefined): Word | undefined {
  // "2>file": what stands right before it is the number of a descriptor.
  if (/\d/.test(reader.line.charAt(reader.at - 1)) && /^\d$/.test(words?.at(-1)?.text ?? "")) words?.pop();
  reader.at += /^[<>]+[&|]?[ \t]*/.exec(reader.line.slice(reader.at))?.[0].length ?? 1;
  return readWord(reader);
}

/**
 * Takes a shell line apart as far as is needed to see which programs and files it names. It is no shell: it ends its
 * reading where it does not understand any more, and gives what stands before.
 */
export function readCommandLine(line: string, variables: KnownVariables): Result<readonly SimpleCommand[]> {
  const reader: Reader = { line, variables, at: 0 };
  const commands: Word[][] = [[]];
  const endless = fail("invalid", "has a command line with a quote that does not end");
  while (reader.at < line.length) {
    const letter = line.charAt(reader.at);
    const current = commands.at(-1);
    const before = line.charAt(reader.at - 1);
    if (line.startsWith("<<", reader.at) || line.startsWith("((", reader.at)) break;
    // A function, or a list in a variable.
    if (letter === "(" && before !== "" && !/[\s;&|(]/.test(before)) {
      commands.pop();
      break;
    }
    if (OPERATORS.includes(letter)) {
      commands.push([]);
      reader.at += 1;
    } else if (/\s/.test(letter)) {
      reader.at += 1;
    } else if (letter === "\\" && line.charAt(reader.at + 1) === "\n") {
      reader.at += 2;
    } else if (letter === "#") {
      const end = line.indexOf("\n", reader.at);
      reader.at = end === -1 ? line.length : end;
    } else if (letter === "<" || letter === ">") {
      if (!passRedirection(reader, current)) return endless;
    } else {
      const word = readWord(reader);
      if (!word) return endless;
      if (BEYOND_US.test(word.text)) break;
      current?.push(word);
    }
  }
  return ok(commands.filter((command) => command.length > 0));
}
