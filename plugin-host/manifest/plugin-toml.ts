import { extname } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { parse, TomlError } from "smol-toml";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { tableToJson } from "./toml-json.ts";

export const TOML_MANIFEST_FILE = "plugin.toml";

/** The form of plugin.toml, and of what it speaks. */
const API_VERSION = 1;
const ENDING_OF_NODE = new Set([".ts", ".mts", ".js", ".mjs", ".cjs"]);

/**
 * Turns the text of a plugin.toml into the ProtoJSON of a manifest, fields in their snake_case: the flat layout, or the
 * one with a [plugin] table. Only what the two spellings differ in is judged here.
 */
export function readPluginToml(text: string, file: string): Result<JsonObject> {
  const tables = parseToml(text, file);
  if (!tables.ok) return tables;
  const flat = flatten(tables.value, file);
  if (!flat.ok) return flat;
  const { api_version: apiVersion, plugin_type: pluginType, entry_point: entryPoint, ...fields } = flat.value;
  if (apiVersion === undefined) {
    return fail("invalid", `${file}: api_version is missing`, { hint: `write api_version = ${API_VERSION}` });
  }
  if (apiVersion !== API_VERSION) {
    const name = typeof fields.name === "string" ? fields.name : "";
    const said = typeof apiVersion === "string" ? apiVersion : JSON.stringify(apiVersion);
    const message = `Plugin '${name}' API version ${said} doesn't match runtime version ${API_VERSION}`;
    return fail("invalid", message, { hint: `write api_version = ${API_VERSION} in ${file}` });
  }
  if (pluginType !== undefined && pluginType !== "native") {
    const message = `${file}: plugin_type ${JSON.stringify(pluginType)} is none that clawd runs`;
    return fail("invalid", message, { hint: 'remove it, or write "native": every plugin is a program of its own' });
  }
  const launch = entryPoint === undefined ? ok(fields.launch) : launchOf(entryPoint, fields.launch, file);
  if (!launch.ok) return launch;
  return ok({
    manifest_version: 1,
    // What nobody said cannot be more than the first.
    protocol_majors: [1],
    ...fields,
    ...(launch.value === undefined ? {} : { launch: launch.value }),
    ...(fields.tools === undefined ? {} : { tools: eachTable(fields.tools, openSchema) }),
    ...(fields.hooks === undefined ? {} : { hooks: eachTable(fields.hooks, nameToPoint) }),
    // Settings that the author wrote down are settings that a person may give.
    ...(fields.config === undefined || fields.config_schema !== undefined ? {} : { config_schema: { type: "object" } }),
  });
}

function parseToml(text: string, file: string): Result<JsonObject> {
  try {
    const said = tableToJson(parse(text), "");
    if (said.ok) return ok(said.json);
    const { path, problem, hint } = said.unsayable;
    return fail("invalid", `${file}: ${path} ${problem}`, { hint });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = cause.message.split("\n", 1)[0] ?? "not TOML";
    return fail("invalid", `${file} line ${cause.line}: ${reason}`, { hint: "mend the line, then try again", cause });
  }
}

/** What stands in [plugin] and what stands beside it, as one. */
function flatten({ plugin, ...beside }: JsonObject, file: string): Result<JsonObject> {
  if (plugin === undefined) return ok(beside);
  if (!isJsonObject(plugin)) return fail("invalid", `${file}: plugin must be a table`, { hint: "write [plugin]" });
  const twice = Object.keys(plugin).find((key) => Object.hasOwn(beside, key));
  if (twice === undefined) return ok({ ...beside, ...plugin });
  const message = `${file}: ${twice} stands there twice, in [plugin] and beside it`;
  return fail("invalid", message, { hint: "remove one of the two" });
}

function launchOf(entryPoint: JsonValue, launch: JsonValue | undefined, file: string): Result<JsonValue> {
  const refuse = (problem: string, hint: string): Failed =>
    fail("invalid", `${file}: entry_point ${problem}`, { hint });
  if (typeof entryPoint !== "string" || entryPoint === "")
    return refuse("must name a file", 'write entry_point = "main.js"');
  if (entryPoint.startsWith("/") || entryPoint.split("/").includes("..")) {
    return refuse(`"${entryPoint}" leads out of the plugin's folder`, "put the program into the folder");
  }
  if (launch !== undefined && !isJsonObject(launch)) return ok(launch);
  if (launch?.command !== undefined) return refuse("stands beside launch.command", "remove one of the two");
  return ok({ ...launch, command: commandOf(entryPoint) });
}

function commandOf(entryPoint: string): readonly string[] & JsonValue {
  const ending = extname(entryPoint);
  if (ENDING_OF_NODE.has(ending)) return ["node", entryPoint];
  if (ending === ".py") return ["python3", entryPoint];
  // Without a slash it would be a program of the system.
  return [entryPoint.includes("/") ? entryPoint : `./${entryPoint}`];
}

/** Changes the tables of a list; what is none is left for the judge of the manifest. */
function eachTable(list: JsonValue, change: (table: JsonObject) => JsonObject): JsonValue {
  return Array.isArray(list) ? list.map((item) => (isJsonObject(item) ? change(item) : item)) : list;
}

function openSchema(tool: JsonObject): JsonObject {
  const isGiven = tool.input_schema !== undefined || tool.inputSchema !== undefined;
  return isGiven ? tool : { ...tool, input_schema: { type: "object" } };
}

function nameToPoint(hook: JsonObject): JsonObject {
  const { name, ...rest } = hook;
  return name === undefined || rest.at !== undefined ? hook : { ...rest, at: name };
}
