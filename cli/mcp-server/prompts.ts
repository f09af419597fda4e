import {
  type GetPromptResult,
  isSpecType,
  type ListPromptsResult,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { SessionService, type SlashCommandDescription } from "../../proto/gen/clawd/v1/session_pb.ts";
import { ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";
import { shownNames, type ToolChoice } from "./offered-tools.ts";
import type { Visitor } from "./visitor.ts";

/** What stands behind a command's name, for whoever writes it as a person would. */
const WHOLE = "args";

/** What a prompt is made of: the slash commands of a folder, as far as they are offered. */
export type PromptParts = {
  readonly house: House;
  readonly workspace: string;
  readonly choices: readonly ToolChoice[];
};

type Shown = { readonly shownAs: string; readonly command: SlashCommandDescription };

/**
 * Without choices: the commands of plugins. Those of other servers a client has itself, and clawd's own act for a person who
 * types them, so they are for programs only where the owner says so.
 */
export async function listShown({ house, workspace, choices }: PromptParts): Promise<Result<readonly Shown[]>> {
  const listed = await house.read(SessionService.method.listSlashCommands, { workspace });
  if (!listed.ok) return listed;
  const offered = listed.value.commands.filter(({ category }) => choices.length > 0 || category === "plugin");
  return ok(offered.flatMap((command) => shownNames(command, choices).map((shownAs) => ({ shownAs, command }))));
}

/** Slash commands take words, so a prompt of one that names no arguments has one that need not be given. */
export async function listPrompts(parts: PromptParts): Promise<ListPromptsResult> {
  const shown = await listShown(parts);
  if (!shown.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, shown.trouble.message);
  return {
    prompts: shown.value.map(({ shownAs, command }) => ({
      name: shownAs,
      description: command.description,
      arguments:
        command.arguments.length > 0
          ? command.arguments.map(({ name, description, required }) => ({ name, description, required }))
          : [{ name: WHOLE, description: `What stands behind /${command.name}`, required: false }],
    })),
  };
}

/** Asks the command for its messages, or, where it has none, for its words: as the user's where they are for a model, as the assistant's where they answer the person. */
export async function getPrompt(
  parts: PromptParts,
  visitor: Visitor,
  {
    name,
    arguments: args = {},
  }: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> | undefined },
): Promise<GetPromptResult> {
  const shown = await listShown(parts);
  if (!shown.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, shown.trouble.message);
  const found = shown.value.find(({ shownAs }) => shownAs === name);
  if (found === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no prompt "${name}"`);
  const { command } = found;
  const missing = command.arguments.find((one) => one.required && args[one.name] === undefined);
  if (missing !== undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `the argument "${missing.name}" is missing`);
  const session = await visitor.session("calls");
  if (!session.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, session.trouble.message);
  const named = command.arguments.length > 0 ? { ...args } : {};
  const asked = { sessionId: session.value, command: command.name, args: commandWords(args), named, whole: true };
  const answer = await parts.house.call(SessionService.method.runSlashCommand, asked);
  if (!answer.ok) throw new ProtocolError(ProtocolErrorCode.InvalidParams, answer.trouble.message);
  const { text, forModel, messages: said } = answer.value;
  // A stranger's; what is none would not come through the library.
  const messages = said.flatMap((one): PromptMessage[] => (isSpecType.PromptMessage(one) ? [one] : []));
  if (messages.length > 0) return { description: command.description, messages };
  return {
    description: command.description,
    messages: [{ role: forModel ? "user" : "assistant", content: { type: "text", text } }],
  };
}

/** Arguments as a person would write them behind the command: NAME="VALUE", and what is not named last and as it is. */
export function commandWords(args: Readonly<Record<string, string>>): string {
  const named = Object.entries(args).filter(([name]) => name !== WHOLE);
  const words = named.map(([name, value]) => `${name}="${value.replaceAll('"', `"'"'"`)}"`);
  return [...words, ...(args[WHOLE] === undefined ? [] : [args[WHOLE]])].join(" ");
}
