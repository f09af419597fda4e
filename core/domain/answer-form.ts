import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Failed, fail, ok, type Result } from "./failure.ts";
import { isJsonObject } from "./json-object.ts";
import { showableLine } from "./showable.ts";

const MAX_FIELDS = 32;
const MAX_CHOICES = 256;
const MAX_NAME_CHARS = 64;
const MAX_TEXT_CHARS = 8_192;
/** What people are never asked for on a stranger's behalf: a form is no place for it. */
const SECRET_WORDS =
  /pass[ _-]?(?:word|phrase|code)|\bpasswd\b|\bpwd\b|secret|credential|private[ _-]?key|api[ _-]?key|(?:access|auth|bearer|refresh)[ _-]?token|\btoken\b|\bpin\b|\bcvv\b|\bcvc\b|\botp\b|card[ _-]?number/i;
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)),
};

/** One thing that a person fills in. */
export type FormField = {
  readonly name: string;
  readonly kind: "text" | "number" | "integer" | "yes or no" | "choice" | "choices";
  /** Of a choice. */
  readonly options: readonly string[];
  readonly required: boolean;
  readonly byDefault: JsonValue | undefined;
  /** Length of a text, value of a number, how many choices. */
  readonly least: number;
  readonly most: number;
  /** Of a text: "email", "uri", "date", "date-time", or empty. */
  readonly format: string;
};

/**
 * Understands a stranger's flat JSON Schema of type object, one level deep. `invalid` for anything else; `denied` when it asks
 * for what looks like a password.
 */
export function readForm(schema: JsonObject): Result<readonly FormField[]> {
  const { properties = {}, required = [] } = schema;
  if (!isJsonObject(properties) || (schema.type !== undefined && schema.type !== "object"))
    return fail("invalid", "what is asked for is not described by a schema of type object");
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS)
    return fail("exhausted", `it asks for ${entries.length} things at once; ${MAX_FIELDS} is the most`);
  const fields: FormField[] = [];
  for (const [name, described] of entries) {
    const shown = JSON.stringify(showableLine(name.slice(0, MAX_NAME_CHARS)));
    if (!isJsonObject(described) || name === "" || name.length > MAX_NAME_CHARS)
      return fail("invalid", `the field ${shown} is not described`);
    if (looksSecret(name, described))
      return fail("denied", `the field ${shown} looks like a password or a key, which is never asked for in a form`);
    const field = readField(name, described, Array.isArray(required) && required.includes(name));
    if (field === undefined) return fail("invalid", `the field ${shown} is not of a kind that a person can fill in`);
    fields.push(field);
  }
  return ok(fields);
}

/** What was filled in, with defaults for what was left out. `invalid` names the field and what it must be. */
export function fillForm(fields: readonly FormField[], content: JsonObject): Result<JsonObject> {
  const stray = Object.keys(content).find((name) => !fields.some((field) => field.name === name));
  if (stray !== undefined)
    return fail("invalid", `nobody asked for ${JSON.stringify(showableLine(stray.slice(0, MAX_NAME_CHARS)))}`);
  const filled: [string, JsonValue][] = [];
  for (const field of fields) {
    const value = content[field.name] ?? field.byDefault;
    if (value === undefined) {
      if (field.required) return wrong(field, "is missing");
      continue;
    }
    const problem = findProblem(field, value);
    if (problem !== undefined) return wrong(field, problem);
    filled.push([field.name, value]);
  }
  return ok(Object.fromEntries(filled));
}

function wrong({ name }: FormField, problem: string): Failed {
  return fail("invalid", `the field ${JSON.stringify(showableLine(name))} ${problem}`);
}

function looksSecret(name: string, { title, description, format }: JsonObject): boolean {
  // "accessToken" and "access_token" are one to the words.
  const spaced = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ");
  return (
    format === "password" ||
    [spaced, title, description].some((text) => typeof text === "string" && SECRET_WORDS.test(text))
  );
}

function readField(name: string, described: JsonObject, required: boolean): FormField | undefined {
  const { type, format, default: byDefault } = described;
  const about = { name, required, byDefault, options: [], format: "" };
  switch (type) {
    case "boolean":
      return { ...about, kind: "yes or no", least: 0, most: 0 };
    case "number":
    case "integer":
      return {
        ...about,
        kind: type,
        ...bounds(described.minimum, described.maximum, -Number.MAX_VALUE, Number.MAX_VALUE),
      };
    case "string": {
      const options = readOptions(described.enum ?? described.oneOf);
      if (options !== undefined) return { ...about, kind: "choice", options, least: 0, most: 0 };
      const limits = bounds(described.minLength, described.maxLength, 0, MAX_TEXT_CHARS);
      return { ...about, kind: "text", ...limits, format: typeof format === "string" ? format : "" };
    }
    case "array": {
      const { items } = described;
      const options = isJsonObject(items) ? readOptions(items.enum ?? items.anyOf ?? items.oneOf) : undefined;
      if (options === undefined) return undefined;
      return {
        ...about,
        kind: "choices",
        options,
        ...bounds(described.minItems, described.maxItems, 0, options.length),
      };
    }
    default:
      return undefined;
  }
}

function bounds(least: JsonValue | undefined, most: JsonValue | undefined, lowest: number, highest: number) {
  return {
    least: typeof least === "number" ? Math.max(least, lowest) : lowest,
    most: typeof most === "number" ? Math.min(most, highest) : highest,
  };
}

/** Undefined when the values are not limited to some, or cannot be shown. */
function readOptions(listed: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_CHOICES) return undefined;
  const options = listed.map((one) => (isJsonObject(one) ? one.const : one));
  return options.every((one) => typeof one === "string") ? options : undefined;
}

/** What a value must be and is not; undefined when it fits. */
function findProblem({ kind, options, least, most, format }: FormField, value: JsonValue): string | undefined {
  switch (kind) {
    case "yes or no":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "number":
    case "integer":
      if (typeof value !== "number" || (kind === "integer" && !Number.isInteger(value)))
        return `must be a ${kind === "integer" ? "whole " : ""}number`;
      return value < least || value > most ? `must be ${sayRange(least, most)}` : undefined;
    case "choice":
      return typeof value === "string" && options.includes(value) ? undefined : `must be one of ${sayOptions(options)}`;
    case "choices":
      if (!Array.isArray(value) || !value.every((one) => typeof one === "string" && options.includes(one)))
        return `must be a list of some of ${sayOptions(options)}`;
      return value.length < least || value.length > most ? `must be ${sayRange(least, most)} of them` : undefined;
    case "text":
      if (typeof value !== "string") return "must be a text";
      if (value.length < least || value.length > most) return `must have ${sayRange(least, most)} characters`;
      return FORMATS[format]?.(value) === false ? `must be of the form "${format}"` : undefined;
  }
}

function sayRange(least: number, most: number): string {
  if (most === Number.MAX_VALUE) return `${least} or more`;
  return least === -Number.MAX_VALUE ? `${most} or less` : `${least} to ${most}`;
}

function sayOptions(options: readonly string[]): string {
  return showableLine(options.map((one) => JSON.stringify(one)).join(", ")).slice(0, 500);
}
