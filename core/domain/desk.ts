import type { JsonObject } from "@bufbuild/protobuf";
import { fail, type Result } from "./failure.ts";
import type { PermissionDecision, PermissionQuestion, PersonsWord } from "./permission-decision.ts";
import type { Message, Prompt, Stop } from "./provider.ts";

/** What a model shall answer for a stranger: no tools, and nothing of the conversation. */
export type WordsWanted = Pick<Prompt, "system"> & {
  readonly messages: readonly Message[];
  readonly maxTokens: number;
};

/** What a model may answer a stranger at once, UTF-16 code units. */
export const STRANGERS_WORDS_LIMIT_CHARS = 1024 * 1024;

export type ModelWords = {
  readonly said: Result<{ readonly text: string; readonly stop: Stop /** "PROVIDER/NAME". */; readonly model: string }>;
  /** Of prompt and answer; undefined when nobody said how many they were. */
  readonly tokens: number | undefined;
};

/** What a conversation offers to strangers' code that it is waiting for: a hook that hears an event, a tool that runs. */
export type Desk = {
  /** Makes a decision durable before what it allows is done; when that fails, it must not be done. */
  record(decision: PermissionDecision): Promise<Result<void>>;
  /** Asks whoever is connected, as an approval that any client may answer; "nobody" at once when there is no one. */
  ask(question: PermissionQuestion): Promise<PersonsWord>;
  /**
   * The same for a question in the stranger's own words, safe to show, that is answered with yes or no, and with a schema by
   * filling in its fields, too; `readForm` must have understood it.
   */
  confirm(principal: string, question: string, requestedSchema?: JsonObject): Promise<PersonsWord>;
  /** The canonical name of a tool that is meant by this name or alias; the word itself when it means none. */
  toolName(word: string): string;
  /** Runs a tool through the gates, but not through hooks. The result is what a model would read. */
  callTool(principal: string, tool: string, args: JsonObject): Promise<Result<string>>;
  /** Asks the model that the conversation talks to. Whether that is allowed, and how much of it, was judged before. */
  generate(wanted: WordsWanted, signal: AbortSignal): Promise<ModelWords>;
};

/** A desk with nobody behind it: what is decided is recorded, nobody can be asked, and nothing can be called. */
export function quietDesk(record: Desk["record"]): Desk {
  return {
    record,
    ask: async () => ({ said: "nobody" }),
    confirm: async () => ({ said: "nobody" }),
    toolName: (word) => word,
    async callTool(_principal, tool) {
      return fail("denied", `${tool} did not run: tools cannot be called at this point`, {
        hint: "call it at another point",
      });
    },
    async generate() {
      return { said: fail("denied", "no model can be asked at this point"), tokens: 0 };
    },
  };
}
