/** What a script wants of a command. Part of a library; runs inside the isolate. */

import type { AbortSignal } from "./abort.ts";
import type { LibraryParts } from "./deno-library.ts";
import type { CommandOrder } from "./guest-protocol.ts";

export type Pipe = "piped" | "inherit" | "null";

/** Everything of a command but its input. */
export type CommandPlan = {
  readonly order: Omit<CommandOrder, "stdin">;
  readonly stdin: Pipe;
  readonly stdout: Pipe | undefined;
  readonly stderr: Pipe | undefined;
  readonly signal: AbortSignal | undefined;
};

const { keys } = Object;
const { isArray } = Array;

function textOf(value: unknown, what: string): string {
  if (typeof value !== "string") throw new TypeError(`${what} must be a string`);
  return value;
}

function pipeOf(value: unknown, what: string): Pipe | undefined {
  if (value === undefined || value === "piped" || value === "inherit" || value === "null") return value;
  throw new TypeError(`${what} must be "piped", "inherit" or "null"`);
}

export function readCommandPlan(program: unknown, given: unknown, pathText: LibraryParts["pathText"]): CommandPlan {
  const options = (typeof given === "object" && given !== null ? given : {}) as Record<string, unknown>;
  const args: string[] = [];
  const wanted = options.args ?? [];
  if (!isArray(wanted)) throw new TypeError("args must be an array of strings");
  for (let at = 0; at < wanted.length; at += 1) args[at] = textOf(wanted[at], `args[${at}]`);
  const env: Record<string, string> = {};
  const variables = (options.env ?? {}) as Record<string, unknown>;
  const names = keys(variables);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] ?? "";
    env[name] = textOf(variables[name], `env.${name}`);
  }
  return {
    order: {
      program: pathText(program),
      args,
      cwd: options.cwd === undefined || options.cwd === null ? null : pathText(options.cwd),
      env,
      clearEnv: options.clearEnv === true,
    },
    // Who says nothing may mean a program that reads nothing: what the script itself reads is not taken from it.
    stdin: pipeOf(options.stdin, "stdin") ?? "null",
    stdout: pipeOf(options.stdout, "stdout"),
    stderr: pipeOf(options.stderr, "stderr"),
    signal: options.signal as AbortSignal | undefined,
  };
}
