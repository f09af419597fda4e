import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { CallHost } from "../sdk/plugin.ts";
import { isObject } from "./json-object.ts";

/** The most that the host takes for a question. */
const QUESTION_CHARS = 500;

export type Elicited = { readonly action: "accept" | "decline"; readonly content?: JsonObject };

export type QuestionParts = {
  /** As its owner calls it. */
  readonly server: string;
  /** The one call that is under way; undefined when there is none or nobody can say which is meant. */
  readonly call: () => CallHost | undefined;
  /** Hears before a question and after its answer: nobody is silent meanwhile. */
  readonly waiting: (isWaiting: boolean) => void;
  readonly note: (line: string) => void;
};

/**
 * Puts a server's question to the person in whose conversation it is working. What nobody is there to answer, or what looks
 * like a password, is declined.
 */
export async function askPerson(params: JsonObject, { server, call, waiting, note }: QuestionParts): Promise<Elicited> {
  const decline = (why: string): Elicited => {
    note(`warning: a question of the server was declined: ${why}`);
    return { action: "decline" };
  };
  const host = call();
  if (host === undefined) return decline("it belongs to no call, or to one of several");
  const question = sayQuestion(params, server);
  if (question === undefined) return decline("its address is none of http or https, or too long to be shown whole");
  const schema = params.mode === "url" || !isObject(params.requestedSchema) ? undefined : params.requestedSchema;
  waiting(true);
  try {
    const { yes, answered, content } = await host.ask(question, schema);
    if (yes) return content === undefined ? { action: "accept" } : { action: "accept", content };
    return answered ? { action: "decline" } : decline("nobody was there to answer it");
  } catch (cause) {
    return decline(cause instanceof Error ? cause.message : String(cause));
  } finally {
    waiting(false);
  }
}

/** Marked as the server's words. An address is never cut: what is agreed to must be seen. */
function sayQuestion({ mode, message, url }: JsonObject, server: string): string | undefined {
  const says = `the MCP server "${server}" asks, in its own words: ${textOf(message)}`;
  if (mode !== "url") return cut(says, QUESTION_CHARS);
  const address = textOf(url);
  const opens = ` [to be opened in a browser by you, if you say yes: ${address}]`;
  const isShown = /^https?:\/\//.test(address) && URL.canParse(address) && opens.length < QUESTION_CHARS - 100;
  return isShown ? cut(says, QUESTION_CHARS - opens.length) + opens : undefined;
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
