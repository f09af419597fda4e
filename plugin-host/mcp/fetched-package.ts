import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import type { NpxWords } from "./npx-words.ts";
import { readText, writeWhole } from "./servers-file.ts";

/** In a server's own folder: which package is in use. What it does not name is not there. */
const RECORD = "npm.json";
const SCRIPT = /\.[cm]?js$/;
const NODE_LINE = /^#!.*\bnode\b/;

/** A package as it was fetched for one server. */
export type FetchedPackage = {
  /** What was asked for. */
  readonly packages: readonly string[];
  readonly program: string | undefined;
  /** Folder that holds it, by its name in the server's own folder. */
  readonly folder: string;
  /** Program and first arguments: "node" and a file, or a file; absolute. */
  readonly command: readonly string[];
  /** Of the package with the program. */
  readonly name: string;
  readonly version: string;
  /** The registry's digest of it; empty where it gave none. */
  readonly integrity: string;
  /** Packages whose install scripts did not run. */
  readonly skippedScripts: readonly string[];
};

/** Undefined when nothing was fetched for exactly this, or it is gone from the disk. */
export async function readFetched(serverFolder: string, wanted: NpxWords): Promise<FetchedPackage | undefined> {
  const text = await readText(join(serverFolder, RECORD));
  if (!text.ok || text.value === undefined) return undefined;
  const json: unknown = parse(text.value);
  if (!isFetched(json)) return undefined;
  const asked = JSON.stringify([wanted.packages, wanted.program ?? ""]);
  const isMeant = JSON.stringify([json.packages, json.program]) === asked;
  const file = json.command.at(-1) ?? "";
  if (!isMeant || !existsSync(file)) return undefined;
  const { program, ...others } = json;
  return { ...others, program: program === "" ? undefined : program };
}

/** From here on it counts. */
export function writeFetched(serverFolder: string, fetched: FetchedPackage): Promise<Result<void>> {
  const record = { ...fetched, program: fetched.program ?? "" };
  return writeWhole(join(serverFolder, RECORD), JSON.stringify(record, null, 2));
}

/** What npm put into `serverFolder`/`folder`. `not_found` when it has no such program. */
export function inspectFetched(serverFolder: string, folder: string, wanted: NpxWords): Result<FetchedPackage> {
  const modules = join(serverFolder, folder, "node_modules");
  const lock = readJson(join(serverFolder, folder, "package-lock.json"));
  const locked = isJsonObject(lock) && isJsonObject(lock.packages) ? lock.packages : {};
  const own = isJsonObject(locked[""]) && isJsonObject(locked[""].dependencies) ? locked[""].dependencies : {};
  const programs = Object.keys(own).flatMap((name) => programsOf(modules, name));
  const found =
    wanted.program === undefined ? mainProgram(programs) : programs.find(({ bin }) => bin === wanted.program);
  if (found === undefined) return noProgram(wanted, programs);
  const info = locked[`node_modules/${found.of}`];
  const { version = "", integrity = "" } = isJsonObject(info) ? info : {};
  const skippedScripts = Object.entries(locked)
    .filter(([, one]) => isJsonObject(one) && one.hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  return ok({
    ...{ packages: wanted.packages, program: wanted.program, folder, name: found.of, skippedScripts },
    ...{ version: String(version), integrity: String(integrity), command: commandOf(found.file) },
  });
}

type Program = { readonly bin: string; readonly of: string; readonly file: string };

function programsOf(modules: string, name: string): readonly Program[] {
  const home = join(modules, name);
  const json = readJson(join(home, "package.json"));
  const bin = isJsonObject(json) ? (json.bin ?? {}) : {};
  const table = typeof bin === "string" ? { [name.replace(/^@[^/]+\//, "")]: bin } : isJsonObject(bin) ? bin : {};
  return Object.entries(table).flatMap(([one, path]) => {
    if (typeof path !== "string") return [];
    // What leads out of the package is not its program.
    const file = join(home, join("/", path));
    return existsSync(file) ? [{ bin: one, of: name, file }] : [];
  });
}

/** As npx does: the only one, also under several names, or the one that is called like its package. */
function mainProgram(programs: readonly Program[]): Program | undefined {
  if (new Set(programs.map(({ file }) => file)).size === 1) return programs[0];
  return programs.find(({ bin, of }) => bin === of.replace(/^@[^/]+\//, ""));
}

function noProgram({ packages, program }: NpxWords, programs: readonly Program[]): Result<never> {
  const which = packages.join(", ");
  const bins = programs.map(({ bin }) => bin).join(", ");
  if (bins === "")
    return fail("not_found", `the package ${which} has no program to start`, {
      hint: "look at its page for how it is started",
    });
  const message =
    program === undefined
      ? `the package ${which} has several programs, none of its own name`
      : `the package ${which} has no program "${program}"`;
  return fail("not_found", message, { hint: `name one: npx -p ${packages[0] ?? ""} PROGRAM; it has ${bins}` });
}

function commandOf(file: string): readonly string[] {
  const isForNode =
    SCRIPT.test(file) || NODE_LINE.test(readFileSync(file, "latin1").slice(0, 128).split("\n")[0] ?? "");
  return isForNode ? ["node", file] : [file];
}

function readJson(file: string): JsonValue | undefined {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Recorded = Omit<FetchedPackage, "program"> & { readonly program: string };

function isFetched(value: unknown): value is Recorded {
  return (
    isJsonObject(value) &&
    [value.program, value.folder, value.name, value.version, value.integrity].every((one) => typeof one === "string") &&
    [value.packages, value.command, value.skippedScripts].every(
      (list) => Array.isArray(list) && list.every((one) => typeof one === "string"),
    )
  );
}
