/** Objects that are no collections as `console.log` writes them. Runs inside the isolate. */

import { errorKeys, errorText, stackText } from "./inspect-error.ts";
import { functionText, isIndex, prefixOf, primitiveText, quoted } from "./inspect-text.ts";
import { inside, keysOf, type Shape, type Work } from "./inspect-work.ts";

const NOT_SHOWN = [WeakMap, WeakSet];
const { getPrototypeOf } = Object;
const ITERATORS = [
  ["Map Iterator", getPrototypeOf(new Map().entries())],
  ["Set Iterator", getPrototypeOf(new Set().entries())],
] as const;

function bytesText(work: Work, buffer: ArrayBuffer): string {
  const bytes = [...new Uint8Array(buffer).subarray(0, work.iterableLimit)];
  const rest = buffer.byteLength - bytes.length;
  const text = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `[Uint8Contents]: <${text}${rest > 0 ? ` ... ${rest} more byte${rest > 1 ? "s" : ""}` : ""}>`;
}

function boxedText(value: object, className: string | null): string | undefined {
  const primitive = (["Number", "String", "Boolean", "BigInt", "Symbol"] as const).find(
    (name) => value instanceof globalThis[name],
  );
  if (!primitive) return undefined;
  const inner = (value as { valueOf(): unknown }).valueOf();
  const text = typeof inner === "string" ? quoted(inner) : primitiveText(inner);
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

export function plainShape(work: Work, value: object, className: string | null, tag: string): Shape {
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
      `buffer: ${inside(work, () => work.nested(work, buffer, work.currentDepth))}`,
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
