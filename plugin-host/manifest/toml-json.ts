import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { TomlDate } from "smol-toml";

/** As deep as ProtoJSON may be nested: a line "a.a.a. … = 1" can be a table thousands deep. */
const MAX_DEPTH = 100;

/** A value of a TOML file that JSON has no form for, by its dotted path. */
export type Unsayable = { readonly path: string; readonly problem: string; readonly hint: string };

export type TomlJson<T> =
  | { readonly ok: true; readonly json: T }
  | { readonly ok: false; readonly unsayable: Unsayable };

/**
 * The JSON of a parsed TOML table. A date becomes the text of its standard form; `inf`, `nan` and what is nested deeper
 * than 100 are unsayable.
 */
export function tableToJson(table: object, path: string): TomlJson<JsonObject> {
  return entriesToJson(table, path, 0);
}

function entriesToJson(table: object, path: string, depth: number): TomlJson<JsonObject> {
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(table)) {
    const said = valueToJson(value, path === "" ? key : `${path}.${key}`, depth + 1);
    if (!said.ok) return said;
    entries.push([key, said.json]);
  }
  // Not by assignment: a key "__proto__" is a key like any other.
  return { ok: true, json: Object.fromEntries(entries) };
}

function valueToJson(value: unknown, path: string, depth: number): TomlJson<JsonValue> {
  if (typeof value === "string" || typeof value === "boolean") return { ok: true, json: value };
  if (typeof value === "number" && Number.isFinite(value)) return { ok: true, json: value };
  if (value instanceof TomlDate) return { ok: true, json: value.toISOString() };
  if (depth > MAX_DEPTH) return unsayable(path, `is nested deeper than ${MAX_DEPTH}`, "make it flatter");
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const [index, item] of value.entries()) {
      const said = valueToJson(item, `${path}[${index}]`, depth + 1);
      if (!said.ok) return said;
      items.push(said.json);
    }
    return { ok: true, json: items };
  }
  if (typeof value === "object" && value !== null) return entriesToJson(value, path, depth);
  return unsayable(path, `must be a number, not ${String(value)}`, "write a finite number");
}

function unsayable(path: string, problem: string, hint: string): TomlJson<never> {
  return { ok: false, unsayable: { path, problem, hint } };
}
