import { join } from "node:path";
import { ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { isFileIn, readJson, readStart } from "./bounded-file.ts";
import type { FetchedPackage } from "./fetched-package.ts";
import { chooseProgram, MAX_NAMED, NAME_LIMIT_CHARS, noProgram, type Program } from "./fetched-program.ts";
import type { PackageWords } from "./package-words.ts";

const SCRIPT = /\.[cm]?js$/;
const NODE_LINE = /^#!.*\bnode\b/;
/** A file of a stranger's is read in the daemon, so it is a short one: package.json of one package, bytes. */
const MANIFEST_LIMIT_BYTES = 1024 * 1024;
/** npm's list of all that it put there, bytes. */
const LOCK_LIMIT_BYTES = 16 * 1024 * 1024;
/** As much of a program as says what runs it, bytes. */
const FIRST_LINE_BYTES = 128;

/** What npm put into `serverFolder`/`folder`. `not_found` when it has no such program. */
export function inspectModules(serverFolder: string, folder: string, wanted: PackageWords): Result<FetchedPackage> {
  const modules = join(serverFolder, folder, "node_modules");
  const lock = readJson(join(serverFolder, folder, "package-lock.json"), LOCK_LIMIT_BYTES);
  const locked = isJsonObject(lock) && isJsonObject(lock.packages) ? lock.packages : {};
  const own = isJsonObject(locked[""]) && isJsonObject(locked[""].dependencies) ? locked[""].dependencies : {};
  const programs = Object.keys(own).flatMap((name) => programsOf(modules, name));
  const found = chooseProgram(wanted, programs, withoutScope);
  if (found === undefined) return noProgram(wanted, programs, `npx -p ${wanted.packages[0] ?? ""}`);
  const info = locked[`node_modules/${found.of}`];
  const { version = "", integrity = "" } = isJsonObject(info) ? info : {};
  const skippedScripts = Object.entries(locked)
    .filter(([, one]) => isJsonObject(one) && one.hasInstallScript === true)
    .slice(0, MAX_NAMED)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length).slice(0, NAME_LIMIT_CHARS));
  const { kind, packages, program } = wanted;
  return ok({
    ...{ kind, packages, program, folder, name: found.of, skippedScripts },
    ...{ version: String(version), integrity: String(integrity), command: commandOf(found.target) },
  });
}

function programsOf(modules: string, name: string): readonly Program[] {
  const home = join(modules, name);
  const json = readJson(join(home, "package.json"), MANIFEST_LIMIT_BYTES);
  const bin = isJsonObject(json) ? (json.bin ?? {}) : {};
  const table = typeof bin === "string" ? { [withoutScope(name)]: bin } : isJsonObject(bin) ? bin : {};
  return Object.entries(table).flatMap(([one, path]) => {
    if (typeof path !== "string") return [];
    // What leads out of the package is not its program.
    const file = join(home, join("/", path));
    return isFileIn(modules, file) ? [{ bin: one, of: name, target: file }] : [];
  });
}

function withoutScope(name: string): string {
  return name.replace(/^@[^/]+\//, "");
}

function commandOf(file: string): readonly string[] {
  const isForNode = SCRIPT.test(file) || NODE_LINE.test(readStart(file, FIRST_LINE_BYTES).split("\n")[0] ?? "");
  return isForNode ? ["node", file] : [file];
}
