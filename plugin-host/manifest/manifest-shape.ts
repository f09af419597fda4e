import type { DescEnum, DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { nearestWord } from "../../core/domain/nearest-word.ts";

/** What does not fit a message, the place in it included. */
export type Misfit = { readonly problem: string; readonly hint: string };

/** Whether a hint names fields as in JSON (memoryMib) or as in TOML (memory_mib). */
export type Spelling = "jsonName" | "name";

const MAX_UINT32 = 2 ** 32 - 1;
const MAX_SHOWN_CHARS = 60;

/**
 * Finds the first thing in ProtoJSON that its message does not have or take, wherever it is nested: the parser itself
 * says neither where it stands nor what would be right.
 */
export function findMisfit(schema: DescMessage, json: JsonValue, spelling: Spelling, path = ""): Misfit | undefined {
  if (!isJsonObject(json)) return misfit(path, `must be an object, not ${show(json)}`, "write { … }");
  // Free-form JSON (a schema, say) has any keys.
  if (schema.typeName.startsWith("google.protobuf.")) return undefined;
  const spelled = new Map<DescField, string>();
  for (const [key, value] of Object.entries(json)) {
    const at = path === "" ? key : `${path}.${key}`;
    const field = schema.fields.find((one) => one.jsonName === key || one.name === key);
    if (field === undefined) return unknownKey(schema, key, at, spelling);
    const other = spelled.get(field);
    if (other !== undefined) return misfit(at, `stands there twice, also as "${other}"`, "remove one of the two");
    spelled.set(field, key);
    const below = findFieldMisfit(field, value, at, spelling);
    if (below !== undefined) return below;
  }
  return undefined;
}

function unknownKey(schema: DescMessage, key: string, at: string, spelling: Spelling): Misfit {
  const known = schema.fields.map((one) => one[spelling]);
  const nearest = nearestWord(key, known);
  const hint = nearest === undefined ? `remove it; there are: ${known.join(", ")}` : `did you mean "${nearest}"?`;
  return { problem: `unknown key "${at}"`, hint };
}

function findFieldMisfit(field: DescField, value: JsonValue, at: string, spelling: Spelling): Misfit | undefined {
  // ProtoJSON: the same as not there.
  if (value === null) return undefined;
  switch (field.fieldKind) {
    case "message":
      return findMisfit(field.message, value, spelling, at);
    case "scalar":
      return findScalarMisfit(field.scalar, value, at);
    case "enum":
      return findEnumMisfit(field.enum, value, at);
    case "list": {
      if (!Array.isArray(value)) return misfit(at, `must be a list, not ${show(value)}`, "write [ … ]");
      return findFirst(value.entries(), ([index, item]) => findItemMisfit(field, item, `${at}[${index}]`, spelling));
    }
    case "map": {
      if (!isJsonObject(value)) return misfit(at, `must be an object, not ${show(value)}`, "write { … }");
      return findFirst(Object.entries(value), ([key, item]) => findItemMisfit(field, item, `${at}.${key}`, spelling));
    }
  }
}

function findItemMisfit(
  field: DescField & { fieldKind: "list" | "map" },
  item: JsonValue,
  at: string,
  spelling: Spelling,
): Misfit | undefined {
  if (item === null) return misfit(at, "must not be null", "remove it");
  const { message } = field;
  if (message !== undefined) return findMisfit(message, item, spelling, at);
  if (field.enum !== undefined) return findEnumMisfit(field.enum, item, at);
  return field.scalar === undefined ? undefined : findScalarMisfit(field.scalar, item, at);
}

function findScalarMisfit(scalar: ScalarType, value: JsonValue, at: string): Misfit | undefined {
  switch (scalar) {
    case ScalarType.STRING:
      if (typeof value !== "string") return misfit(at, `must be a text, not ${show(value)}`, "put it in quotes");
      return value.isWellFormed() ? undefined : misfit(at, "holds half a character", "write it in whole characters");
    case ScalarType.BOOL:
      return typeof value === "boolean" ? undefined : misfit(at, `must be true or false, not ${show(value)}`, "");
    case ScalarType.UINT32: {
      const fits = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_UINT32;
      return fits ? undefined : misfit(at, `must be a whole number from 0 to ${MAX_UINT32}, not ${show(value)}`, "");
    }
    default:
      // No manifest has others; the parser judges them when one does.
      return undefined;
  }
}

function findEnumMisfit(kinds: DescEnum, value: JsonValue, at: string): Misfit | undefined {
  const known = kinds.values.map(({ name }) => name);
  if (kinds.values.some(({ name, number }) => name === value || number === value)) return undefined;
  const nearest = typeof value === "string" ? nearestWord(value, known) : undefined;
  const hint = nearest === undefined ? `write one of ${known.join(", ")}` : `did you mean "${nearest}"?`;
  return misfit(at, `is ${show(value)}, which nobody knows`, hint);
}

function findFirst<T>(items: Iterable<T>, find: (item: T) => Misfit | undefined): Misfit | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function misfit(path: string, problem: string, hint: string): Misfit {
  const whole = path === "" ? `the whole ${problem}` : `${path} ${problem}`;
  return { problem: whole, hint: hint === "" ? "docs/plugins.md describes every field" : hint };
}

function show(value: JsonValue): string {
  if (Array.isArray(value)) return "a list";
  return isJsonObject(value) ? "an object" : JSON.stringify(value).slice(0, MAX_SHOWN_CHARS);
}
