import { mkdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { type FailureCode, fail, ok, type Result } from "../../core/domain/failure.ts";
import { readStart } from "./bounded-file.ts";
import { type InstallerEnd, type InstallerPlace, type InstallerProgram, runInstaller } from "./installer-run.ts";
import { CACHE_FOLDER, type Complaint, type FetchPlan, type PackageManager, pick, reachOf } from "./package-manager.ts";
import type { PackageWords } from "./package-words.ts";
import { findPython } from "./python-program.ts";
import { requirementOf } from "./uvx-words.ts";
import { inspectWheels, REPORT_FILE, SITE_FOLDER } from "./wheel-inspection.ts";

/** Variables that say where packages come from; those about places on this machine are not for the sandbox. */
const VARIABLES = [
  ...["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_TRUSTED_HOST", "PIP_PRE"],
  ...["PIP_CERT", "PIP_CLIENT_CERT", "PIP_TIMEOUT", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES", "PIP_CONFIG_FILE"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"],
];
/** Those that name files. */
const FILE_VARIABLES = ["PIP_CERT", "PIP_CLIENT_CERT", "PIP_CONFIG_FILE", "SSL_CERT_FILE", "SSL_CERT_DIR"];
/** Everything that it looked at and why it did not take it, beside what it prints. */
const LOG_FILE = `${CACHE_FOLDER}/pip.log`;
const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
/** The index that pip has when nobody names one, and where its files lie: pip alone knows. */
const DEFAULT_INDEX =
  "from pip._internal.models.index import PyPI; print(PyPI.simple_url); print('https://' + PyPI.file_storage_domain)";

/** Wheels alone: to make one of anything else would run a stranger's code. Nothing is asked, and nothing else is touched. */
const INSTALL = [
  ...["install", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input", "--no-user"],
  ...["--no-warn-script-location", "--root-user-action=ignore", "--no-color", "--progress-bar=off", "--quiet"],
  ...["--proxy="],
];

const MEANINGS: readonly (readonly [RegExp, FailureCode, string])[] = [
  [/No module named pip/, "unavailable", "install uv, or pip for that Python"],
  [/no such option/, "unavailable", "install uv, or a newer pip: 22.2 at least"],
  [/different python version|requires a different Python/i, "invalid", "take another version of it, or a newer Python"],
  [
    /No matching distribution|Could not find a version|Invalid requirement/,
    "not_found",
    "look at its name and version",
  ],
  [/\b40[13] |credentials/i, "denied", "look at what pip logs in with: pip config list"],
  [/No space left/, "exhausted", "make room on the disk"],
];

/** pip of the Python that servers run on. */
export const PIP: PackageManager = {
  name: "pip",
  find(place) {
    const python = findPython(place.env.PATH ?? "", place.homeDir);
    return python === undefined ? undefined : { command: [python.binary, "-m", "pip"], read: python.read };
  },
  plan: planFetch,
  explain: explainEnd,
  inspect: (place, serverFolder, folder, wanted) =>
    inspectWheels(findPython(place.env.PATH ?? "", place.homeDir)?.binary ?? "", serverFolder, folder, wanted),
};

async function planFetch(
  place: InstallerPlace,
  pip: InstallerProgram,
  folder: string,
  wanted: PackageWords,
  signal: AbortSignal,
): Promise<Result<FetchPlan>> {
  const { env, homeDir } = place;
  // Its files lie there; it writes nothing there.
  const variables = { ...pick(env, VARIABLES), HOME: homeDir, PIP_REQUIRE_VIRTUALENV: "0" };
  const own = [".config/pip/pip.conf", ".pip/pip.conf", ".netrc"].map((one) => join(homeDir, one));
  const read = [...own, ...FILE_VARIABLES.flatMap((name) => env[name] ?? [])].filter((one) => isAbsolute(one));
  const asked = { folder, read, env: variables, signal, network: "none" as const };
  const said = await runInstaller(place, pip, { ...asked, args: ["config", "list"] });
  if (said.code !== 0) {
    const { code, lines, next } = explainEnd(said, folder);
    return fail(code, `pip does not say its settings: ${lines.join("; ").slice(0, 500)}`, { hint: next });
  }
  const settings = readSettings(said.stdout);
  const [python] = pip.command;
  const known = { command: [python] as const, read: pip.read };
  const standard = settings.hasIndex
    ? []
    : (await runInstaller(place, known, { ...asked, args: ["-c", DEFAULT_INDEX] })).stdout.split("\n");
  const net = await Promise.all([...settings.addresses, ...standard].map(reachOf));
  await mkdir(join(folder, CACHE_FOLDER), { recursive: true });
  return ok({
    ...{ env: variables, net: net.flat(), read: [...read, ...settings.files] },
    args: [
      ...INSTALL,
      ...[`--target=${join(folder, SITE_FOLDER)}`, `--report=${join(folder, REPORT_FILE)}`],
      ...[`--log=${join(folder, LOG_FILE)}`, "--", ...wanted.packages.map(requirementOf)],
    ],
  });
}

/** `pip config list`: a line a key, `global.index-url='https://…'`. */
function readSettings(text: string) {
  const addresses: string[] = [];
  const files: string[] = [];
  let hasIndex = false;
  for (const line of text.split("\n")) {
    const [, key = "", value = ""] = /^(?:[\w:-]+)\.([a-z-]+)=(.*)$/.exec(line) ?? [];
    // Several stand in one text, with line breaks between, which it writes as Python does.
    const words = value.replace(/^['"]|['"]$/g, "").split(/\\n|\s+/);
    if (key === "index-url" || key === "no-index") hasIndex = true;
    if (["index-url", "extra-index-url", "find-links"].includes(key)) addresses.push(...words);
    if (["find-links", "cert", "client-cert"].includes(key)) files.push(...words.filter((one) => isAbsolute(one)));
  }
  return { addresses, files, hasIndex };
}

function explainEnd({ stderr }: InstallerEnd, folder: string): Complaint {
  const lines = stderr
    .split("\n")
    .flatMap(
      (line) => /^(?:ERROR: |.*(?=No module named pip|error: no such option))(.+)$/.exec(line)?.[1]?.trim() ?? [],
    );
  // What has no wheel looks to pip as what is not there.
  if (/No sources permitted for/.test(readStart(join(folder, LOG_FILE), LOG_LIMIT_BYTES))) {
    const next = "it would have to be built, which runs its code: take another version of it, or install it by hand";
    return { code: "invalid", lines: ["there is no wheel of it for this Python", ...lines], next };
  }
  const all = lines.join("\n");
  const [, code = "unavailable", next = "look at your connection, and at your settings: pip config list"] =
    MEANINGS.find(([pattern]) => pattern.test(all)) ?? [];
  return { code, lines, next };
}
