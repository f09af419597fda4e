import { createInterface } from "node:readline";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { escapeLine, shorten } from "./escape.ts";

const LABEL_CHARS = 300;
const OPTIONS_CHARS = 600;

/** What a person says to one field: a value, nothing, or why what they typed is none. */
export type FieldAnswer = { readonly value: JsonValue } | { readonly none: true } | { readonly wrong: string };

/** One field as it is asked for: a line for the eyes, and how what is typed is read. */
export type AskedField = {
  readonly name: string;
  readonly question: string;
  readonly read: (typed: string) => FieldAnswer;
};

/** The fields of a stranger's flat schema, in its order. The daemon checks all of it once more. */
export function fieldsOf(schema: JsonObject): readonly AskedField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(objectOf(schema.properties)).map(([name, described]) => {
    const field = objectOf(described);
    const isRequired = required.includes(name);
    return {
      name,
      question: questionOf(name, field, isRequired),
      read(typed) {
        const text = typed.trim();
        if (text === "" && field.default !== undefined) return { value: field.default };
        if (text === "") return isRequired ? { wrong: "it must be filled in" } : { none: true };
        return readTyped(text, field);
      },
    };
  });
}

function questionOf(name: string, field: JsonObject, isRequired: boolean): string {
  const label = typeof field.title === "string" ? field.title : name;
  const about = typeof field.description === "string" ? ` (${field.description})` : "";
  const options = optionsOf(field);
  const kind = options.length > 0 ? ` one of: ${options.join(", ")}` : field.type === "boolean" ? " y or n" : "";
  const many = field.type === "array" ? kind.replace("one of", "some of, with commas between") : kind;
  const usual =
    field.default === undefined ? (isRequired ? "" : " [may stay empty]") : ` [${JSON.stringify(field.default)}]`;
  return `  ${shorten(escapeLine(label + about), LABEL_CHARS)}${shorten(escapeLine(many), OPTIONS_CHARS)}${escapeLine(usual)}: `;
}

function readTyped(text: string, field: JsonObject): FieldAnswer {
  const options = optionsOf(field);
  switch (field.type) {
    case "boolean":
      if (/^(?:y|yes|true)$/i.test(text)) return { value: true };
      return /^(?:n|no|false)$/i.test(text) ? { value: false } : { wrong: "y or n" };
    case "number":
    case "integer": {
      const number = Number(text);
      const fits = Number.isFinite(number) && (field.type === "number" || Number.isInteger(number));
      if (!fits) return { wrong: field.type === "number" ? "a number" : "a whole number" };
      if (typeof field.minimum === "number" && number < field.minimum) return { wrong: `${field.minimum} or more` };
      if (typeof field.maximum === "number" && number > field.maximum) return { wrong: `${field.maximum} or less` };
      return { value: number };
    }
    case "array": {
      const chosen = text.split(",").map((one) => one.trim());
      const stray = chosen.find((one) => !options.includes(one));
      return stray === undefined ? { value: chosen } : { wrong: `${stray} is none of them` };
    }
    default:
      return options.length === 0 || options.includes(text)
        ? { value: text }
        : { wrong: "one of them, as it is written" };
  }
}

function optionsOf({ enum: plain, oneOf, items }: JsonObject): readonly string[] {
  const inner = objectOf(items);
  const listed = plain ?? oneOf ?? inner.enum ?? inner.anyOf ?? inner.oneOf;
  return (Array.isArray(listed) ? listed : []).map((one) => String(objectOf(one).const ?? one));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** Where a person types. */
export type FormTerminal = {
  readonly stdin: NodeJS.ReadStream;
  readonly output: NodeJS.WritableStream;
  readonly note: (line: string) => void;
};

/**
 * Asks field by field, each until what is typed fits. "interrupted" for Ctrl-C; undefined when the terminal is gone or `signal`
 * says that the question is settled.
 */
export async function fillIn(
  schema: JsonObject,
  { stdin, output, note }: FormTerminal,
  signal: AbortSignal,
): Promise<JsonObject | "interrupted" | undefined> {
  const content: [string, JsonValue][] = [];
  for (const field of fieldsOf(schema)) {
    for (;;) {
      const typed = await readLine(stdin, output, field.question, signal);
      if (typed === undefined || typed === INTERRUPTED) return typed === undefined ? undefined : "interrupted";
      const answer = field.read(typed);
      if ("wrong" in answer) {
        note(`  it must be ${answer.wrong}`);
        continue;
      }
      if ("value" in answer) content.push([field.name, answer.value]);
      break;
    }
  }
  return Object.fromEntries(content);
}

const INTERRUPTED = Symbol("interrupted");

/** The interface lives for one line only: before and after it keys are for other questions. */
function readLine(
  stdin: NodeJS.ReadStream,
  output: NodeJS.WritableStream,
  question: string,
  signal: AbortSignal,
): Promise<string | typeof INTERRUPTED | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const prompt = createInterface({ input: stdin, output, historySize: 0 });
    const finish = (said: string | typeof INTERRUPTED | undefined): void => {
      signal.removeEventListener("abort", give);
      resolve(said);
      prompt.close();
    };
    const give = (): void => finish(undefined);
    prompt.on("SIGINT", () => finish(INTERRUPTED));
    prompt.once("close", give);
    signal.addEventListener("abort", give, { once: true });
    prompt.question(question, finish);
  });
}
