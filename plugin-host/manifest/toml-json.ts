import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { TomlDate } from "smol-toml";

/** A value of a TOML file that JSON has no form for, by its dotted path. */
export type Unsayable = { readonly path: string; readonly value: string };

export type TomlJson<T> =
  | { readonly ok: true; readonly json: T }
  | { readonly ok: false; readonly unsayable: Unsayable };

/** The JSON of a parsed TOML table. A date becomes the text of its standard form; `inf` and `nan` are unsayable. */
export function tableToJson(table: object, path: string): TomlJson<JsonObject> {
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(table)) {
    const said = valueToJson(value, path === "" ? key : `${path}.${key}`);
    if (!said.ok) return said;
    entries.push([key, said.json]);
  }
  // Not by assignment: a key "__proto__" is a key like any other.
  return { ok: true, json: Object.fromEntries(entries) };
}

function valueToJson(value: unknown, path: string): TomlJson<JsonValue> {
  if (typeof value === "string" || typeof value === "boolean") return { ok: true, json: value };
  if (typeof value === "number" && Number.isFinite(value)) return { ok: true, json: value };
  if (value instanceof TomlDate) return { ok: true, json: value.toISOString() };
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const [index, item] of value.entries()) {
      const said = valueToJson(item, `${path}[${index}]`);
      if (!said.ok) return said;
      items.push(said.json);
    }
    return { ok: true, json: items };
  }
  if (typeof value === "object" && value !== null) return tableToJson(value, path);
  return { ok: false, unsayable: { path, value: String(value) } };
}
