/** `parseArgs` of `node:util`. Part of a library; runs inside the isolate. */

import { codedError, wrongType, wrongValue } from "./node-errors.ts";

type Option = {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly short?: string;
  readonly default?: unknown;
};
type Options = Readonly<Record<string, Option>>;

type Token =
  | { kind: "positional"; index: number; value: string }
  | { kind: "option-terminator"; index: number }
  | OptionToken;
type OptionToken = {
  kind: "option";
  name: string;
  rawName: string;
  index: number;
  value: string | undefined;
  inlineValue: boolean | undefined;
};

type Config = {
  readonly args?: readonly string[];
  readonly options?: Options;
  readonly strict?: boolean;
  readonly allowPositionals?: boolean;
  readonly allowNegative?: boolean;
  readonly tokens?: boolean;
};

type Rules = { readonly options: Options; readonly strict: boolean; readonly allowNegative: boolean };

const { hasOwn } = Object;

function optionOf(options: Options, name: string): Option | undefined {
  return hasOwn(options, name) ? options[name] : undefined;
}

/** The long name of a short one; itself when there is none. */
function longName(options: Options, short: string): string {
  for (const name of Object.keys(options)) if (options[name]?.short === short) return name;
  return short;
}

function checkDefault(name: string, { type, multiple = false, default: given }: Option): void {
  if (given === undefined) return;
  const at = `options.${name}.default`;
  if (!multiple && typeof given !== type) throw wrongType(at, `of type ${type}`, given);
  if (!multiple) return;
  if (!Array.isArray(given)) throw wrongType(at, "an instance of Array", given);
  given.forEach((item, index) => {
    if (typeof item !== type) throw wrongType(`${at}[${index}]`, `of type ${type}`, item);
  });
}

function checkOptions(options: Options): void {
  for (const name of Object.keys(options)) {
    const option = options[name] as Option;
    const { type, short, multiple } = option;
    if (type !== "string" && type !== "boolean") throw wrongType(`options.${name}.type`, "('string|boolean')", type);
    if (short !== undefined && typeof short !== "string")
      throw wrongType(`options.${name}.short`, "of type string", short);
    if (short !== undefined && short.length !== 1)
      throw wrongValue(`options.${name}.short`, "must be a single character", short);
    if (multiple !== undefined && typeof multiple !== "boolean")
      throw wrongType(`options.${name}.multiple`, "of type boolean", multiple);
    checkDefault(name, option);
  }
}

function option(options: Options, rawName: string, index: number): OptionToken {
  const name = rawName.startsWith("--") ? rawName.slice(2) : longName(options, rawName.slice(1));
  return { kind: "option", name, rawName, index, value: undefined, inlineValue: undefined };
}

/** Cuts the arguments into tokens; `-abc` is `-a -b -c`, of which only the last may have a value. */
function tokensOf(args: readonly string[], options: Options): Token[] {
  const tokens: Token[] = [];
  const takesText = (name: string) => optionOf(options, name)?.type === "string";
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as string;
    const withNext = (token: OptionToken) => {
      if (takesText(token.name) && index + 1 < args.length) {
        index += 1;
        token.value = args[index];
        token.inlineValue = false;
      }
      tokens.push(token);
    };
    if (arg === "--") {
      tokens.push({ kind: "option-terminator", index });
      for (let at = index + 1; at < args.length; at += 1)
        tokens.push({ kind: "positional", index: at, value: args[at] as string });
      return tokens;
    }
    if (arg.startsWith("--") && arg.length > 2) {
      const equals = arg.indexOf("=", 3);
      if (equals < 0) withNext(option(options, arg, index));
      else {
        const token = option(options, arg.slice(0, equals), index);
        tokens.push({ ...token, value: arg.slice(equals + 1), inlineValue: true });
      }
    } else if (arg.startsWith("-") && arg.length > 1) {
      for (let at = 1; at < arg.length; at += 1) {
        const token = option(options, `-${arg[at]}`, index);
        const rest = arg.slice(at + 1);
        if (rest === "") withNext(token);
        else if (takesText(token.name)) {
          tokens.push({ ...token, value: rest, inlineValue: true });
          break;
        } else tokens.push(token);
      }
    } else tokens.push({ kind: "positional", index, value: arg });
  }
  return tokens;
}

function checkToken(token: OptionToken, { options, allowNegative }: Rules, takesPositionals: boolean): void {
  const { name, rawName, value } = token;
  const known = optionOf(options, name);
  const isNegated = allowNegative && known === undefined && name.startsWith("no-");
  const wanted = isNegated ? optionOf(options, name.slice(3)) : known;
  if (wanted === undefined || (isNegated && wanted.type !== "boolean")) {
    const help = takesPositionals
      ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- ${JSON.stringify(rawName)}`
      : "";
    throw codedError("ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${rawName}'${help}`);
  }
  const shown = `${wanted.short ? `-${wanted.short}, ` : ""}--${name}`;
  const wrong = (message: string) => codedError("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", message);
  if (wanted.type === "string" && typeof value !== "string") throw wrong(`Option '${shown} <value>' argument missing`);
  if (wanted.type === "boolean" && value !== undefined) throw wrong(`Option '${shown}' does not take an argument`);
  if (token.inlineValue === false && value !== undefined && value.length > 1 && value.startsWith("-")) {
    const example = rawName.startsWith("--") ? `'${rawName}=-XYZ'` : `'--${name}=-XYZ' or '${rawName}-XYZ'`;
    throw wrong(
      `Option '${rawName}' argument is ambiguous.\nDid you forget to specify the option argument for '${rawName}'?\nTo specify an option argument starting with a dash use ${example}.`,
    );
  }
}

type Values = Record<string, unknown>;

function store({ name, value }: OptionToken, { options, allowNegative }: Rules, values: Values): void {
  if (name === "__proto__") return;
  const isNegated =
    allowNegative && value === undefined && optionOf(options, name) === undefined && name.startsWith("no-");
  const own = isNegated ? name.slice(3) : name;
  const given = value ?? !isNegated;
  if (optionOf(options, own)?.multiple) values[own] = [...((values[own] as unknown[] | undefined) ?? []), given];
  else values[own] = given;
}

/** @param ownArgs what is read when no arguments are given */
export function argumentParser(ownArgs: () => readonly string[]) {
  return function parseArgs(config: Config = {}): object {
    const { args = ownArgs(), options = {}, strict = true, allowNegative = false } = config;
    if (!Array.isArray(args)) throw wrongType("args", "an instance of Array", args);
    const { allowPositionals = !strict } = config;
    checkOptions(options);
    const rules = { options, strict, allowNegative };
    const values: Values = Object.create(null);
    const positionals: string[] = [];
    const tokens = tokensOf(args as readonly string[], options);
    for (const token of tokens) {
      if (token.kind === "option") {
        if (strict) checkToken(token, rules, allowPositionals);
        store(token, rules, values);
      } else if (token.kind === "positional") {
        if (!allowPositionals) {
          const message = `Unexpected argument '${token.value}'. This command does not take positional arguments`;
          throw codedError("ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL", message);
        }
        positionals.push(token.value);
      }
    }
    for (const name of Object.keys(options)) {
      const instead = options[name]?.default;
      if (instead !== undefined && !hasOwn(values, name)) values[name] = instead;
    }
    return { values, positionals, ...(config.tokens === true && { tokens }) };
  };
}
