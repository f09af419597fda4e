import { fromJsonString, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { type Manifest, ManifestSchema, type ToolDeclaration } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import { findUnknownKey } from "./unknown-key.ts";

export const MANIFEST_FILE = "plugin.json";
/** Majors of clawd.plugin that this host speaks. */
export const HOST_MAJORS: readonly number[] = [1];

const MANIFEST_VERSION = 1;
const MAX_TOOL_NAME_CHARS = 64;
const MAX_TOOLS = 128;
const MAX_TIMEOUT_MS = 24 * 60 * 60_000;
const DEFAULT_CALL_TIMEOUT_MS = 60_000;
const DEFAULT_START_TIMEOUT_MS = 10_000;
const MAX_START_TIMEOUT_MS = 5 * 60_000;
const DEFAULT_MEMORY_MIB = 512;
/** Below this a Node process cannot even start. */
const MIN_MEMORY_MIB = 128;
const MAX_MEMORY_MIB = 64 * 1024;
const DEFAULT_PROCESSES = 256;
const MIN_PROCESSES = 16;
const MAX_PROCESSES = 4096;
const DEFAULT_CONCURRENT_CALLS = 4;
const MAX_CONCURRENT_CALLS = 64;

const PLUGIN_NAME = /^[a-zA-Z][a-zA-Z0-9-]{0,31}$/;
const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/;
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that would change the loader or the handshake. */
const RESERVED_ENV = /^(LD_|DYLD_|CLAWD_|NODE_OPTIONS$)/;

export type PluginTool = {
  /** As the plugin calls it. */
  readonly name: string;
  /** As the model calls it: plugin_<plugin>_<tool>. */
  readonly fullName: string;
  readonly description: string;
  readonly input: JsonObject;
  readonly rerun: "safe" | "unsafe";
  readonly timeoutMs: number;
};

/** A manifest that holds every rule of its form; zeros are replaced by their defaults. */
export type PluginManifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly startTimeoutMs: number;
  readonly tools: readonly PluginTool[];
  /** What it wants to touch, in the author's words; not judged here. */
  readonly wants: readonly { readonly permission: string; readonly reason: string }[];
  readonly limits: { readonly memoryMib: number; readonly processes: number; readonly concurrentCalls: number };
};

/** Judges the text of a manifest. Every failure is `invalid` and names the file and the field. */
export function parseManifest(text: string, file: string): Result<PluginManifest> {
  let manifest: Manifest;
  try {
    const unknown = findUnknownKey(ManifestSchema, JSON.parse(text) as JsonValue);
    if (unknown !== undefined) {
      const hint = unknown.nearest === undefined ? "remove it" : `did you mean "${unknown.nearest}"?`;
      return fail("invalid", `${file}: unknown key "${unknown.path}"`, { hint });
    }
    manifest = fromJsonString(ManifestSchema, text);
  } catch (cause) {
    return fail("invalid", `${file}: ${sayParseError(cause)}`, { hint: "mend the file, then try again", cause });
  }
  return judgeManifest(manifest, (field, problem) => fail("invalid", `${file}: ${field} ${problem}`));
}

type Reject = (field: string, problem: string) => Failed;

function judgeManifest(manifest: Manifest, reject: Reject): Result<PluginManifest> {
  if (manifest.manifestVersion !== MANIFEST_VERSION) return reject("manifestVersion", `must be ${MANIFEST_VERSION}`);
  if (!PLUGIN_NAME.test(manifest.name)) {
    return reject(
      "name",
      `${JSON.stringify(manifest.name)} must be a letter, then at most 31 letters, digits or hyphens`,
    );
  }
  if (!SEMVER.test(manifest.version)) {
    return reject("version", `${JSON.stringify(manifest.version)} must be a semantic version such as "1.2.0"`);
  }
  if (!manifest.protocolMajors.some((major) => HOST_MAJORS.includes(major))) {
    return reject(
      "protocolMajors",
      `${JSON.stringify(manifest.protocolMajors)} must hold one of ${HOST_MAJORS.join(", ")}`,
    );
  }
  const launch = judgeLaunch(manifest, reject);
  if (!launch.ok) return launch;
  if (manifest.tools.length > MAX_TOOLS) return reject("tools", `has more than ${MAX_TOOLS} entries`);
  const tools: PluginTool[] = [];
  for (const [index, declared] of manifest.tools.entries()) {
    const judged = judgeTool(manifest.name, declared, `tools[${index}]`, reject);
    if (!judged.ok) return judged;
    if (tools.some((other) => other.name === declared.name))
      return reject(`tools[${index}].name`, `"${declared.name}" stands there twice`);
    tools.push(judged.value);
  }
  const limits = judgeLimits(manifest, reject);
  if (!limits.ok) return limits;
  const { name, version, description } = manifest;
  const wants = manifest.permissions.map(({ permission, reason }) => ({ permission, reason }));
  return ok({ name, version, description, ...launch.value, tools, wants, limits: limits.value });
}

