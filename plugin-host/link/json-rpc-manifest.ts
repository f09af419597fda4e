import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { isName } from "../manifest/names.ts";

/** The version of the legacy protocol that is asked for. */
export const LEGACY_PROTOCOL_VERSION = 1;
/** One answer of a legacy plugin, the handshake included, milliseconds. */
export const LEGACY_ANSWER_MS = 5_000;

const DEFAULT_PRIORITY = 500;
const MAX_PRIORITY = 1_000_000;
const SEMVER = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const SHORT_VERSION = /^v?(\d+)(\.\d+)?$/;
const JSON_TYPES = new Set(["string", "number", "integer", "boolean", "array", "object"]);

/** What a legacy plugin says of itself, its gaps filled. */
export type LegacyManifest = {
  readonly name: string;
  /** A semantic version: what was said as "1" or "1.2" is filled up, what is none becomes "0.0.0". */
  readonly version: string;
  readonly description: string;
  readonly priority: number;
  /** As the plugin spells them. */
  readonly hooks: readonly string[];
  readonly tools: readonly LegacyTool[];
};

export type LegacyTool = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

/** Reads the answer to `initialize`. Only the name must be there; every failure is `invalid`. */
export function readLegacyManifest(answer: JsonValue): Result<LegacyManifest> {
  if (!isJsonObject(answer)) return reject("is no object");
  const { name } = answer;
  if (typeof name !== "string") return reject("names no plugin");
  if (!isName(name)) {
    return reject(
      `names the plugin ${JSON.stringify(name.slice(0, 80))}: a name is a letter, then at most 63 letters, digits or hyphens`,
    );
  }
  const tools = Array.isArray(answer.tools) ? answer.tools : [];
  return ok({
    name,
    version: readVersion(answer.version),
    description: textOf(answer.description),
    priority: readPriority(answer.priority),
    hooks: [...new Set(Array.isArray(answer.hooks) ? answer.hooks : [])].filter((hook) => typeof hook === "string"),
    tools: tools.flatMap((tool) => (isJsonObject(tool) ? [readTool(name, tool)] : [])),
  });
}

/** The same as the JSON of a plugin.json, for a copy of the program that is called `program`. */
export function manifestJsonOf(legacy: LegacyManifest, program: string): JsonObject {
  const { name, version, description, priority, hooks, tools } = legacy;
  return {
    manifestVersion: 1,
    name,
    version,
    description,
    protocolMajors: [1],
    launch: { command: [`./${program}`], protocol: "PROTOCOL_JSON_RPC", startTimeoutMs: LEGACY_ANSWER_MS },
    // A legacy hook that fails or is late counts as if it had not been asked.
    hooks: hooks.map((at) => ({ at, priority, timeoutMs: LEGACY_ANSWER_MS, onError: "allow" })),
    tools: tools.map((tool) => ({ ...tool, timeoutMs: LEGACY_ANSWER_MS })),
    limits: { concurrentCalls: 1 },
  };
}

function reject(problem: string): Result<never> {
  return fail("invalid", `its answer to "initialize" ${problem}`);
}

function readVersion(version: JsonValue | undefined): string {
  const text = textOf(version);
  if (SEMVER.test(text)) return text;
  const [, major, minor = ".0"] = SHORT_VERSION.exec(text) ?? [];
  return major === undefined ? "0.0.0" : `${Number(major)}${minor}.0`;
}

function readPriority(priority: JsonValue | undefined): number {
  if (typeof priority !== "number" || !Number.isFinite(priority)) return DEFAULT_PRIORITY;
  // A manifest's zero means the default, so the lowest is 1.
  return Math.min(Math.max(Math.round(priority), 1), MAX_PRIORITY);
}

function readTool(plugin: string, tool: JsonObject): LegacyTool {
  const name = textOf(tool.name);
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  for (const parameter of Array.isArray(tool.parameters) ? tool.parameters : []) {
    if (!isJsonObject(parameter) || typeof parameter.name !== "string") continue;
    const description = textOf(parameter.description);
    const type = textOf(parameter.type) || "string";
    properties[parameter.name] = {
      // A type that JSON Schema does not know restricts nothing.
      ...(JSON_TYPES.has(type) ? { type } : {}),
      ...(description === "" ? {} : { description }),
    };
    if (parameter.required === true) required.push(parameter.name);
  }
  return {
    name,
    description: textOf(tool.description) || `The tool ${name} of the plugin ${plugin}.`,
    inputSchema: { type: "object", properties, ...(required.length === 0 ? {} : { required }) },
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
