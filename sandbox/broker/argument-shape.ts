import type { Json } from "../guest/guest-protocol.ts";
import { done, type Outcome, refuse } from "./outcome.ts";

/**
 * Reads one value of a stranger's JSON. Nothing is coerced: an object where a text is due is refused, whatever methods it
 * has. `name` is how the value is called in the refusal.
 */
export type Shape<T> = (value: unknown, name: string) => Outcome<T>;

function wrong(name: string, expected: string): Outcome<never> {
  return refuse("TypeError", `${name} must be ${expected}`);
}

export const text: Shape<string> = (value, name) => (typeof value === "string" ? done(value) : wrong(name, "a string"));

export const flag: Shape<boolean> = (value, name) =>
  typeof value === "boolean" ? done(value) : wrong(name, "true or false");

/** A whole number that JSON carries exactly. */
export function wholeNumber(min: number, max: number): Shape<number> {
  return (value, name) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max
      ? done(value)
      : wrong(name, `a whole number from ${min} to ${max}`);
}

/** A path as a guest may write it: not empty, no NUL. */
export const pathText: Shape<string> = (value, name) => {
  if (typeof value !== "string") return wrong(name, "a string");
  if (value === "") return refuse("TypeError", "Empty path is not allowed");
  return value.includes("\0") ? refuse("TypeError", "file name contained an unexpected NUL byte") : done(value);
};

export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return (value, name) => {
    const found = words.find((word) => word === value);
    return found === undefined ? wrong(name, `one of ${words.join(", ")}`) : done(found);
  };
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return (value, name) => (value === null ? done(null) : shape(value, name));
}

export function listOf<T>(shape: Shape<T>, max: number): Shape<readonly T[]> {
  return (value, name) => {
    if (!Array.isArray(value)) return wrong(name, "a list");
    if (value.length > max) return refuse("RangeError", `${name} has ${value.length} entries; ${max} are the limit`);
    const items: T[] = [];
    for (const [index, item] of value.entries()) {
      const read = shape(item, `${name}[${index}]`);
      if (!read.ok) return read;
      items.push(read.value);
    }
    return done(items);
  };
}

/** Two values in a list. */
export function pairOf<A, B>(first: Shape<A>, second: Shape<B>): Shape<readonly [A, B]> {
  return (value, name) => {
    if (!Array.isArray(value) || value.length !== 2) return wrong(name, "a pair");
    const a = first(value[0], `${name}[0]`);
    if (!a.ok) return a;
    const b = second(value[1], `${name}[1]`);
    return b.ok ? done([a.value, b.value]) : b;
  };
}

/** Names that the guest chooses, each with a value. */
export function entriesOf<T>(shape: Shape<T>, max: number): Shape<readonly (readonly [string, T])[]> {
  return (value, name) => {
    if (!isRecord(value)) return wrong(name, "an object");
    const names = Object.keys(value);
    if (names.length > max) return refuse("RangeError", `${name} has ${names.length} entries; ${max} are the limit`);
    const entries: [string, T][] = [];
    for (const key of names) {
      const read = shape(value[key], `${name}.${key}`);
      if (!read.ok) return read;
      entries.push([key, read.value]);
    }
    return done(entries);
  };
}

/** The named own fields of an object; others are left where they are. */
export function fields<T extends object>(shapes: { readonly [K in keyof T]: Shape<T[K]> }): Shape<T> {
  return (value, name) => {
    if (!isRecord(value)) return wrong(name, "an object");
    const read: Partial<T> = {};
    for (const key of Object.keys(shapes) as (keyof T & string)[]) {
      const field = shapes[key](Object.hasOwn(value, key) ? value[key] : undefined, key);
      if (!field.ok) return field;
      read[key] = field.value;
    }
    return done(read as T);
  };
}

/** Any JSON, as it came off the wire. */
export const anyJson: Shape<Json> = (value, name) =>
  value === undefined ? wrong(name, "a value of JSON") : done(value as Json);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
