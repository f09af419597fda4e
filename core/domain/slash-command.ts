import type { JsonObject } from "@bufbuild/protobuf";
import type { Desk } from "./desk.ts";
import type { Result } from "./failure.ts";
import type { ToolCategory } from "./tool.ts";

/** What a program fills in by name. */
export type SlashArgument = { readonly name: string; readonly description: string; readonly required: boolean };

/** What stands behind a command's name: words, and, from a program, the same by name. */
export type SlashWords = {
  readonly args: string;
  readonly named?: Readonly<Record<string, string>>;
  /** True when messages are wanted beside the text. */
  readonly whole?: boolean;
};

/** A message "/name args" as whoever serves the command gets to see it. */
export type SlashCall = SlashWords & {
  readonly sessionId: string;
  readonly workspace: string;
  /** What the conversation offers while it waits for the answer. */
  readonly desk: Desk;
};

/** `say` goes to the model in the message's place; `show` goes to the person, and nothing is said. */
export type SlashOutcome = {
  readonly do: "say" | "show";
  readonly text: string;
  /** All that it says, pictures and resources included, each in the form of a PromptMessage of MCP; of a stranger, and judged by nobody. */
  readonly messages?: readonly JsonObject[];
};

export type SlashCommand = {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** None for one that takes words alone. */
  readonly takes?: readonly SlashArgument[];
  /** That of its plugin's tools; none for clawd's own. */
  readonly category?: ToolCategory;
  /** The folder whose conversations alone have it, absolute; none when all do. */
  readonly workspace?: string;
  run(call: SlashCall, signal: AbortSignal): Promise<Result<SlashOutcome>>;
};

/** The commands there are at this moment. Of two with one name the first is meant. */
export type SlashCommandSource = () => readonly SlashCommand[];
