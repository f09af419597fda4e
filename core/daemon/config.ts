import { readFile, rename, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { parse, TomlError } from "smol-toml";
import { tableToJson } from "../../plugin-host/manifest/toml-json.ts";
import type { RemoteSettings } from "../../plugin-host/remote/remote-plugins.ts";
import { ISOLATE_LIMITS } from "../../sandbox/isolate/limits.ts";
import { parsePermission } from "../../sandbox/permission/permission.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import { nearestWord } from "../domain/nearest-word.ts";
import { checkRulePattern, type Policy, type Verdict } from "../domain/policy.ts";
import { DEFAULT_LIMITS, type TurnLimits } from "../session/turn-context.ts";
import type { ShellNetwork } from "../tools/shell-network.ts";
import { checkMemoryValues, MEMORY_KEYS, type MemoryConfig, memoryConfigFrom } from "./memory-settings.ts";
import { checkProfileValues, PROFILE_KEYS, type ProfileConfig, profileConfigFrom } from "./profile-settings.ts";
import { checkRemoteValues, REMOTE_KEYS, remoteSettingsFrom } from "./remote-settings.ts";
import {
  checkToolFilterValues,
  TOOL_FILTER_KEYS,
  type ToolFilterConfig,
  toolFilterConfigFrom,
} from "./tool-filter-settings.ts";

/** What config.toml says, checked. Every key is described in docs/config.md. */
export type Config = {
  /** "PROVIDER/NAME" or "PROVIDER" for whoever asks for none; empty for the first provider that is there. */
  readonly model: string;
  readonly anthropic: { readonly apiKey: string; readonly baseUrl: string; readonly model: string };
  readonly limits: TurnLimits;
  readonly policy: Policy;
  readonly shell: {
    readonly network: ShellNetwork;
    readonly read: readonly string[];
    readonly write: readonly string[];
  };
  readonly sandbox: "auto" | "none";
  /** What runs scripts that name no runtime, and where Deno is: a name on PATH or an absolute path. */
  readonly scripts: { readonly runtime: "isolate" | "deno"; readonly deno: string };
  readonly hooks: {
    readonly killsAllowed: number;
    readonly killWindowMs: number;
    readonly commandsWithoutSandbox: boolean;
    /** Processes of trust groups that live at one moment. */
    readonly processes: number;
    /** Heap of a hook's isolate. */
    readonly memoryMib: number;
  };
  readonly gateway: { readonly port: number; readonly token: string } | undefined;
  /** File that every model answer is recorded to; empty for none. */
  readonly tape: string;
  /** After how many crashes within which time a plugin rests. */
  readonly breaker: { readonly crashesAllowed: number; readonly windowMs: number };
  readonly memory: MemoryConfig;
  readonly profile: ProfileConfig;
  readonly toolFilter: ToolFilterConfig;
  /** How plugins of other machines come here. */
  readonly remote: RemoteSettings;
  /** [plugins.NAME], as it stands there: only the plugin's own schema can judge it. */
  readonly plugins: ReadonlyMap<string, JsonObject>;
  /** [mcp_servers.NAME], as it stands there: one wrong entry must not take the others away. */
  readonly mcpServers: ReadonlyMap<string, JsonObject>;
};

export type LoadedConfig = {
  readonly config: Config;
  /** What is wrong with the file; the daemon runs all the same. */
  readonly problems: readonly Failure[];
};

type Kind = "string" | "number" | "fraction" | "boolean" | "strings";
type Value = string | number | boolean | readonly string[];

/** Every key there is, with its kind. */
const KEYS: Readonly<Record<string, Kind>> = {
  model: "string",
  "providers.anthropic.api_key": "string",
  "providers.anthropic.base_url": "string",
  "providers.anthropic.model": "string",
  "limits.attended_steps": "number",
  "limits.unattended_steps": "number",
  "limits.approval_seconds": "number",
  "limits.output_chars": "number",
  "policy.allow": "strings",
  "policy.ask": "strings",
  "policy.deny": "strings",
  "shell.network": "boolean",
  "shell.net": "strings",
  "shell.host_network": "boolean",
  "shell.read": "strings",
  "shell.write": "strings",
  "sandbox.level": "string",
  "scripts.runtime": "string",
  "scripts.deno": "string",
  "hooks.kills_allowed": "number",
  "hooks.kill_window_seconds": "number",
  "hooks.commands_without_sandbox": "boolean",
  "hooks.processes": "number",
  "hooks.memory_mib": "number",
  "plugins.crashes_allowed": "number",
  "plugins.crash_window_seconds": "number",
  ...REMOTE_KEYS,
  "gateway.port": "number",
  "gateway.token": "string",
  "record.tape": "string",
  ...MEMORY_KEYS,
  ...PROFILE_KEYS,
  ...TOOL_FILTER_KEYS,
};

/** So many kills of a hook's process within so long turn the hook off. */
const KILLS_ALLOWED = 3;
const KILL_WINDOW_SECONDS = 600;
/** So many crashes of a plugin within so long, and it rests. */
const CRASHES_ALLOWED = 5;
const CRASH_WINDOW_SECONDS = 300;
/** Heap of a hook's isolate, MiB: below, the surface itself does not fit; above, the process's own limit comes first. */
const MEMORY_MIN_MIB = 8;
const MEMORY_MAX_MIB = 128;

export const CONFIG_FILE = "config.toml";
const LAST_GOOD = "config.last-good.toml";

/**
 * Reads `config.toml` of a data folder. A broken file is a problem that names line and key, and the last file that was
 * good is used in its place; a missing file means the defaults. Keys that nobody knows are problems and nothing else.
 */
export async function loadConfig(home: string): Promise<LoadedConfig> {
  const text = await readText(join(home, CONFIG_FILE));
  const parsed = text.ok ? parseConfig(text.value ?? "", join(home, CONFIG_FILE)) : text;
  if (parsed.ok) {
    if (text.ok && text.value !== undefined) await keepLastGood(home, text.value);
    return parsed.value;
  }
  const lastGood = await readText(join(home, LAST_GOOD));
  const kept = lastGood.ok ? lastGood.value : undefined;
  const inForce = kept === undefined ? "the defaults are in force" : "the last good one is in force";
  const problem = { ...parsed.failure, message: `${parsed.failure.message}; ${inForce}` };
  const fallback = parseConfig(kept ?? "", join(home, LAST_GOOD));
  const config = fallback.ok ? fallback.value.config : configFrom(new Map(), new Map(), new Map());
  return { config, problems: [problem] };
}

/** The text of a file; undefined when there is none. */
async function readText(file: string): Promise<Result<string | undefined>> {
  try {
    return ok(await readFile(file, "utf8"));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    if (code === "ENOENT") return ok(undefined);
    return fail("unavailable", `${file} cannot be read: ${code}`, { hint: "mend its permissions", cause });
  }
}

async function keepLastGood(home: string, text: string): Promise<void> {
  const kept = await readText(join(home, LAST_GOOD));
  if (kept.ok && kept.value === text) return;
  const temporary = join(home, `${LAST_GOOD}.new`);
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await rename(temporary, join(home, LAST_GOOD));
  } catch {
    // A full or read-only disk: the copy is a convenience, and the journals will say what is wrong with the disk.
  }
}

