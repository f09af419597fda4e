import { fail, ok, type Result } from "../domain/failure.ts";
import type { SlashCommand, SlashOutcome, SlashWords } from "../domain/slash-command.ts";
import { openDesk } from "./turn/open-desk.ts";
import type { TurnContext } from "./turn/turn-context.ts";

const COMMAND = /^\/([a-zA-Z][a-zA-Z0-9_-]*)(?:\s+([\s\S]*))?$/;

/**
 * Lets a slash command have words that begin with its name, before anything else hears of them. Words that begin with no
 * command of this moment are said as they are.
 */
export async function hearCommand(turn: TurnContext, text: string): Promise<Result<SlashOutcome>> {
  const [, name = "", args = ""] = COMMAND.exec(text) ?? [];
  const command = commandsIn(turn, turn.writer.state().workspace).find((one) => one.name === name);
  return command === undefined ? ok({ do: "say", text }) : runCommand(turn, command, { args });
}

/** The slash commands that conversations in a folder have. */
export function commandsIn({ commands }: Pick<TurnContext, "commands">, workspace: string): readonly SlashCommand[] {
  return commands().filter((one) => one.workspace === undefined || one.workspace === workspace);
}

/** The same for a command that is named, whose words may be said to nobody. */
export async function runNamed(turn: TurnContext, name: string, words: SlashWords): Promise<Result<SlashOutcome>> {
  const { workspace } = turn.writer.state();
  const command = commandsIn(turn, workspace).find((one) => one.name === name);
  if (command === undefined)
    return fail("not_found", `there is no slash command "/${name}" in ${workspace}`, {
      hint: "ListSlashCommands says which there are",
    });
  return runCommand(turn, command, words);
}

/** Asks a command for its words; it may ask for things itself until the signal of `turn` aborts. */
async function runCommand(turn: TurnContext, command: SlashCommand, words: SlashWords): Promise<Result<SlashOutcome>> {
  const { id: sessionId, workspace } = turn.writer.state();
  const offer = openDesk(turn, "");
  try {
    const call = { ...words, args: words.args.trimEnd(), sessionId, workspace, desk: offer.desk };
    return await command.run(call, turn.signal);
  } finally {
    await offer.close();
  }
}
