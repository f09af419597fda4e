/** Turns values into text for the guest's console, as Deno does it. Runs inside the isolate. */

import { errorKeys, errorText, stackText } from "./inspect-error.ts";
import { type Layout, layOut } from "./inspect-layout.ts";
import { functionText, keyText, numberText, prefixOf, quoted, symbolText } from "./inspect-text.ts";

export type InspectOptions = {
  readonly depth?: number | null;
  readonly compact?: boolean | number;
  readonly breakLength?: number;
  readonly iterableLimit?: number;
  readonly strAbbreviateSize?: number;
  readonly sorted?: boolean | ((one: string, other: string) => number);
  readonly getters?: boolean;
  readonly showHidden?: boolean;
  readonly trailingComma?: boolean;
  readonly escapeSequences?: boolean;
};

/** One inspection, with what it has come by so far. */
type Work = Layout & {
  readonly depth: number;
  readonly textMax: number;
  readonly sort: ((one: string, other: string) => number) | undefined;
  readonly getters: boolean;
  readonly hidden: boolean;
  readonly escapes: boolean;
  readonly seen: object[];
  /** Values that were met inside themselves, in the order of meeting: their numbers are these places plus one. */
  readonly circular: object[];
  /** Characters written so far, of what is inside. */
  chars: number;
};

type Shape = {
  readonly base?: string;
  readonly braces: [string, string];
  readonly keys: readonly (string | symbol)[];
  readonly isList?: boolean;
  items?(): string[];
  /** Written instead of everything when there are no keys. */
  readonly alone?: string;
};

const QUOTES = ['"', "'", "`"];
const CUSTOM = [Symbol.for("Deno.customInspect"), Symbol.for("nodejs.util.inspect.custom")];
/** Beyond so many characters, objects inside are only named. Their number grows with the power of the depth. */
const CHARS_MAX = 1024 * 1024;
/** Longer strings are broken into their lines where they do not fit. */
const LINES_FROM_CHARS = 16;
const VIEW_KINDS = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];
const NOT_SHOWN = [WeakMap, WeakSet];
const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
const ITERATORS = [
  ["Map Iterator", getPrototypeOf(new Map().entries())],
  ["Set Iterator", getPrototypeOf(new Set().entries())],
] as const;

function startWork(options: InspectOptions): Work {
  const { compact = 3, sorted = false } = options;
  return {
    depth: options.depth === null ? Number.POSITIVE_INFINITY : (options.depth ?? 4),
    breakLength: options.breakLength ?? 80,
    compact: typeof compact === "number" ? compact : compact ? 3 : 0,
    iterableLimit: options.iterableLimit ?? 100,
    textMax: options.strAbbreviateSize ?? 10_000,
    trailingComma: options.trailingComma === true,
    sort: typeof sorted === "function" ? sorted : sorted ? (one, other) => (one < other ? -1 : 1) : undefined,
    getters: options.getters === true,
    hidden: options.showHidden === true,
    escapes: options.escapeSequences !== false,
    indentation: 0,
    currentDepth: 0,
    seen: [],
    circular: [],
    chars: 0,
  };
}

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

function keysOf(work: Work, value: object): (string | symbol)[] {
  if (work.hidden) return Reflect.ownKeys(value);
  const symbols = Object.getOwnPropertySymbols(value);
  return [...Object.keys(value), ...symbols.filter((key) => getOwnPropertyDescriptor(value, key)?.enumerable)];
}

function moreText(count: number): string {
  return `... ${count} more item${count > 1 ? "s" : ""}`;
}

function inside<T>(work: Work, run: () => T): T {
  work.indentation += 2;
  const result = run();
  work.indentation -= 2;
  return result;
}

function limited<T>(work: Work, values: readonly T[], text: (value: T) => string): string[] {
  const parts = values.slice(0, work.iterableLimit).map(text);
  if (values.length > parts.length) parts.push(moreText(values.length - parts.length));
  return parts;
}

function arrayItems(work: Work, list: readonly unknown[], depth: number): string[] {
  const parts: string[] = [];
  let index = 0;
  // A list of billions of holes must not be walked.
  const filled = list.length > work.iterableLimit * 2 ? Object.keys(list).map(Number) : undefined;
  while (index < list.length && parts.length < work.iterableLimit) {
    if (hasOwn(list, index)) {
      const at = index;
      parts.push(inside(work, () => propertyText(work, list, `${at}`, depth, true)));
      index += 1;
      continue;
    }
    const next = filled
      ? filled.find((at) => at > index && at < list.length)
      : list.findIndex((_item, at) => at > index && hasOwn(list, at));
    const end = next === undefined || next < 0 ? list.length : next;
    parts.push(`<${end - index} empty item${end - index > 1 ? "s" : ""}>`);
    index = end;
  }
  if (index < list.length) parts.push(moreText(list.length - index));
  return parts;
}

