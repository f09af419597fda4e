/** Lists, sets, maps and typed arrays as `console.log` writes them. Runs inside the isolate. */

import { isIndex, numberText, prefixOf } from "./inspect-text.ts";
import { inside, keysOf, propertyText, type Shape, type Work } from "./inspect-work.ts";

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
const { hasOwn } = Object;

function moreText(count: number): string {
  return `... ${count} more item${count > 1 ? "s" : ""}`;
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

/** Undefined for what is no collection. `depth` is that of its items. */
export function listShape(
  work: Work,
  value: object,
  className: string | null,
  tag: string,
  depth: number,
): Shape | undefined {
  const nested = (item: unknown) => inside(work, () => work.nested(work, item, depth));
  if (Array.isArray(value)) {
    const keys = keysOf(work, value).filter((key) => !isIndex(key) && key !== "length");
    const prefix = className === "Array" && tag === "" ? "" : prefixOf(className, tag, "Array", `(${value.length})`);
    const alone = value.length === 0 ? `${prefix}[]` : undefined;
    return { keys, braces: [`${prefix}[`, "]"], isList: true, items: () => arrayItems(work, value, depth), alone };
  }
  if (value instanceof Set) {
    const prefix = prefixOf(className, tag, "Set", `(${value.size})`);
    const items = () => limited(work, [...value], nested);
    const alone = value.size === 0 ? `${prefix}{}` : undefined;
    return { keys: keysOf(work, value), braces: [`${prefix}{`, "}"], items, alone };
  }
  if (value instanceof Map) {
    const prefix = prefixOf(className, tag, "Map", `(${value.size})`);
    const items = () => limited(work, [...value], ([key, item]) => `${nested(key)} => ${nested(item)}`);
    const alone = value.size === 0 ? `${prefix}{}` : undefined;
    return { keys: keysOf(work, value), braces: [`${prefix}{`, "}"], items, alone };
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
    return { keys, braces: [`${prefix}[`, "]"], isList: true, items, alone };
  }
  return undefined;
}
