import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { readJson, readStart } from "./bounded-file.ts";
import type { FetchedPackage } from "./fetched-package.ts";
import { chooseProgram, noProgram, type Program } from "./fetched-program.ts";
import { CACHE_FOLDER } from "./package-manager.ts";
import type { PackageWords } from "./package-words.ts";

/** Where an installer puts wheels, in the folder of one fetch. */
export const SITE_FOLDER = "site";
/** What pip says it did, in the folder of one fetch. */
export const REPORT_FILE = `${CACHE_FOLDER}/report.json`;
/** Starts the program: what pip makes for that finds its packages in places of the system alone. */
const START_FILE = "start.py";
/** A list of a stranger's is read in the daemon, so it is a short one: entry_points.txt of one package, bytes. */
const LIST_LIMIT_BYTES = 256 * 1024;
/** With the description of every package, bytes. */
const REPORT_LIMIT_BYTES = 32 * 1024 * 1024;
const INFO_FOLDER = /^(.+)-([^-]+)\.dist-info$/;
/** Module and function, e.g. `it.server:main`. Extras behind it are of no matter any more. */
const TARGET = /^([A-Za-z_][\w.]*)\s*:\s*([A-Za-z_][\w.]*)(?:\s*\[.*\])?$/;

/** Turns a name of Python's into the one form that indexes compare. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

/** What an installer put into `serverFolder`/`folder`, and a file that starts it. `not_found` when it has no such program. */
export function inspectWheels(
  binary: string,
  serverFolder: string,
  folder: string,
  wanted: PackageWords,
): Result<FetchedPackage> {
  const home = join(serverFolder, folder);
  const site = join(home, SITE_FOLDER);
  const asked = new Set(wanted.packages.map((one) => plainName(/^[\w.-]+/.exec(one)?.[0] ?? "")));
  const installed = readdirSync(site).flatMap((entry) => {
    const [, name = "", version = ""] = INFO_FOLDER.exec(entry) ?? [];
    return asked.has(plainName(name)) ? [{ name: plainName(name), version, entry }] : [];
  });
  const programs = installed.flatMap(({ name, entry }) => programsOf(join(site, entry), name));
  // Programs of packages that stand beside it are its own only where they are named.
  const [first = ""] = asked;
  const own = wanted.program === undefined ? programs.filter(({ of }) => of === first) : programs;
  const found = chooseProgram(wanted, own, (name) => own.find(({ bin }) => plainName(bin) === name)?.bin ?? name);
  if (found === undefined) return noProgram(wanted, own, `uvx --from ${wanted.packages[0] ?? ""}`);
  const [, module = "", attribute = ""] = TARGET.exec(found.target) ?? [];
  const start = join(home, START_FILE);
  try {
    writeFileSync(start, startText(found.bin, module, attribute), { flag: "wx" });
  } catch (cause) {
    return fail("unavailable", `${start} cannot be written: ${String(cause)}`, { cause });
  }
  const { kind, packages, program } = wanted;
  const version = installed.find(({ name }) => name === found.of)?.version ?? "";
  return ok({
    ...{ kind, packages, program, folder, name: found.of, skippedScripts: [] },
    ...{ version, integrity: digestOf(join(home, REPORT_FILE), found.of) },
    // Without the packages that this Python has for others.
    command: [binary, "-S", start],
  });
}

/** [console_scripts] of entry_points.txt. */
function programsOf(info: string, of: string): readonly Program[] {
  const programs: Program[] = [];
  let section = "";
  for (const line of readStart(join(info, "entry_points.txt"), LIST_LIMIT_BYTES).split("\n")) {
    const text = line.trim();
    const [, header] = /^\[(.*)\]$/.exec(text) ?? [];
    if (header !== undefined) section = header.trim();
    if (section !== "console_scripts" || header !== undefined || text.startsWith("#")) continue;
    const at = text.indexOf("=");
    const [bin, target] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    if (at > 0 && TARGET.test(target)) programs.push({ bin, of, target });
  }
  return programs;
}

/** The names are words of Python's alone, or are written as its texts. */
function startText(bin: string, module: string, attribute: string): string {
  return `import os
import site
import sys

packages = os.path.join(os.path.dirname(os.path.abspath(__file__)), "${SITE_FOLDER}")
sys.path[0] = packages
site.addsitedir(packages)
site.setquit()
# For programs that it starts.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [packages, os.environ.get("PYTHONPATH")]))
sys.argv[0] = ${JSON.stringify(bin)}
import ${module}
sys.exit(sys.modules[${JSON.stringify(module)}].${attribute}())
`;
}

/** As pip reports it; empty where it does not. */
function digestOf(report: string, name: string): string {
  const json = readJson(report, REPORT_LIMIT_BYTES);
  const installs = isJsonObject(json) && Array.isArray(json.install) ? json.install : [];
  for (const one of installs) {
    if (!isJsonObject(one) || !isJsonObject(one.metadata) || !isJsonObject(one.download_info)) continue;
    if (plainName(String(one.metadata.name)) !== name) continue;
    const archive = one.download_info.archive_info;
    const hash = isJsonObject(archive) && isJsonObject(archive.hashes) ? archive.hashes.sha256 : undefined;
    return typeof hash === "string" ? `sha256-${hash.slice(0, 64)}` : "";
  }
  return "";
}
