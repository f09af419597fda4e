import { ok, type Result } from "../domain/failure.ts";
import type { SlashOutcome } from "../domain/slash-command.ts";
import { openDesk } from "./open-desk.ts";
import type { TurnContext } from "./turn-context.ts";

const COMMAND = /^\/([a-zA-Z][a-zA-Z0-9-]*)(?:\s+([\s\S]*))?$/;

/**
 * Lets a slash command have words that begin with its name, before anything else hears of them. Words that begin with no
 * command of this moment are said as they are.
 */
export async function hearCommand(turn: TurnContext, text: string): Promise<Result<SlashOutcome>> {
  const [, name = "", args = ""] = COMMAND.exec(text) ?? [];
  const command = name === "" ? undefined : turn.commands().find((one) => one.name === name);
  if (command === undefined) return ok({ do: "say", text });
  const { id: sessionId, workspace } = turn.writer.state();
  const offer = openDesk(turn, "");
  try {
    return await command.run({ args: args.trimEnd(), sessionId, workspace, desk: offer.desk }, turn.signal);
  } finally {
    await offer.close();
  }
}
