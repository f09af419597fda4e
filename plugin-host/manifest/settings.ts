import { types } from "node:util";
import { createContext, Script } from "node:vm";
import type { JsonObject } from "@bufbuild/protobuf";
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { nearestWord } from "../../core/domain/nearest-word.ts";
import type { PluginManifest } from "./manifest.ts";

/** Gives the settings that hold for a plugin now, checked; read afresh each time. */
export type ReadSettings = (plugin: PluginManifest) => Promise<Result<JsonObject>>;

/** A stranger's schema may hold a regular expression that takes years. This is how long it may hold up the daemon. */
const CHECK_LIMIT_MS = 500;
const CALL = new Script("work()");

/**
 * The manifest's settings with what a person gave on top, tables merged, checked by the manifest's schema. `given` is
 * [plugins.NAME] of `file`. `invalid` names file and key.
 */
export function settingsFor(manifest: PluginManifest, given: JsonObject | undefined, file: string): Result<JsonObject> {
  const { name, config, configSchema } = manifest;
  if (configSchema === undefined) {
    if (given === undefined || Object.keys(given).length === 0) return ok(config);
    return fail("invalid", `${file}: plugin "${name}" takes no settings`, { hint: `remove [plugins.${name}]` });
  }
  const settings = merge(config, given ?? {});
  try {
    const checked = validateWithin(configSchema, settings);
    const deepest = checked.errors.at(-1);
    return checked.valid || deepest === undefined ? ok(settings) : sayMisfit(manifest, configSchema, deepest, file);
  } catch (cause) {
    const said = types.isNativeError(cause) ? cause.message : String(cause);
    const message = `the settings of plugin "${name}" cannot be checked, because its configSchema does not work: ${said}`;
    return fail("invalid", message, { hint: "its author has to mend the schema", cause });
  }
}

/** Lists are replaced whole. */
function merge(under: JsonObject, over: JsonObject): JsonObject {
  const merged = new Map(Object.entries(under));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    merged.set(key, below !== undefined && isJsonObject(below) && isJsonObject(value) ? merge(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Only V8 itself can stop a regular expression, and this is its door to that. Throws what the schema makes it throw. */
function validateWithin(schema: JsonObject, settings: JsonObject): ReturnType<Validator["validate"]> {
  const context = createContext({ work: () => new Validator(schema, "2020-12", false).validate(settings) });
  return CALL.runInContext(context, { timeout: CHECK_LIMIT_MS });
}

function sayMisfit({ name }: PluginManifest, schema: JsonObject, misfit: OutputUnit, file: string): Failed {
  const path = misfit.instanceLocation
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const reload = `then: claw plugin reload ${name}`;
  if (misfit.keyword === "required") {
    const missing = /"(.*)"/.exec(misfit.error)?.[1] ?? "";
    const key = ["plugins", name, ...path, missing].join(".");
    const table = ["plugins", name, ...path].join(".");
    return fail("invalid", `${file}: ${key} is missing`, { hint: `write ${missing} under [${table}], ${reload}` });
  }
  const key = ["plugins", name, ...path].join(".");
  if (misfit.keyword === "false") {
    const known = path.length === 1 && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
    const nearest = nearestWord(path.at(-1) ?? "", known);
    const hint = nearest === undefined ? `remove it, ${reload}` : `did you mean "${nearest}"?`;
    return fail("invalid", `${file}: plugin "${name}" has no setting ${key}`, { hint });
  }
  return fail("invalid", `${file}: ${key} does not fit: ${misfit.error}`, { hint: `mend it, ${reload}` });
}
