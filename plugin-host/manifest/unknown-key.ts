import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { nearestWord } from "../../core/domain/nearest-word.ts";

export type UnknownKey = { readonly path: string; readonly nearest: string | undefined };

/** Finds the first key that a message does not have, wherever it is nested: the parser itself names only the key. */
export function findUnknownKey(schema: DescMessage, json: JsonValue, path = ""): UnknownKey | undefined {
  // Free-form JSON (a schema, say) has any keys.
  if (schema.typeName.startsWith("google.protobuf.") || !isObject(json)) return undefined;
  for (const [key, value] of Object.entries(json)) {
    const at = path === "" ? key : `${path}.${key}`;
    const field = schema.fields.find((one) => one.jsonName === key || one.name === key);
    if (field === undefined) {
      return {
        path: at,
        nearest: nearestWord(
          key,
          schema.fields.map((one) => one.jsonName),
        ),
      };
    }
    const below = findBelow(field, value, at);
    if (below !== undefined) return below;
  }
  return undefined;
}

function findBelow(field: DescField, value: JsonValue, at: string): UnknownKey | undefined {
  if (field.fieldKind === "message") return findUnknownKey(field.message, value, at);
  if (field.fieldKind !== "list" || field.listKind !== "message" || !Array.isArray(value)) return undefined;
  for (const [index, item] of value.entries()) {
    const found = findUnknownKey(field.message, item, `${at}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(json: JsonValue): json is { [key: string]: JsonValue } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