function judgeLaunch(
  { launch }: Manifest,
  reject: Reject,
): Result<Pick<PluginManifest, "command" | "env" | "startTimeoutMs">> {
  const [program, ...args] = launch?.command ?? [];
  if (program === undefined || program === "") return reject("launch.command", "must name a program");
  for (const part of [program, ...args]) {
    if (part.includes("\0")) return reject("launch.command", "holds a NUL byte");
  }
  if (program.includes("/") && !program.startsWith("/") && program.split("/").includes("..")) {
    return reject("launch.command", `"${program}" leads out of the plugin's folder`);
  }
  for (const [name, value] of Object.entries(launch?.env ?? {})) {
    if (!ENV_NAME.test(name) || RESERVED_ENV.test(name))
      return reject(`launch.env.${name}`, "is not a variable that a plugin may set");
    if (value.includes("\0")) return reject(`launch.env.${name}`, "holds a NUL byte");
  }
  const startTimeoutMs = launch?.startTimeoutMs ?? 0;
  if (startTimeoutMs > MAX_START_TIMEOUT_MS)
    return reject("launch.startTimeoutMs", `must be at most ${MAX_START_TIMEOUT_MS}`);
  return ok({
    command: [program, ...args],
    env: { ...launch?.env },
    startTimeoutMs: startTimeoutMs === 0 ? DEFAULT_START_TIMEOUT_MS : startTimeoutMs,
  });
}

function judgeTool(plugin: string, declared: ToolDeclaration, at: string, reject: Reject): Result<PluginTool> {
  if (!TOOL_NAME.test(declared.name)) {
    return reject(
      `${at}.name`,
      `${JSON.stringify(declared.name)} must be a letter, then letters, digits or underscores`,
    );
  }
  const fullName = `plugin_${plugin}_${declared.name}`;
  if (fullName.length > MAX_TOOL_NAME_CHARS) {
    return reject(`${at}.name`, `makes "${fullName}", which is longer than ${MAX_TOOL_NAME_CHARS} characters`);
  }
  if (declared.description === "") return reject(`${at}.description`, "is missing: the model chooses by it");
  if (declared.inputSchema?.type !== "object")
    return reject(`${at}.inputSchema`, 'must be a JSON Schema of type "object"');
  if (declared.timeoutMs > MAX_TIMEOUT_MS) return reject(`${at}.timeoutMs`, `must be at most ${MAX_TIMEOUT_MS}`);
  return ok({
    name: declared.name,
    fullName,
    description: declared.description,
    input: declared.inputSchema,
    rerun: declared.rerunSafe ? "safe" : "unsafe",
    timeoutMs: declared.timeoutMs === 0 ? DEFAULT_CALL_TIMEOUT_MS : declared.timeoutMs,
  });
}

function judgeLimits({ limits }: Manifest, reject: Reject): Result<PluginManifest["limits"]> {
  const memoryMib = limits?.memoryMib || DEFAULT_MEMORY_MIB;
  const processes = limits?.processes || DEFAULT_PROCESSES;
  const concurrentCalls = limits?.concurrentCalls || DEFAULT_CONCURRENT_CALLS;
  const between = (value: number, least: number, most: number) => value >= least && value <= most;
  if (!between(memoryMib, MIN_MEMORY_MIB, MAX_MEMORY_MIB)) {
    return reject("limits.memoryMib", `must be from ${MIN_MEMORY_MIB} to ${MAX_MEMORY_MIB}`);
  }
  if (!between(processes, MIN_PROCESSES, MAX_PROCESSES)) {
    return reject("limits.processes", `must be from ${MIN_PROCESSES} to ${MAX_PROCESSES}`);
  }
  if (concurrentCalls > MAX_CONCURRENT_CALLS)
    return reject("limits.concurrentCalls", `must be at most ${MAX_CONCURRENT_CALLS}`);
  return ok({ memoryMib, processes, concurrentCalls });
}

/** The parser's own words, without its package names. */
function sayParseError(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replaceAll("clawd.plugin.v1.", "").replaceAll(/\s+/g, " ").slice(0, 500);
}