function isIndex(key: string | symbol): boolean {
  return typeof key === "string" && /^(?:0|[1-9]\d{0,9})$/.test(key);
}

function bytesText(work: Work, buffer: ArrayBuffer): string {
  const bytes = [...new Uint8Array(buffer).subarray(0, work.iterableLimit)];
  const rest = buffer.byteLength - bytes.length;
  const text = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `[Uint8Contents]: <${text}${rest > 0 ? ` ... ${rest} more byte${rest > 1 ? "s" : ""}` : ""}>`;
}

function listShape(work: Work, value: object, className: string | null, tag: string, depth: number): Shape | undefined {
  const nested = (item: unknown) => inside(work, () => inspectNested(work, item, depth));
  if (Array.isArray(value)) {
    const keys = keysOf(work, value).filter((key) => !isIndex(key) && key !== "length");
    const prefix = className === "Array" && tag === "" ? "" : prefixOf(className, tag, "Array", `(${value.length})`);
    const alone = value.length === 0 ? `${prefix}[]` : undefined;
    return shape(keys, [`${prefix}[`, "]"], { isList: true, items: () => arrayItems(work, value, depth), alone });
  }
  if (value instanceof Set) {
    const prefix = prefixOf(className, tag, "Set", `(${value.size})`);
    const items = () => limited(work, [...value], nested);
    const alone = value.size === 0 ? `${prefix}{}` : undefined;
    return shape(keysOf(work, value), [`${prefix}{`, "}"], { items, alone });
  }
  if (value instanceof Map) {
    const prefix = prefixOf(className, tag, "Map", `(${value.size})`);
    const items = () => limited(work, [...value], ([key, item]) => `${nested(key)} => ${nested(item)}`);
    const alone = value.size === 0 ? `${prefix}{}` : undefined;
    return shape(keysOf(work, value), [`${prefix}{`, "}"], { items, alone });
  }
  const kind = ArrayBuffer.isView(value) ? VIEW_KINDS.find((one) => value instanceof one) : undefined;
  if (kind) {
    const view = value as Uint8Array;
    const prefix = prefixOf(className, tag, kind.name, `(${view.length})`);
    const keys = keysOf(work, value).filter((key) => !isIndex(key));
    const items = () => {
      const parts = [...view.subarray(0, work.iterableLimit)].map((item: number | bigint) =>
        typeof item === "bigint" ? `${item}n` : numberText(item),
      );
      return view.length > parts.length ? [...parts, moreText(view.length - parts.length)] : parts;
    };
    const alone = view.length === 0 ? `${prefix}[]` : undefined;
    return shape(keys, [`${prefix}[`, "]"], { isList: true, items, alone });
  }
  return undefined;
}

type ShapeRest = { base?: string; isList?: boolean; items?: () => string[]; alone?: string | undefined };

function shape(keys: readonly (string | symbol)[], braces: [string, string], rest: ShapeRest): Shape {
  const { alone, ...others } = rest;
  return { keys, braces, ...others, ...(alone === undefined ? {} : { alone }) };
}

function boxedText(value: object, className: string | null): string | undefined {
  const primitive = (["Number", "String", "Boolean", "BigInt", "Symbol"] as const).find(
    (name) => value instanceof globalThis[name],
  );
  if (!primitive) return undefined;
  const inner = (value as { valueOf(): unknown }).valueOf();
  const text = typeof inner === "string" ? quoted(inner, QUOTES) : primitiveText(inner);
  const other = className === null || className === primitive ? "" : ` (${className})`;
  return `[${primitive}${other}: ${text}]`;
}

function atomText(work: Work, value: object, className: string | null, tag: string): string | undefined {
  const prefix = (fallback: string) => {
    const text = prefixOf(className, tag, fallback);
    return text === `${fallback} ` ? "" : text;
  };
  if (typeof value === "function") return functionText(value, className, tag);
  if (value instanceof RegExp) return prefix("RegExp") + RegExp.prototype.toString.call(value);
  if (value instanceof Date) {
    const time = Date.prototype.getTime.call(value);
    return prefix("Date") + (Number.isNaN(time) ? "Invalid Date" : new Date(time).toISOString());
  }
  if (value instanceof Error) return errorText(value, className, tag, work.indentation);
  return boxedText(value, className);
}

