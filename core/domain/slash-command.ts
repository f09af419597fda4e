import type { Desk } from "./desk.ts";
import type { Result } from "./failure.ts";
import type { ToolCategory } from "./tool.ts";

/** A message "/name args" as whoever serves the command gets to see it. */
export type SlashCall = {
  readonly args: string;
  readonly sessionId: string;
  readonly workspace: string;
  /** What the conversation offers while it waits for the answer. */
  readonly desk: Desk;
};

/** `say` goes to the model in the message's place; `show` goes to the person, and nothing is said. */
export type SlashOutcome = { readonly do: "say" | "show"; readonly text: string };

export type SlashCommand = {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** That of its plugin's tools; none for clawd's own. */
  readonly category?: ToolCategory;
  /** The folder whose conversations alone have it, absolute; none when all do. */
  readonly workspace?: string;
  run(call: SlashCall, signal: AbortSignal): Promise<Result<SlashOutcome>>;
};

/** The commands there are at this moment. Of two with one name the first is meant. */
export type SlashCommandSource = () => readonly SlashCommand[];
