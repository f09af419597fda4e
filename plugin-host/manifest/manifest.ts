import { fromJsonString, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { type Manifest, ManifestSchema, type PermissionRequest } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import { judgeHooks, type PluginHook } from "./hooks.ts";
import { judgeLaunch, type PluginLaunch } from "./launch.ts";
import { judgeLimits, type PluginLimits } from "./limits.ts";
import { findMisfit, type Spelling } from "./manifest-shape.ts";
import { isName, judgeDependencies, NAME_FORM } from "./names.ts";
import { judgeOffers, type PluginOffers } from "./offers.ts";
import { readPluginToml } from "./plugin-toml.ts";
import type { Reject } from "./rejection.ts";
import { pluginToolStyle, type ToolStyle } from "./tool-style.ts";
import { judgeTools, type PluginTool } from "./tools.ts";

export const MANIFEST_FILE = "plugin.json";
/** Majors of clawd.plugin that this host speaks. */
export const HOST_MAJORS: readonly number[] = [1, 2];

const MANIFEST_VERSION = 1;
const MAX_WANTS = 128;
const MAX_TEXT_CHARS = 1000;
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const SCHEMA_HINT = 'write at least { "type": "object" }';

/** A manifest that holds every rule of its form; zeros are replaced by their defaults. */
export type PluginManifest = PluginLaunch &
  PluginOffers & {
    readonly name: string;
    readonly version: string;
    readonly description: string;
    readonly author: string;
    /** Plugins that must be installed and turned on for this one to run. */
    readonly dependencies: readonly string[];
    readonly tools: readonly PluginTool[];
    /** True when it offers further ones while it runs. */
    readonly dynamic: boolean;
    readonly toolStyle: ToolStyle;
    readonly hooks: readonly PluginHook[];
    /** What it wants to touch, in the author's words; not judged here. */
    readonly wants: readonly { readonly permission: string; readonly reason: string }[];
    readonly limits: PluginLimits;
    /** JSON Schema of the settings that a person may give; undefined when it takes none. */
    readonly configSchema: JsonObject | undefined;
    /** Majors of clawd.plugin that it speaks. */
    readonly protocolMajors: readonly number[];
    /** Settings that hold where the person gave none. */
    readonly config: JsonObject;
    /** What is odd about it and hinders nothing, for people. */
    readonly warnings: readonly string[];
  };

/** What a manifest is judged for. */
export type ManifestHost = {
  /** Node's words for system and machine, e.g. "linux-x64". */
  readonly platform: string;
  /** Majors of clawd.plugin. */
  readonly majors: readonly number[];
};

export const THIS_HOST: ManifestHost = { platform: `${process.platform}-${process.arch}`, majors: HOST_MAJORS };

/** Judges the text of a plugin.json. Every failure is `invalid` and names the file and the field. */
export function parseManifest(text: string, file: string, host = THIS_HOST): Result<PluginManifest> {
  return judgeText(text, "jsonName", host, file);
}

/** The same for the text of a plugin.toml; `json` is its ProtoJSON. A wrong API version is said in words of its own. */
export function parseTomlManifest(
  text: string,
  file: string,
  host = THIS_HOST,
): Result<{ readonly manifest: PluginManifest; readonly json: JsonObject }> {
  const json = readPluginToml(text, file);
  if (!json.ok) return json;
  const manifest = judgeText(JSON.stringify(json.value), "name", host, file);
  return manifest.ok ? ok({ manifest: manifest.value, json: json.value }) : manifest;
}

function judgeText(text: string, spelling: Spelling, host: ManifestHost, file: string): Result<PluginManifest> {
  const reject: Reject = (field, problem, hint = "docs/plugins.md describes every field") =>
    fail("invalid", `${file}: ${spelling === "name" ? toSnakeCase(field) : field} ${problem}`, { hint });
  try {
    const misfit = findMisfit(ManifestSchema, JSON.parse(text) as JsonValue, spelling);
    if (misfit !== undefined) return fail("invalid", `${file}: ${misfit.problem}`, { hint: misfit.hint });
    // From the text once more: only there does it show that a key was written twice.
    return judgeManifest(fromJsonString(ManifestSchema, text), host, reject);
  } catch (cause) {
    return fail("invalid", `${file}: ${sayParseError(cause)}`, { hint: "mend the file, then try again", cause });
  }
}

function toSnakeCase(field: string): string {
  return field.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function judgeManifest(manifest: Manifest, host: ManifestHost, reject: Reject): Result<PluginManifest> {
  const identity = judgeIdentity(manifest, reject);
  if (!identity.ok) return identity;
  const launch = judgeLaunch(manifest.launch, host.platform, reject);
  if (!launch.ok) return launch;
  const { name, version, description, author, protocolMajors } = manifest;
  // One that speaks JSON-RPC speaks no major of ours.
  if (launch.value.protocol === "clawd" && !protocolMajors.some((major) => host.majors.includes(major))) {
    const known = host.majors.join(", ");
    return reject("protocolMajors", `${JSON.stringify(protocolMajors)} must hold one of ${known}`);
  }
  const dependencies = judgeDependencies(name, manifest.dependencies, reject);
  if (!dependencies.ok) return dependencies;
  const tools = judgeTools(name, manifest.tools, reject);
  if (!tools.ok) return tools;
  const hooks = judgeHooks(manifest.hooks, reject);
  if (!hooks.ok) return hooks;
  const offers = judgeOffers(manifest, reject);
  if (!offers.ok) return offers;
  const limits = judgeLimits(manifest.limits, reject);
  if (!limits.ok) return limits;
  const wants = judgeAsked(manifest.permissions, reject);
  if (!wants.ok) return wants;
  const { configSchema, config = {} } = manifest;
  if (configSchema !== undefined && configSchema.type !== "object")
    return reject("configSchema", 'must be a JSON Schema of type "object"', SCHEMA_HINT);
  return ok({
    ...{ name, version, description, author, protocolMajors },
    ...launch.value,
    ...offers.value,
    dependencies: dependencies.value,
    tools: tools.value,
    dynamic: manifest.dynamic,
    toolStyle: pluginToolStyle(name),
    hooks: hooks.value.hooks,
    wants: wants.value,
    limits: limits.value,
    configSchema,
    config,
    warnings: hooks.value.warnings,
  });
}

/** Their length only, so that no wordy reason pushes what is asked for off the screen of the person who decides. */
function judgeAsked(asked: readonly PermissionRequest[], reject: Reject): Result<PluginManifest["wants"]> {
  if (asked.length > MAX_WANTS) return reject("permissions", `has more than ${MAX_WANTS} entries`);
  for (const [index, one] of asked.entries()) {
    for (const field of ["permission", "reason"] as const) {
      if (one[field].length > MAX_TEXT_CHARS)
        return reject(`permissions[${index}].${field}`, `is longer than ${MAX_TEXT_CHARS} characters`, "shorten it");
    }
  }
  return ok(asked.map(({ permission, reason }) => ({ permission, reason })));
}

function judgeIdentity(manifest: Manifest, reject: Reject): Result<void> {
  const { name, version } = manifest;
  if (manifest.manifestVersion !== MANIFEST_VERSION) return reject("manifestVersion", `must be ${MANIFEST_VERSION}`);
  if (!isName(name)) return reject("name", `${JSON.stringify(name)} ${NAME_FORM}`);
  if (!SEMVER.test(version)) {
    return reject("version", `${JSON.stringify(version)} must be a semantic version such as "1.2.0"`);
  }
  for (const field of ["version", "description", "author"] as const) {
    if (manifest[field].length > MAX_TEXT_CHARS)
      return reject(field, `is longer than ${MAX_TEXT_CHARS} characters`, "shorten it");
  }
  return ok(undefined);
}

/** The parser's own words, without its package names. */
function sayParseError(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replaceAll("clawd.plugin.v1.", "").replaceAll(/\s+/g, " ").slice(0, 500);
}
