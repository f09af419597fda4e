import type { JsonObject } from "@bufbuild/protobuf";
import type { BreakerLimits } from "../../plugin-host/life/restart-policy.ts";
import type { RemoteSettings } from "../../plugin-host/remote/remote-plugins.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import { nearestWord } from "../domain/nearest-word.ts";
import { BREAKER_SECTION } from "./breaker-settings.ts";
import { readConfigTree } from "./config-tree.ts";
import { GATEWAY_SECTION, type GatewaySettings } from "./gateway-settings.ts";
import { MEMORY_SECTION, type MemoryConfig } from "./memory-settings.ts";
import { PROFILE_SECTION, type ProfileConfig } from "./profile-settings.ts";
import { PROVIDER_SECTION, type ProviderSettings } from "./provider-settings.ts";
import { REMOTE_SECTION } from "./remote-settings.ts";
import { SANDBOX_SECTION, type SandboxSettings } from "./sandbox-settings.ts";
import { describeKind, isKind, type Kind, type Value, type Values } from "./section.ts";
import { SHELL_SECTION, type ShellSettings } from "./shell-settings.ts";
import { TOOL_FILTER_SECTION, type ToolFilterConfig } from "./tool-filter-settings.ts";
import { TURN_SECTION, type TurnSettings } from "./turn-settings.ts";

/** What config.toml says, checked. Every key is described in docs/config.md. */
export type Config = ProviderSettings &
  TurnSettings &
  SandboxSettings & {
    readonly shell: ShellSettings;
    readonly gateway: GatewaySettings;
    /** After how many crashes within which time a plugin rests. */
    readonly breaker: BreakerLimits;
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

const SECTIONS = [
  ...[PROVIDER_SECTION, TURN_SECTION, SHELL_SECTION, SANDBOX_SECTION, BREAKER_SECTION, REMOTE_SECTION],
  ...[GATEWAY_SECTION, MEMORY_SECTION, PROFILE_SECTION, TOOL_FILTER_SECTION],
];

/** Every key there is, with its kind. */
const KEYS: Readonly<Record<string, Kind>> = Object.assign({}, ...SECTIONS.map(({ keys }) => keys));

const SEE_DOCS = "docs/config.md has an example of every key";

/** What holds without a file. */
export const DEFAULT_CONFIG: Config = configFrom(new Map(), new Map(), new Map());

/**
 * Checks the text of a config file. Keys that nobody knows are problems and nothing else; a wrong value is `invalid`.
 * @param file for messages only
 */
export function parseConfig(text: string, file: string): Result<LoadedConfig> {
  const tree = readConfigTree(text, file);
  if (!tree.ok) return tree;
  const { leaves, tables, where } = tree.value;
  const values = new Map<string, Value>();
  const problems: Failure[] = [];
  for (const [key, value] of leaves) {
    const kind = KEYS[key];
    if (kind === undefined) problems.push(unknownKey(key, where(key)));
    else if (isKind(value, kind)) values.set(key, value);
    else {
      const message = `${where(key)}: ${key} must be ${describeKind(kind)}, not ${JSON.stringify(value)}`;
      return fail("invalid", message, { hint: SEE_DOCS });
    }
  }
  for (const section of SECTIONS) {
    const wrong = section.check(values);
    if (wrong !== undefined) {
      return fail("invalid", `${where(wrong.key)}: ${wrong.key} ${wrong.what}`, { hint: SEE_DOCS });
    }
  }
  return ok({ config: configFrom(values, tables.plugins, tables.mcp_servers), problems });
}

function configFrom(values: Values, plugins: Config["plugins"], mcpServers: Config["mcpServers"]): Config {
  return {
    ...PROVIDER_SECTION.read(values),
    ...TURN_SECTION.read(values),
    ...SANDBOX_SECTION.read(values),
    shell: SHELL_SECTION.read(values),
    gateway: GATEWAY_SECTION.read(values),
    breaker: BREAKER_SECTION.read(values),
    memory: MEMORY_SECTION.read(values),
    profile: PROFILE_SECTION.read(values),
    toolFilter: TOOL_FILTER_SECTION.read(values),
    remote: REMOTE_SECTION.read(values),
    plugins,
    mcpServers,
  };
}

function unknownKey(key: string, where: string): Failure {
  const near = nearestWord(key, Object.keys(KEYS));
  const hint = near === undefined ? "docs/config.md lists every key" : `did you mean ${near}?`;
  return { code: "invalid", message: `${where}: nobody knows the key ${key}, so it has no effect`, hint };
}
