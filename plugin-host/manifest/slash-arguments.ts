import type { SlashArgument } from "../../core/domain/slash-command.ts";
import type { SlashCommandArgument } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";

const MAX_ARGUMENTS = 64;
const MAX_DESCRIPTION_CHARS = 4 * 1024;
const ARGUMENT_NAME = /^[^\s=]{1,64}$/;

/** What is wrong with what a slash command takes by name; undefined for nothing. */
export function findArgumentProblem(declared: readonly SlashCommandArgument[]): string | undefined {
  if (declared.length > MAX_ARGUMENTS) return `takes more than ${MAX_ARGUMENTS} arguments`;
  const names = new Set<string>();
  for (const { name, description } of declared) {
    const named = JSON.stringify(name.slice(0, 64));
    if (!ARGUMENT_NAME.test(name))
      return `has an argument ${named}: a name is 1 to 64 characters without spaces and "="`;
    if (names.has(name)) return `has two arguments ${named}`;
    if (description.length > MAX_DESCRIPTION_CHARS)
      return `describes its argument ${named} in more than ${MAX_DESCRIPTION_CHARS} characters`;
    names.add(name);
  }
  return undefined;
}

export function readArgument({ name, description, required }: SlashCommandArgument): SlashArgument {
  return { name, description, required };
}
