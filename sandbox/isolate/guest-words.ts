import type { JsonValue } from "@bufbuild/protobuf";
import { type FromGuest, type GuestError, SAY_LIMIT_CHARS } from "./guest-protocol.ts";

/** Deepest nesting of what a guest may hand over. */
const DEPTH_MAX = 64;
/** Longest text of a guest's that people get to read, UTF-16 units. */
const SHOWN_CHARS = 2000;

type Fields = Readonly<Record<string, unknown>>;

/** Drops `__proto__` keys, so that a later merge cannot be turned into a change of prototype; undefined when too deep. */
function tame(value: JsonValue, depth: number): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item) => tame(item, depth + 1));
    return items.includes(undefined) ? undefined : (items as JsonValue[]);
  }
  const copy: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") continue;
    const tamed = tame(item, depth + 1);
    if (tamed === undefined) return undefined;
    copy[key] = tamed;
  }
  return copy;
}

function readError(value: unknown): GuestError | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, message, stack } = value as Fields;
  return typeof name === "string" && typeof message === "string" && typeof stack === "string"
    ? { name, message, stack }
    : undefined;
}

function readFields(fields: Fields): FromGuest | undefined {
  const { k, id, text, to, path, code } = fields;
  const number = typeof id === "number" && Number.isSafeInteger(id) ? id : undefined;
  const error = readError(fields.error);
  switch (k) {
    case "loaded":
      return { k };
    case "unloadable":
    case "fault":
      return error && { k, error };
    case "answer":
      return number === undefined ? undefined : { k, id: number, value: fields.value };
    case "threw":
      return number === undefined || !error ? undefined : { k, id: number, error };
    case "log":
      return typeof text === "string" && (to === "stdout" || to === "stderr") ? { k, to, text } : undefined;
    case "call":
      return number !== undefined && fields.name === "readTextFile" && typeof path === "string"
        ? { k, id: number, name: "readTextFile", path }
        : undefined;
    case "exit":
      return typeof code === "number" && Number.isInteger(code) && code >= 0 && code <= 255 ? { k, code } : undefined;
    default:
      return undefined;
  }
}

/** Reads what a guest said, field by field; undefined for anything the prelude would not have said. */
export function readFromGuest(text: string): FromGuest | undefined {
  if (text.length > SAY_LIMIT_CHARS) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  const tamed = tame(value, 0);
  if (typeof tamed !== "object" || tamed === null || Array.isArray(tamed)) return undefined;
  return readFields(tamed);
}

/** A stranger's text made safe to show: control, direction and zero-width characters written out, and cut. */
export function showable(text: string): string {
  const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  return cut.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`);
}