function plainShape(work: Work, value: object, className: string | null, tag: string): Shape {
  const prefix = (fallback: string) => prefixOf(className, tag, fallback);
  const keys = keysOf(work, value);
  const base = atomText(work, value, className, tag);
  if (base !== undefined) {
    // What the text of it shows already.
    const shown = value instanceof String ? keys.filter((key) => !isIndex(key)) : keys;
    const left = value instanceof Error ? errorKeys(value, shown, stackText(value)) : shown;
    return { base, braces: ["{", "}"], keys: left, alone: base };
  }
  if (value instanceof ArrayBuffer) {
    const items = () => [bytesText(work, value), `byteLength: ${value.byteLength}`];
    return { braces: [`${prefix("ArrayBuffer")}{`, "}"], keys, items };
  }
  if (value instanceof DataView) {
    const { byteLength, byteOffset, buffer } = value;
    const items = () => [
      `byteLength: ${byteLength}`,
      `byteOffset: ${byteOffset}`,
      `buffer: ${inside(work, () => inspectNested(work, buffer, work.currentDepth))}`,
    ];
    return { braces: [`${prefix("DataView")}{`, "}"], keys, items };
  }
  // Whether it is settled is known to the engine alone.
  if (value instanceof Promise) return { braces: [`${prefix("Promise")}{`, "}"], keys, items: () => ["<pending>"] };
  const weak = NOT_SHOWN.find((kind) => value instanceof kind);
  if (weak) return { braces: [`${prefix(weak.name)}{`, "}"], keys, items: () => ["<items unknown>"] };
  const iterator = ITERATORS.find(([, prototype]) => getPrototypeOf(value) === prototype);
  if (iterator) return { braces: [`[${iterator[0]}] {`, "}"], keys, alone: `[${iterator[0]}] {  }` };
  if (Object.prototype.toString.call(value) === "[object Arguments]" && tag === "")
    return { braces: ["[Arguments] {", "}"], keys, alone: "[Arguments] {}" };
  if (className === "Object" && tag === "") return { braces: ["{", "}"], keys, alone: "{}" };
  return { braces: [`${prefix("Object")}{`, "}"], keys, alone: `${prefix("Object")}{}` };
}

function getterText(work: Work, value: object, property: PropertyDescriptor, depth: number): string {
  const label = property.get ? (property.set ? "Getter/Setter" : "Getter") : "Setter";
  if (!work.getters || !property.get) return `[${label}]`;
  try {
    return `[${label}: ${inspectNested(work, Reflect.apply(property.get, value, []), depth)}]`;
  } catch (error) {
    return `[${label}: <Inspection threw (${error instanceof Error ? error.message : "something"})>]`;
  }
}

function propertyText(work: Work, value: object, key: string | symbol, depth: number, bare = false): string {
  const property = getOwnPropertyDescriptor(value, key) ?? { value: undefined, enumerable: true };
  const text =
    property.get || property.set
      ? getterText(work, value, property, depth)
      : inspectNested(work, property.value, depth);
  return bare ? text : `${keyText(key, property.enumerable === true, QUOTES)}: ${text}`;
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
  if (!inLines) return quoted(cut, QUOTES, work.escapes) + tail;
  const lines = cut.split(/(?<=\n)/).map((line) => quoted(line, QUOTES));
  return lines.join(` +\n${" ".repeat(work.indentation + 2)}`) + tail;
}

function primitiveText(value: unknown): string {
  if (typeof value === "number") return numberText(value);
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "symbol" ? symbolText(value) : String(value);
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
  return inspectNested(startWork((options ?? {}) as InspectOptions), value, 0);
}

/** One console argument: strings as they are, everything else as a literal, at most four levels deep. */
export function inspect(value: unknown): string {
  return typeof value === "string" ? value : inspectWith(value);
}

/** The arguments of one call. What holds itself has one number in all of them. */
export function inspectAll(values: readonly unknown[]): string[] {
  const circular: object[] = [];
  return values.map((value) =>
    typeof value === "string" ? value : inspectNested({ ...startWork({}), circular }, value, 0),
  );
}
