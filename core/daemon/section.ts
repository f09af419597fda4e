/** What a key of config.toml may hold. */
export type Kind = "string" | "number" | "fraction" | "boolean" | "strings";
export type Value = string | number | boolean | readonly string[];
/** Values by their dotted keys, each of its key's kind; a key that the file does not set is not there. */
export type Values = ReadonlyMap<string, Value>;

/** `what` are words that follow the key in a sentence. */
export type WrongValue = { readonly key: string; readonly what: string };

/** Keys of config.toml that belong together. Every key is described in docs/config.md. */
export type Section<T> = {
  readonly keys: Readonly<Record<string, Kind>>;
  /** The first thing that is wrong with values of the right kinds. */
  check(values: Values): WrongValue | undefined;
  /** What they say, once they were checked; what is not there has its default. */
  read(values: Values): T;
};

export function isKind(value: unknown, kind: Kind): value is Value {
  if (kind === "strings") return Array.isArray(value) && value.every((item) => typeof item === "string");
  if (kind === "number") return typeof value === "number" && Number.isInteger(value) && value >= 0;
  if (kind === "fraction") return typeof value === "number" && Number.isFinite(value) && value >= 0;
  return typeof value === kind;
}

/** For messages. */
export function describeKind(kind: Kind): string {
  switch (kind) {
    case "strings":
      return "a list of strings";
    case "number":
      return "a whole number from 0 on";
    case "fraction":
      return "a number from 0 on";
    case "boolean":
      return "true or false";
    case "string":
      return "a string";
  }
}

/** The first of the keys that is 0, where 0 would mean nothing. */
export function checkNotZero(values: Values, keys: readonly string[]): WrongValue | undefined {
  const key = keys.find((one) => values.get(one) === 0);
  return key === undefined ? undefined : { key, what: "must be at least 1" };
}

export function textOf(values: Values, key: string): string {
  return String(values.get(key) ?? "");
}

export function numberOf(values: Values, key: string, otherwise: number): number {
  return Number(values.get(key) ?? otherwise);
}

export function stringsOf(values: Values, key: string): readonly string[] {
  const value = values.get(key);
  return Array.isArray(value) ? value : [];
}
