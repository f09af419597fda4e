import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { parseJson } from "./bounded-file.ts";
import type { PackageKind, PackageWords } from "./package-words.ts";
import { readText, writeWhole } from "./servers-file.ts";

/** In a server's own folder: which package is in use. What it does not name is not there. */
const RECORD = "fetched.json";

/** A package as it was fetched for one server. */
export type FetchedPackage = {
  /** What was asked for. */
  readonly kind: PackageKind;
  readonly packages: readonly string[];
  readonly program: string | undefined;
  /** Folder that holds it, by its name in the server's own folder. */
  readonly folder: string;
  /** Program and first arguments: "node" or a Python and a file, or a file; absolute. */
  readonly command: readonly string[];
  /** Of the package with the program. */
  readonly name: string;
  readonly version: string;
  /** The registry's digest of it; empty where it gave none. */
  readonly integrity: string;
  /** Packages whose install scripts did not run; of very many the first. */
  readonly skippedScripts: readonly string[];
};

/** Undefined when nothing was fetched for exactly this, or it is gone from the disk. */
export async function readFetched(serverFolder: string, wanted: PackageWords): Promise<FetchedPackage | undefined> {
  const text = await readText(join(serverFolder, RECORD));
  if (!text.ok || text.value === undefined) return undefined;
  const json: unknown = parseJson(text.value);
  if (!isFetched(json)) return undefined;
  const asked = JSON.stringify([wanted.kind, wanted.packages, wanted.program ?? ""]);
  const isMeant = JSON.stringify([json.kind, json.packages, json.program]) === asked;
  // A Python that is gone takes the packages with it that were made for it.
  const files = [json.command[0] ?? "", json.command.at(-1) ?? ""].filter((one) => one !== "node");
  if (!isMeant || !files.every((file) => existsSync(file))) return undefined;
  const { program, ...others } = json;
  return { ...others, program: program === "" ? undefined : program };
}

/** From here on it counts. */
export function writeFetched(serverFolder: string, fetched: FetchedPackage): Promise<Result<void>> {
  const record = { ...fetched, program: fetched.program ?? "" };
  return writeWhole(join(serverFolder, RECORD), JSON.stringify(record, null, 2));
}

type Recorded = Omit<FetchedPackage, "program"> & { readonly program: string };

function isFetched(value: unknown): value is Recorded {
  return (
    isJsonObject(value) &&
    (value.kind === "npm" || value.kind === "python") &&
    [value.program, value.folder, value.name, value.version, value.integrity].every((one) => typeof one === "string") &&
    [value.packages, value.command, value.skippedScripts].every(
      (list) => Array.isArray(list) && list.every((one) => typeof one === "string"),
    )
  );
}
