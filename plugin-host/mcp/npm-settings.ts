import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import type { Permission } from "../../sandbox/permission/permission.ts";
import { type NpmSurroundings, runNpm } from "./npm-program.ts";

/** Settings from variables that say where npm's things lie here: they have other places in the sandbox, and its network is ours. */
const OF_THIS_MACHINE =
  /^npm_config_(?:cache|prefix|local_prefix|global_prefix|userconfig|globalconfig|init_module|noproxy|proxy|https_proxy|node_gyp|npm_version|global|tmp|location)$/i;
/** What Node and npm take certificates of authorities from. */
const CERTIFICATE_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
/** npm's own copies of what it fetched, in the folder that it works in. */
export const NPM_CACHE = "cache";
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\??\}/g;

/** The person's own settings, as far as fetching a package takes them. */
export type NpmSettings = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that they name, absolute. */
  readonly read: readonly string[];
  /** Their registries, and nothing else. */
  readonly net: readonly Permission[];
};

/** Asks npm, which knows best, what its settings are. `invalid` when it will not say. */
export async function readNpmSettings(
  around: NpmSurroundings,
  homeDir: string,
  npm: string,
  folder: string,
  signal: AbortSignal,
): Promise<Result<NpmSettings>> {
  const { env } = around;
  const userFile = env.npm_config_userconfig ?? env.NPM_CONFIG_USERCONFIG ?? join(homeDir, ".npmrc");
  const globalFile =
    env.npm_config_globalconfig ?? env.NPM_CONFIG_GLOBALCONFIG ?? join(npm, "../../../../../etc/npmrc");
  const cache = `--cache=${join(folder, NPM_CACHE)}`;
  const args = [`--userconfig=${userFile}`, `--globalconfig=${globalFile}`, cache, "--logs-max=0"];
  const variables = await variablesFor(env, [userFile, globalFile]);
  const read = [userFile, globalFile, ...CERTIFICATE_VARIABLES.flatMap((name) => variables[name] ?? [])];
  const asked = { args: ["config", "list", "--json", ...args], folder, read, env: variables, signal };
  const said = await runNpm(around, npm, { ...asked, network: "none" });
  const settings = parse(said.stdout);
  if (!isJsonObject(settings))
    return fail("invalid", `npm does not say its settings: ${said.stderr.trim().slice(0, 500)}`, {
      hint: "try: npm config list",
    });
  const files = Object.entries(settings).filter(([key]) => /(?:^|:)(?:cafile|certfile|keyfile)$/.test(key));
  const registries = Object.entries(settings).filter(([key]) => /(?:^|:)registry$/.test(key));
  const net = await Promise.all(registries.map(([, address]) => reachOf(String(address))));
  return ok({
    ...{ args, env: variables, net: net.flat() },
    read: [...read, ...files.flatMap(([, file]) => (typeof file === "string" ? [file] : []))],
  });
}

/** What npm's files refer to is handed on, and no other variable: most of them are none of its business. */
async function variablesFor(env: NpmSurroundings["env"], files: readonly string[]): Promise<Record<string, string>> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  const named = texts.flatMap((text) => [...text.matchAll(REFERENCE)].map(([, name = ""]) => name));
  const settings = Object.keys(env).filter((name) => /^npm_config_/i.test(name) && !OF_THIS_MACHINE.test(name));
  const names = new Set([...named, ...settings, ...CERTIFICATE_VARIABLES]);
  return Object.fromEntries([...names].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/**
 * A registry's host, and the addresses that it has now: one in the person's own network would otherwise not be reached under
 * its name.
 */
async function reachOf(address: string): Promise<readonly Permission[]> {
  if (!URL.canParse(address)) return [];
  const { hostname, port, protocol } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, "");
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const found = await lookup(host, { all: true }).catch(() => []);
  const hosts = new Set([host, ...found.map((one) => one.address)]);
  return [...hosts].map((one) => ({ kind: "net", host: one, port: number }));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