/** Checks the text of a config file. `file` is for messages only. */
export function parseConfig(text: string, file: string): Result<LoadedConfig> {
  let tree: Record<string, unknown>;
  try {
    tree = parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = cause.message.split("\n", 1)[0] ?? "not TOML";
    return fail("invalid", `${file} line ${cause.line}: ${reason}`, {
      hint: "mend the line; the daemon reads it at its next start",
      cause,
    });
  }
  const plugins = readTables(tree, "plugins", text, file);
  if (!plugins.ok) return plugins;
  const mcpServers = readTables(tree, "mcp_servers", text, file);
  if (!mcpServers.ok) return mcpServers;
  const values = new Map<string, Value>();
  const problems: Failure[] = [];
  const others = Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [key, TABLES.has(key) && isTable(value) ? withoutTables(value) : value]),
  );
  for (const [key, value] of leaves(others, "")) {
    const kind = KEYS[key];
    const where = `${file} line ${lineOf(text, key)}`;
    if (kind === undefined) {
      problems.push(unknownKey(key, where));
    } else if (isKind(value, kind)) {
      values.set(key, value);
    } else {
      return fail("invalid", `${where}: ${key} must be ${article(kind)}, not ${JSON.stringify(value)}`, {
        hint: "docs/config.md has an example of every key",
      });
    }
  }
  const wrong = checkValues(values);
  if (wrong !== undefined) {
    return fail("invalid", `${file} line ${lineOf(text, wrong.key)}: ${wrong.key} ${wrong.what}`, {
      hint: "docs/config.md has an example of every key",
    });
  }
  return ok({ config: configFrom(values, plugins.value, mcpServers.value), problems });
}

/** Tables of tables, each of which somebody else judges. */
const TABLES: ReadonlySet<string> = new Set(["plugins", "mcp_servers"]);

