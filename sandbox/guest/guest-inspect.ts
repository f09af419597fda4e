/** Turns values into text for the guest's console. Runs inside the isolate. */

const DEPTH_MAX = 4;
const ITEMS_MAX = 100;
const NESTED_STRING_CHARS = 10_000;

type Seen = readonly object[];

function inspectString(text: string): string {
  const cut = text.length > NESTED_STRING_CHARS ? `${text.slice(0, NESTED_STRING_CHARS)}…` : text;
  return JSON.stringify(cut);
}

function list(open: string, parts: readonly string[], close: string): string {
  if (parts.length === 0) return open + close;
  const line = `${open} ${parts.join(", ")} ${close}`;
  return line.length <= 76
    ? line
    : `${open}\n${parts.map((part) => `  ${part.replaceAll("\n", "\n  ")}`).join(",\n")}\n${close}`;
}

function capped(count: number, parts: string[]): string[] {
  if (count > parts.length) parts.push(`… ${count - parts.length} more`);
  return parts;
}

function inspectEntries(value: object, seen: Seen): string[] {
  const keys = Object.keys(value);
  const parts = keys.slice(0, ITEMS_MAX).map((key) => {
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
    const property = Object.getOwnPropertyDescriptor(value, key);
    return `${name}: ${property && "value" in property ? inspectNested(property.value, seen) : "[Getter]"}`;
  });
  return capped(keys.length, parts);
}

function inspectObject(value: object, seen: Seen): string {
  if (seen.includes(value)) return "[Circular]";
  if (seen.length >= DEPTH_MAX) return Array.isArray(value) ? "[Array]" : "[Object]";
  const inside = [...seen, value];
  if (value instanceof Error) return typeof value.stack === "string" ? value.stack : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp || value instanceof Number || value instanceof Boolean) return String(value);
  if (value instanceof Promise) return "Promise {}";
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const items = Array.from(value as ArrayLike<unknown>);
    const name = Array.isArray(value) ? "[" : `${value.constructor.name}(${items.length}) [`;
    return list(
      name,
      capped(
        items.length,
        items.slice(0, ITEMS_MAX).map((item) => inspectNested(item, inside)),
      ),
      "]",
    );
  }
  if (value instanceof Map) {
    const parts = [...value]
      .slice(0, ITEMS_MAX)
      .map(([key, item]) => `${inspectNested(key, inside)} => ${inspectNested(item, inside)}`);
    return list(`Map(${value.size}) {`, capped(value.size, parts), "}");
  }
  if (value instanceof Set) {
    const parts = [...value].slice(0, ITEMS_MAX).map((item) => inspectNested(item, inside));
    return list(`Set(${value.size}) {`, capped(value.size, parts), "}");
  }
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  return list(typeof name === "string" && name !== "Object" ? `${name} {` : "{", inspectEntries(value, inside), "}");
}

function inspectNested(value: unknown, seen: Seen): string {
  switch (typeof value) {
    case "string":
      return inspectString(value);
    case "bigint":
      return `${value}n`;
    case "function":
      return `[Function: ${value.name || "anonymous"}]`;
    case "object":
      return value === null ? "null" : inspectObject(value, seen);
    default:
      return String(value);
  }
}

/** One console argument: strings as they are, everything else as a literal, at most four levels deep. */
export function inspect(value: unknown): string {
  return typeof value === "string" ? value : inspectNested(value, []);
}
