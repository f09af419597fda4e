/** Turns values into text for the guest's console, as Deno does it. Runs inside the isolate. */

import { layOut } from "./inspect-layout.ts";
import { listShape } from "./inspect-list.ts";
import { plainShape } from "./inspect-plain.ts";
import { prefixOf, primitiveText, quoted } from "./inspect-text.ts";
import { inside, propertyText, startWork, type Work } from "./inspect-work.ts";

const CUSTOM = [Symbol.for("Deno.customInspect"), Symbol.for("nodejs.util.inspect.custom")];
/** Beyond so many characters, objects inside are only named. Their number grows with the power of the depth. */
const CHARS_MAX = 1024 * 1024;
/** Longer strings are broken into their lines where they do not fit. */
const LINES_FROM_CHARS = 16;
const { getOwnPropertyDescriptor, getPrototypeOf } = Object;

function constructorName(value: object): string | null {
  for (let at: object | null = value; at !== null; at = getPrototypeOf(at)) {
    const own = getOwnPropertyDescriptor(at, "constructor");
    if (typeof own?.value === "function" && typeof own.value.name === "string" && own.value.name !== "")
      return value instanceof own.value || at !== value ? own.value.name : null;
  }
  return null;
}

function tagOf(value: object, className: string | null): string {
  const tag = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  return typeof tag === "string" && tag !== "" && tag !== className ? tag : "";
}

function objectText(work: Work, value: object, depth: number): string {
  const className = constructorName(value);
  const tag = tagOf(value, className);
  const found = listShape(work, value, className, tag, depth + 1) ?? plainShape(work, value, className, tag);
  if (found.alone !== undefined && found.keys.length === 0) return found.alone;
  if (depth > work.depth || work.chars > CHARS_MAX)
    return `[${prefixOf(className, tag, Array.isArray(value) ? "Array" : "Object").slice(0, -1)}]`;
  work.seen.push(value);
  work.currentDepth = depth;
  const items = found.items?.() ?? [];
  const keyed = found.keys.map((key) => inside(work, () => propertyText(work, value, key, depth + 1)));
  work.seen.pop();
  const number = work.circular.indexOf(value) + 1;
  const base = [number > 0 ? `<ref *${number}>` : "", found.base ?? ""].filter((part) => part !== "").join(" ");
  const sorted = work.sort && !found.isList ? [...items, ...keyed].sort(work.sort) : [...items, ...keyed];
  const numbers = Array.isArray(value)
    ? value.slice(0, work.iterableLimit).every((item) => typeof item === "number" || typeof item === "bigint")
    : true;
  const text = layOut(work, {
    base,
    braces: found.braces,
    parts: sorted,
    isList: found.isList === true,
    numbers,
    depth,
  });
  work.chars += text.length;
  return text;
}

function customText(work: Work, value: object): string | undefined {
  for (const symbol of CUSTOM) {
    const custom = (value as Record<symbol, unknown>)[symbol];
    if (typeof custom !== "function") continue;
    const text: unknown = Reflect.apply(custom, value, [inspectWith, { depth: work.depth }]);
    return typeof text === "string" ? text.replaceAll("\n", `\n${" ".repeat(work.indentation)}`) : undefined;
  }
  return undefined;
}

function stringText(work: Work, text: string): string {
  const cut = text.length > work.textMax ? text.slice(0, work.textMax) : text;
  const rest = text.length - cut.length;
  const tail = rest > 0 ? `... ${rest} more character${rest > 1 ? "s" : ""}` : "";
  const inLines = cut.length > LINES_FROM_CHARS && cut.length > work.breakLength - work.indentation - 4 && work.escapes;
  if (!inLines) return quoted(cut, work.escapes) + tail;
  const lines = cut.split(/(?<=\n)/).map((line) => quoted(line));
  return lines.join(` +\n${" ".repeat(work.indentation + 2)}`) + tail;
}

function inspectNested(work: Work, value: unknown, depth: number): string {
  if (typeof value === "string") return stringText(work, value);
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return primitiveText(value);
  const custom = customText(work, value);
  if (custom !== undefined) return custom;
  if (work.seen.includes(value)) {
    if (!work.circular.includes(value)) work.circular.push(value);
    return `[Circular *${work.circular.indexOf(value) + 1}]`;
  }
  return objectText(work, value, depth);
}

/** `Deno.inspect`. */
export function inspectWith(value: unknown, options?: unknown): string {
  return inspectNested(startWork(options ?? {}, inspectNested), value, 0);
}

/** One console argument: strings as they are, everything else as a literal, at most four levels deep. */
export function inspect(value: unknown): string {
  return typeof value === "string" ? value : inspectWith(value);
}

/** The arguments of one call. What holds itself has one number in all of them. */
export function inspectAll(values: readonly unknown[]): string[] {
  const circular: object[] = [];
  return values.map((value) =>
    typeof value === "string" ? value : inspectNested({ ...startWork({}, inspectNested), circular }, value, 0),
  );
}
