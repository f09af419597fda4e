/** What one inspection of a value goes by, and what its parts are gathered in. Runs inside the isolate. */

import type { Layout } from "./inspect-layout.ts";
import { keyText } from "./inspect-text.ts";

type InspectOptions = {
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
export type Work = Layout & {
  /** The text of a value that lies so deep. */
  readonly nested: (work: Work, value: unknown, depth: number) => string;
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

/** What an object is made of, before it is put on lines. */
export type Shape = {
  readonly base?: string;
  readonly braces: readonly [string, string];
  readonly keys: readonly (string | symbol)[];
  readonly isList?: boolean;
  readonly items?: () => string[];
  /** Written instead of everything when there are no keys. */
  readonly alone?: string | undefined;
};

const { getOwnPropertyDescriptor } = Object;

export function startWork(options: InspectOptions, nested: Work["nested"]): Work {
  const { compact = 3, sorted = false } = options;
  return {
    nested,
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

export function keysOf(work: Work, value: object): (string | symbol)[] {
  if (work.hidden) return Reflect.ownKeys(value);
  const symbols = Object.getOwnPropertySymbols(value);
  return [...Object.keys(value), ...symbols.filter((key) => getOwnPropertyDescriptor(value, key)?.enumerable)];
}

/** Runs with the line indented further. */
export function inside<T>(work: Work, run: () => T): T {
  work.indentation += 2;
  const result = run();
  work.indentation -= 2;
  return result;
}

function getterText(work: Work, value: object, property: PropertyDescriptor, depth: number): string {
  const label = property.get ? (property.set ? "Getter/Setter" : "Getter") : "Setter";
  if (!work.getters || !property.get) return `[${label}]`;
  try {
    return `[${label}: ${work.nested(work, Reflect.apply(property.get, value, []), depth)}]`;
  } catch (error) {
    return `[${label}: <Inspection threw (${error instanceof Error ? error.message : "something"})>]`;
  }
}

/** A property of its own; `bare` without its name. */
export function propertyText(work: Work, value: object, key: string | symbol, depth: number, bare = false): string {
  const property = getOwnPropertyDescriptor(value, key) ?? { value: undefined, enumerable: true };
  const text =
    property.get || property.set ? getterText(work, value, property, depth) : work.nested(work, property.value, depth);
  return bare ? text : `${keyText(key, property.enumerable === true)}: ${text}`;
}
