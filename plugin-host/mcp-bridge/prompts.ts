import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "./json-object.ts";

/** Of a prompt, as far as programs hear of them. */
const MAX_ARGUMENTS = 64;
const MAX_DESCRIPTION_CHARS = 4 * 1024;
/** Pictures and all: it goes to the daemon in one message. */
const MAX_MESSAGES_BYTES = 3 * 1024 * 1024;

/** What a server says that a prompt of its takes. */
export type PromptArgument = { readonly name: string; readonly description: string; readonly required: boolean };
export type Prompt = {
  readonly name: string;
  readonly description: string;
  readonly args: readonly PromptArgument[];
};

/** One prompt of a list; undefined for what has no name. */
export function readPrompt({ name, title, description, arguments: listed }: JsonObject): Prompt | undefined {
  if (typeof name !== "string" || name === "") return undefined;
  const args = (Array.isArray(listed) ? listed : []).flatMap((one): readonly PromptArgument[] =>
    isObject(one) && typeof one.name === "string"
      ? [
          {
            name: one.name,
            description: typeof one.description === "string" ? one.description : "",
            required: one.required === true,
          },
        ]
      : [],
  );
  const about = typeof description === "string" ? description : typeof title === "string" ? title : "";
  const takes = args.map((one) => (one.required ? one.name : `[${one.name}]`)).join(" ");
  return { name, description: takes === "" ? about : `${about} (takes: ${takes})`, args };
}

/** What of it programs can fill in by name; one that the host could not take would take the whole prompt along. */
export function takenArguments(args: readonly PromptArgument[]): readonly PromptArgument[] {
  return args
    .filter(({ name }, at) => /^[^\s=]{1,64}$/.test(name) && args.findIndex((one) => one.name === name) === at)
    .slice(0, MAX_ARGUMENTS)
    .map((one) => ({ ...one, description: one.description.slice(0, MAX_DESCRIPTION_CHARS) }));
}

/**
 * What stands behind the command, as a prompt's arguments: NAME=VALUE where NAME is one of them, the rest in their order, a word
 * each and all that is left for the last. Quotes keep words together. Throws when a required one is missing, or one is too many.
 */
export function promptArguments(prompt: Prompt, text: string): Readonly<Record<string, string>> {
  const given: Record<string, string> = {};
  const loose: string[] = [];
  for (const [, word = ""] of text.matchAll(/((?:"[^"]*"|'[^']*'|[^\s"'])+)/g)) {
    const [, name = "", value = ""] = /^([^=\s]+)=([\s\S]*)$/.exec(word) ?? [];
    if (prompt.args.some((one) => one.name === name)) given[name] = unquote(value);
    else loose.push(unquote(word));
  }
  const open = prompt.args.filter(({ name }) => !Object.hasOwn(given, name));
  for (const [index, { name }] of open.entries()) {
    const isLast = index === open.length - 1;
    const value = isLast ? loose.splice(0).join(" ") : loose.shift();
    if (value !== undefined && value !== "") given[name] = value;
  }
  const takes =
    prompt.args.length === 0 ? "it takes none" : `it takes: ${prompt.args.map(({ name }) => name).join(" ")}`;
  if (loose.length > 0) throw new Error(`"${loose[0]}" is one argument too many; ${takes}`);
  const missing = prompt.args.find(({ name, required }) => required && !Object.hasOwn(given, name));
  if (missing !== undefined) throw new Error(`"${missing.name}" is missing; ${takes}`);
  return given;
}

function unquote(word: string): string {
  return word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2");
}

/** What a server answered to prompts/get, as words of the person's: what the assistant is to have said is marked. */
export function promptText({ messages }: JsonObject): string {
  const texts = (Array.isArray(messages) ? messages : []).flatMap((message) => {
    if (!isObject(message)) return [];
    const text = contentText(message.content);
    if (text === "") return [];
    return [message.role === "assistant" ? `[the assistant:] ${text}` : text];
  });
  return texts.join("\n\n");
}

/** The same as it came, for whoever takes pictures and resources; throws when that is more than a message to the daemon holds. */
export function promptMessages({ messages }: JsonObject): readonly JsonObject[] {
  const all = (Array.isArray(messages) ? messages : []).filter(isObject);
  if (Buffer.byteLength(JSON.stringify(all)) <= MAX_MESSAGES_BYTES) return all;
  throw new Error(`the prompt says more than ${MAX_MESSAGES_BYTES / 1024 / 1024} MiB`);
}

function contentText(content: JsonValue | undefined): string {
  if (!isObject(content)) return "";
  if (content.type === "text") return typeof content.text === "string" ? content.text : "";
  const { resource } = content;
  if (isObject(resource) && typeof resource.text === "string")
    return `[resource ${String(resource.uri ?? "")}]\n${resource.text}`;
  return `[${String(content.type ?? "something")} that cannot be said in words]`;
}