/** The tables below a key of the file, e.g. [plugins.NAME], by name; what else stands there is a key like any other. */
function readTables(
  tree: Record<string, unknown>,
  key: "plugins" | "mcp_servers",
  text: string,
  file: string,
): Result<ReadonlyMap<string, JsonObject>> {
  const tables = new Map<string, JsonObject>();
  const below = tree[key];
  if (!isTable(below)) return ok(tables);
  for (const [name, table] of Object.entries(below)) {
    if (!isTable(table)) continue;
    const json = tableToJson(table, `${key}.${name}`);
    if (!json.ok) {
      const { path, problem, hint } = json.unsayable;
      return fail("invalid", `${file} line ${lineOf(text, path)}: ${path} ${problem}`, { hint });
    }
    tables.set(name, json.json);
  }
  return ok(tables);
}

function withoutTables(table: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => !isTable(value)));
}

/** Every value that is not a table, with its dotted key. */
function* leaves(tree: Record<string, unknown>, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(tree)) {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    if (isTable(value)) yield* leaves(value, key);
    else yield [key, value];
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function isKind(value: unknown, kind: Kind): value is Value {
  if (kind === "strings") return Array.isArray(value) && value.every((item) => typeof item === "string");
  if (kind === "number") return typeof value === "number" && Number.isInteger(value) && value >= 0;
  if (kind === "fraction") return typeof value === "number" && Number.isFinite(value) && value >= 0;
  return typeof value === kind;
}

function article(kind: Kind): string {
  switch (kind) {
    case "strings":
      return "a list of strings";
    case "number":
      return "a whole number from 0 on";
    case "fraction":
      return "a number from 0 on";
    case "boolean":
      return "true or false";
    case "string":
      return "a string";
  }
}

function unknownKey(key: string, where: string): Failure {
  const near = nearestWord(key, Object.keys(KEYS));
  const hint = near === undefined ? "docs/config.md lists every key" : `did you mean ${near}?`;
  return { code: "invalid", message: `${where}: nobody knows the key ${key}, so it has no effect`, hint };
}

/** The line on which a dotted key is set, from 1; 1 when it is written in a form that this does not find. */
function lineOf(text: string, key: string): number {
  const name = key.slice(key.lastIndexOf(".") + 1);
  const table = key.slice(0, Math.max(0, key.length - name.length - 1));
  let current = "";
  for (const [index, line] of text.split("\n").entries()) {
    const header = /^\s*\[([^[\]]+)\]/.exec(line)?.[1];
    if (header !== undefined) current = header.replaceAll(" ", "");
    const assigned = /^\s*([A-Za-z0-9_.-]+)\s*=/.exec(line)?.[1];
    if (assigned === undefined) continue;
    if ((current === "" ? assigned : `${current}.${assigned}`) === key || (current === table && assigned === name))
      return index + 1;
  }
  return 1;
}

function checkValues(values: ReadonlyMap<string, Value>): { key: string; what: string } | undefined {
  for (const verdict of VERDICTS) {
    for (const pattern of strings(values, `policy.${verdict}`)) {
      const checked = checkRulePattern(pattern);
      if (!checked.ok) return { key: `policy.${verdict}`, what: `holds a wrong pattern: ${checked.failure.message}` };
    }
  }
  for (const key of ["shell.read", "shell.write"]) {
    const relative = strings(values, key).find((path) => !isAbsolute(path));
    if (relative !== undefined) return { key, what: `must hold absolute paths, not ${JSON.stringify(relative)}` };
  }
  for (const host of strings(values, "shell.net")) {
    const parsed = parsePermission(`net=${host}`, "/");
    if (!parsed.ok) return { key: "shell.net", what: `must hold "HOST", "HOST:PORT" or networks: ${parsed.message}` };
  }
  const tape = values.get("record.tape");
  if (typeof tape === "string" && tape !== "" && !isAbsolute(tape)) {
    return { key: "record.tape", what: `must be an absolute path, not ${JSON.stringify(tape)}` };
  }
  const level = values.get("sandbox.level");
  if (level !== undefined && level !== "auto" && level !== "none") {
    return { key: "sandbox.level", what: `must be "auto" or "none", not ${JSON.stringify(level)}` };
  }
  const runtime = values.get("scripts.runtime");
  if (runtime !== undefined && runtime !== "isolate" && runtime !== "deno") {
    return { key: "scripts.runtime", what: `must be "isolate" or "deno", not ${JSON.stringify(runtime)}` };
  }
  const deno = values.get("scripts.deno");
  if (typeof deno === "string" && (deno === "" || (deno.includes("/") && !isAbsolute(deno)))) {
    return { key: "scripts.deno", what: `must be a program's name or absolute path, not ${JSON.stringify(deno)}` };
  }
  const port = values.get("gateway.port");
  if (typeof port === "number" && port > 65_535) return { key: "gateway.port", what: `must be a port, not ${port}` };
  for (const key of [
    "limits.attended_steps",
    "limits.unattended_steps",
    "limits.approval_seconds",
    "limits.output_chars",
    "hooks.kills_allowed",
    "hooks.kill_window_seconds",
    "hooks.processes",
    "plugins.crashes_allowed",
    "plugins.crash_window_seconds",
  ]) {
    if (values.get(key) === 0) return { key, what: "must be at least 1" };
  }
  const memoryMib = values.get("hooks.memory_mib");
  if (typeof memoryMib === "number" && (memoryMib < MEMORY_MIN_MIB || memoryMib > MEMORY_MAX_MIB)) {
    return { key: "hooks.memory_mib", what: `must be from ${MEMORY_MIN_MIB} to ${MEMORY_MAX_MIB}, not ${memoryMib}` };
  }
  return (
    checkRemoteValues(values) ??
    checkMemoryValues(values) ??
    checkProfileValues(values) ??
    checkToolFilterValues(values)
  );
}

const VERDICTS: readonly Verdict[] = ["allow", "ask", "deny"];

function configFrom(
  values: ReadonlyMap<string, Value>,
  plugins: Config["plugins"],
  mcpServers: Config["mcpServers"],
): Config {
  const text = (key: string) => String(values.get(key) ?? "");
  const number = (key: string, otherwise: number) => Number(values.get(key) ?? otherwise);
  const policy = VERDICTS.flatMap((verdict) =>
    strings(values, `policy.${verdict}`).map((pattern) => ({ pattern, verdict })),
  );
  const port = values.get("gateway.port");
  return {
    model: text("model"),
    anthropic: {
      apiKey: text("providers.anthropic.api_key"),
      baseUrl: text("providers.anthropic.base_url"),
      model: text("providers.anthropic.model"),
    },
    limits: {
      attendedSteps: number("limits.attended_steps", DEFAULT_LIMITS.attendedSteps),
      unattendedSteps: number("limits.unattended_steps", DEFAULT_LIMITS.unattendedSteps),
      approvalMs: number("limits.approval_seconds", DEFAULT_LIMITS.approvalMs / 1000) * 1000,
      outputChars: number("limits.output_chars", DEFAULT_LIMITS.outputChars),
    },
    policy,
    shell: {
      network: shellNetwork(values),
      read: strings(values, "shell.read"),
      write: strings(values, "shell.write"),
    },
    sandbox: text("sandbox.level") === "none" ? "none" : "auto",
    scripts: {
      runtime: text("scripts.runtime") === "deno" ? "deno" : "isolate",
      deno: text("scripts.deno") || "deno",
    },
    hooks: {
      killsAllowed: number("hooks.kills_allowed", KILLS_ALLOWED),
      killWindowMs: number("hooks.kill_window_seconds", KILL_WINDOW_SECONDS) * 1000,
      commandsWithoutSandbox: values.get("hooks.commands_without_sandbox") === true,
      processes: number("hooks.processes", ISOLATE_LIMITS.hostsMax),
      memoryMib: number("hooks.memory_mib", ISOLATE_LIMITS.memoryMib),
    },
    gateway: typeof port === "number" ? { port, token: text("gateway.token") } : undefined,
    tape: text("record.tape"),
    breaker: {
      crashesAllowed: number("plugins.crashes_allowed", CRASHES_ALLOWED),
      windowMs: number("plugins.crash_window_seconds", CRASH_WINDOW_SECONDS) * 1000,
    },
    memory: memoryConfigFrom(values),
    remote: remoteSettingsFrom(values),
    profile: profileConfigFrom(values),
    toolFilter: toolFilterConfigFrom(values),
    plugins,
    mcpServers,
  };
}

/** All public addresses, what is named, or both; `host_network` is more than either. */
function shellNetwork(values: ReadonlyMap<string, Value>): ShellNetwork {
  if (values.get("shell.host_network") === true) return "host";
  const named = strings(values, "shell.net").flatMap((host) => {
    const parsed = parsePermission(`net=${host}`, "/");
    return parsed.ok ? parsed.value : [];
  });
  const allow = values.get("shell.network") === true ? [{ kind: "net" } as const, ...named] : named;
  return allow.length === 0 ? "none" : { allow, deny: [] };
}

function strings(values: ReadonlyMap<string, Value>, key: string): readonly string[] {
  const value = values.get(key);
  return Array.isArray(value) ? value : [];
}
