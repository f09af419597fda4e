import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type FailureCode, fail, ok, type Result } from "../../core/domain/failure.ts";
import { type InstallerEnd, type InstallerPlace, type InstallerProgram, runInstaller } from "./installer-run.ts";
import { CACHE_FOLDER, type Complaint, type FetchPlan, type PackageManager, pick, reachOf } from "./package-manager.ts";
import type { PackageWords } from "./package-words.ts";
import { findPython } from "./python-program.ts";
import { requirementOf } from "./uvx-words.ts";
import { inspectWheels, SITE_FOLDER } from "./wheel-inspection.ts";

/** Variables that say where packages come from; those about places on this machine are not for the sandbox. */
const VARIABLE =
  /^(?:UV_(?:DEFAULT_INDEX|INDEX|INDEX_\w+|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|INSECURE_HOST|NATIVE_TLS|SYSTEM_CERTS|HTTP_TIMEOUT|PRERELEASE|CONFIG_FILE)|SSL_CERT_FILE|SSL_CERT_DIR|SSL_CLIENT_CERT)$/;
const FILE_VARIABLES = ["UV_CONFIG_FILE", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"];

/**
 * Wheels alone: to make one of anything else would run a stranger's code. They are compiled at once, since the server, which may
 * not write them, would do it at each start.
 */
const INSTALL = [
  ...["pip", "install", "--only-binary=:all:", "--compile-bytecode"],
  ...["--quiet", "--no-progress", "--color=never"],
];

const MEANINGS: readonly (readonly [RegExp, FailureCode, string])[] = [
  [
    /no (?:usable |matching )?wheels|building .* is disabled/i,
    "invalid",
    "it would have to be built, which runs its code: take another version of it, or install it by hand",
  ],
  [/not found in the package registry|there (?:is|are) no versions? of/, "not_found", "look at its name and version"],
  [/does not satisfy Python|Requires-Python/, "invalid", "take another version of it, or a newer Python"],
  [/\b40[13] /, "denied", "look at what uv logs in with: uv auth"],
  [/No space left/, "exhausted", "make room on the disk"],
];

/** uv, for the Python that servers run on. */
export const UV: PackageManager = {
  name: "uv",
  find: findUv,
  plan: planFetch,
  // It takes no package by an address that a package names: what it wants, its indexes name.
  wantsWhatRegistriesName: true,
  explain: explainEnd,
  inspect: (place, serverFolder, folder, wanted) =>
    inspectWheels(findPython(place.env.PATH ?? "", place.homeDir)?.binary ?? "", serverFolder, folder, wanted),
};

function findUv({ env, homeDir }: InstallerPlace): InstallerProgram | undefined {
  const python = findPython(env.PATH ?? "", homeDir);
  const folders = (env.PATH ?? "").split(":").filter((one) => isAbsolute(one));
  const uv = folders.map((one) => join(one, "uv")).find((file) => existsSync(file) && statSync(file).isFile());
  if (python === undefined || uv === undefined) return undefined;
  const real = realpathSync(uv);
  return { command: [real], read: [real, ...python.read] };
}

async function planFetch(
  place: InstallerPlace,
  uv: InstallerProgram,
  folder: string,
  wanted: PackageWords,
  signal: AbortSignal,
): Promise<Result<FetchPlan>> {
  const { env, homeDir } = place;
  const { binary = "" } = findPython(env.PATH ?? "", homeDir) ?? {};
  // Its files lie there; it writes nothing there.
  const variables = {
    ...pick(
      env,
      Object.keys(env).filter((name) => VARIABLE.test(name)),
    ),
    ...{ HOME: homeDir, UV_PYTHON_DOWNLOADS: "never" },
  };
  const own = [".config/uv/uv.toml", ".netrc"].map((one) => join(homeDir, one));
  const read = [...own, ...FILE_VARIABLES.flatMap((name) => env[name] ?? [])].filter((one) => isAbsolute(one));
  const asked = { folder, read, env: variables, signal, network: "none" as const };
  const install = [...INSTALL, `--python=${binary}`, `--target=${join(folder, SITE_FOLDER)}`];
  const args = [...install, `--cache-dir=${join(folder, CACHE_FOLDER)}`, "--"];
  const said = await runInstaller(place, uv, {
    ...asked,
    args: ["pip", "install", "--color=never", "--show-settings", "--", "it"],
  });
  const settings = readSettings(said.stdout);
  if (settings === undefined) {
    const why = explainEnd(said).lines.join("; ").slice(0, 500);
    return fail("invalid", `uv does not say its settings: ${why}`, { hint: "try: uv pip install --show-settings it" });
  }
  const help = settings.hasDefault
    ? ""
    : (await runInstaller(place, uv, { ...asked, args: ["pip", "install", "--help"] })).stdout;
  const [, standard = ""] = /\(by\s+default:\s+<([^>\s]+)>\)/.exec(help) ?? [];
  const net = await Promise.all([...settings.places, standard].map(reachOf));
  return ok({
    ...{ env: variables, net: net.flat(), args: [...args, ...wanted.packages.map(requirementOf)] },
    read: [...read, ...settings.places.filter((one) => isAbsolute(one))],
  });
}

/** Addresses and folders of its indexes, as they were given; undefined when it does not say any of it. */
function readSettings(text: string) {
  const [section] = /^ *index_locations: IndexLocations \{[\s\S]*?no_index: \w+/m.exec(text) ?? [];
  if (section === undefined) return undefined;
  const places = [...section.matchAll(/given: Some\(\s*"([^"]+)"/g)].map(([, place = ""]) => place);
  return { places, hasDefault: /\bdefault: true|no_index: true/.test(section) };
}

function explainEnd({ stderr }: InstallerEnd): Complaint {
  const lines = stderr
    .split("\n")
    .map((line) => line.replace(/^[\s×╰─▶│├]+|^error: /g, "").trim())
    .filter((line) => line !== "");
  const all = lines.join(" ");
  const [, code = "unavailable", next = "look at your connection, and at your settings of uv"] =
    MEANINGS.find(([pattern]) => pattern.test(all)) ?? [];
  return { code, lines, next };
}
