import { existsSync, realpathSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { type FailureCode, fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { parseJson } from "./bounded-file.ts";
import { type InstallerEnd, type InstallerPlace, type InstallerProgram, runInstaller } from "./installer-run.ts";
import { inspectModules } from "./npm-inspection.ts";
import { CACHE_FOLDER, type Complaint, type FetchPlan, type PackageManager, pick, reachOf } from "./package-manager.ts";
import type { PackageWords } from "./package-words.ts";

const CLI = "lib/node_modules/npm/bin/npm-cli.js";
/** Settings from variables that say where npm's things lie here: they have other places in the sandbox, and its network is ours. */
const OF_THIS_MACHINE =
  /^npm_config_(?:cache|prefix|local_prefix|global_prefix|userconfig|globalconfig|init_module|noproxy|proxy|https_proxy|node_gyp|npm_version|global|tmp|location)$/i;
/** What Node and npm take certificates of authorities from. */
const CERTIFICATE_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\??\}/g;

/** No script of a package runs, nothing is asked, and nothing but the package is looked after. */
const INSTALL = [
  ...["install", "--ignore-scripts=true", "--save-exact=true", "--omit=dev", "--include=optional"],
  ...["--audit=false", "--fund=false", "--update-notifier=false", "--package-lock=true", "--bin-links=true"],
  ...["--global=false", "--dry-run=false", "--offline=false", "--workspaces=false", "--yes=true"],
  ...["--loglevel=error", "--progress=false", "--color=false", "--install-links=true"],
  // An address that the sandbox refuses stays refused; npm would come back to it after ten seconds, and after a minute.
  ...["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"],
];

const MEANINGS: readonly (readonly [RegExp, FailureCode, string])[] = [
  [/E404|ETARGET|EINVALIDTAGNAME|ENOVERSIONS/, "not_found", "look at its name and version"],
  [/E401|E403|ENEEDAUTH/, "denied", "log in at your registry: npm login"],
  [/ENOSPC/, "exhausted", "make room on the disk"],
  [/EBADENGINE/, "invalid", "take another version of it"],
];

/** npm on the house's Node. */
export const NPM: PackageManager = {
  name: "npm",
  find: findNpm,
  plan: planFetch,
  explain: explainEnd,
  inspect: (_place, serverFolder, folder, wanted) => inspectModules(serverFolder, folder, wanted),
};

/** The npm that the search path leads to, or the one beside the house's Node. */
function findNpm({ env, nodeBinary }: InstallerPlace): InstallerProgram | undefined {
  const folders = (env.PATH ?? "").split(":").filter((one) => isAbsolute(one));
  for (const program of [...folders.map((one) => join(one, "npm")), nodeBinary]) {
    if (!existsSync(program)) continue;
    const real = realpathSync(program);
    const beside = join(dirname(dirname(real)), CLI);
    const script = real.endsWith("/npm-cli.js") ? real : existsSync(beside) ? realpathSync(beside) : undefined;
    if (script !== undefined) return { command: [nodeBinary, script], read: [dirname(dirname(script))] };
  }
  return undefined;
}

async function planFetch(
  place: InstallerPlace,
  npm: InstallerProgram,
  folder: string,
  wanted: PackageWords,
  signal: AbortSignal,
): Promise<Result<FetchPlan>> {
  const { env, homeDir } = place;
  const [script = ""] = npm.command.slice(1);
  const userFile = env.npm_config_userconfig ?? env.NPM_CONFIG_USERCONFIG ?? join(homeDir, ".npmrc");
  const globalFile =
    env.npm_config_globalconfig ?? env.NPM_CONFIG_GLOBALCONFIG ?? join(script, "../../../../../etc/npmrc");
  const cache = `--cache=${join(folder, CACHE_FOLDER)}`;
  const args = [`--userconfig=${userFile}`, `--globalconfig=${globalFile}`, cache, "--logs-max=0"];
  const variables = await variablesFor(env, [userFile, globalFile]);
  const read = [userFile, globalFile, ...CERTIFICATE_VARIABLES.flatMap((name) => variables[name] ?? [])];
  const asked = { args: ["config", "list", "--json", ...args], folder, read, env: variables, signal };
  const said = await runInstaller(place, npm, { ...asked, network: "none" });
  const settings = parseJson(said.stdout);
  if (!isJsonObject(settings))
    return fail("invalid", `npm does not say its settings: ${said.stderr.trim().slice(0, 500)}`, {
      hint: "try: npm config list",
    });
  const files = Object.entries(settings).filter(([key]) => /(?:^|:)(?:cafile|certfile|keyfile)$/.test(key));
  const registries = Object.entries(settings).filter(([key]) => /(?:^|:)registry$/.test(key));
  const net = await Promise.all(registries.map(([, address]) => reachOf(String(address))));
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  return ok({
    ...{ env: variables, net: net.flat() },
    args: [...INSTALL, ...args, `--prefix=${folder}`, "--", ...wanted.packages],
    read: [...read, ...files.flatMap(([, file]) => (typeof file === "string" ? [file] : []))],
  });
}

/** What npm's files refer to is handed on, and no other variable: most of them are none of its business. */
async function variablesFor(env: InstallerPlace["env"], files: readonly string[]): Promise<FetchPlan["env"]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  const named = texts.flatMap((text) => [...text.matchAll(REFERENCE)].map(([, name = ""]) => name));
  const settings = Object.keys(env).filter((name) => /^npm_config_/i.test(name) && !OF_THIS_MACHINE.test(name));
  return pick(env, [...named, ...settings, ...CERTIFICATE_VARIABLES]);
}

function explainEnd({ stderr }: InstallerEnd): Complaint {
  const lines = stderr
    .split("\n")
    .flatMap((line) => /^npm (?:error|ERR!) ?(.*)$/.exec(line)?.[1]?.trim() ?? [])
    .filter((line) => !/^\d*$/.test(line) && !/^(?:A complete log|\/|Note that you can)/.test(line));
  const [, code = "unavailable", next = "look at your connection: npm ping"] =
    MEANINGS.find(([pattern]) => pattern.test(lines[0] ?? "")) ?? [];
  return { code, lines, next };
}
