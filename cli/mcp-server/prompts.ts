import {
  type GetPromptResult,
  type ListPromptsResult,
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
async function listShown({ house, workspace, choices }: PromptParts): Promise<Result<readonly Shown[]>> {
  const listed = await house.read(SessionService.method.listSlashCommands, { workspace });
  if (!listed.ok) return listed;
  const offered = listed.value.commands.filter(({ category }) => choices.length > 0 || category === "plugin");
  return ok(offered.flatMap((command) => shownNames(command, choices).map((shownAs) => ({ shownAs, command }))));
}

/** Slash commands take words, so each prompt has one argument that need not be given. */
export async function listPrompts(parts: PromptParts): Promise<ListPromptsResult> {
  const shown = await listShown(parts);
  if (!shown.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, shown.trouble.message);
  return {
    prompts: shown.value.map(({ shownAs, command }) => ({
      name: shownAs,
      description: command.description,
      arguments: [{ name: WHOLE, description: `What stands behind /${command.name}`, required: false }],
    })),
  };
}

/** Asks the command for its words: as the user's where they are for a model, as the assistant's where they answer the person. */
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
  const session = await visitor.session("calls");
  if (!session.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, session.trouble.message);
  const asked = { sessionId: session.value, command: command.name, args: commandWords(args) };
  const answer = await parts.house.call(SessionService.method.runSlashCommand, asked);
  if (!answer.ok) throw new ProtocolError(ProtocolErrorCode.InvalidParams, answer.trouble.message);
  const { text, forModel } = answer.value;
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
