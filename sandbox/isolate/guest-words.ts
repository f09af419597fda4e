import type { JsonValue } from "@bufbuild/protobuf";
import {
  CALL_NAMES,
  type CallName,
  type FromGuest,
  type GuestError,
  type Json,
  SAY_LIMIT_CHARS,
  TEST_STEPS_MAX,
  type TestNews,
} from "../guest/guest-protocol.ts";

/** Deepest nesting of what a guest may hand over. */
const DEPTH_MAX = 64;
/** Longest text that is not a call; only calls carry whole files. UTF-16 units. */
const PLAIN_LIMIT_CHARS = 1024 * 1024;
/** How calls begin, as the prelude writes them. */
const CALL_START = '{"k":"call"';
/** From this length on a text's parts are counted before it is parsed. UTF-16 units. */
const COUNTED_FROM_CHARS = 64 * 1024;
/** Most values and keys in one text: reading it must not hold up the daemon. */
const PARTS_MAX = 50_000;

const UINT32_MAX = 2 ** 32 - 1;

const QUOTE = 34;
const BACKSLASH = 92;
const OPENERS_AND_COMMAS: ReadonlySet<number> = new Set([44, 58, 91, 123]);

type Fields = Readonly<Record<string, unknown>>;

/** Where the string ends that begins before `at`, as the index after its closing quote. */
function skipString(text: string, at: number): number {
  for (let from = at; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH && quote - 1 - backslashes >= at) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

/** Whether a JSON text has at most so many values: a look at it costs a hundredth of its objects. */
function isLight(text: string): boolean {
  let parts = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    at += 1;
    if (unit === QUOTE) at = skipString(text, at);
    else if (OPENERS_AND_COMMAS.has(unit)) {
      parts += 1;
      if (parts > PARTS_MAX) return false;
    }
  }
  return true;
}

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

const TEST_OUTCOMES = ["ok", "failed", "ignored"] as const;

function readTestPath(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) &&
    value.length > 0 &&
    value.length <= TEST_STEPS_MAX &&
    value.every((name) => typeof name === "string")
    ? value
    : undefined;
}

function readCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= UINT32_MAX
    ? value
    : undefined;
}

function readTestNews(value: unknown): TestNews | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { at, path: names, planned, filteredOut, outcome, ms, only, error: thrown } = value as Fields;
  if (at === "plan") {
    const [count, left] = [readCount(planned), readCount(filteredOut)];
    return count === undefined || left === undefined || typeof only !== "boolean"
      ? undefined
      : { at, planned: count, filteredOut: left, only };
  }
  const path = readTestPath(names);
  if (path === undefined) return undefined;
  if (at === "begun") return { at, path };
  const found = TEST_OUTCOMES.find((each) => each === outcome);
  const error = thrown === null ? null : readError(thrown);
  if (at !== "ended" || found === undefined || error === undefined) return undefined;
  return typeof ms === "number" && Number.isFinite(ms) && ms >= 0 ? { at, path, outcome: found, ms, error } : undefined;
}

function isCallName(name: unknown): name is CallName {
  return (CALL_NAMES as readonly unknown[]).includes(name);
}

function readFields(fields: Fields): FromGuest | undefined {
  const { k, id, text, to, name, code, stands } = fields;
  const number = typeof id === "number" && Number.isSafeInteger(id) ? id : undefined;
  const error = readError(fields.error);
  switch (k) {
    case "loaded":
      return { k };
    case "unloadable":
      return error && { k, error };
    case "fault":
      return error && { k, error, ...(fields.inPromise === true && { inPromise: true as const }) };
    case "answer":
      return number === undefined ? undefined : { k, id: number, value: fields.value };
    case "threw":
      return number === undefined || !error ? undefined : { k, id: number, error };
    case "log":
      return typeof text === "string" && (to === "stdout" || to === "stderr") ? { k, to, text } : undefined;
    case "call":
      // What the arguments must be like is judged by whoever serves the call.
      return number !== undefined && isCallName(name)
        ? { k, id: number, name, args: (fields.args ?? null) as Json, ...(stands === true && { stands }) }
        : undefined;
    case "bytes":
      return typeof fields.data === "string" && (to === "stdout" || to === "stderr")
        ? { k, to, data: fields.data }
        : undefined;
    case "test": {
      const news = readTestNews(fields.news);
      return news && { k, news };
    }
    case "exit":
    case "exitCode":
      return typeof code === "number" && Number.isInteger(code) && code >= 0 && code <= 255 ? { k, code } : undefined;
    default:
      return undefined;
  }
}

/** Reads what a guest said, field by field; undefined for anything the prelude would not have said. */
export function readFromGuest(text: string): FromGuest | undefined {
  if (text.length > SAY_LIMIT_CHARS) return undefined;
  if (text.length > PLAIN_LIMIT_CHARS && !text.startsWith(CALL_START)) return undefined;
  if (text.length > COUNTED_FROM_CHARS && !isLight(text)) return undefined;
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
