import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { fileStamp } from "./file-stamp.ts";
import { currentFile, type SourceFile } from "./source-file.ts";

/** What words in imports mean. */
export type ImportMap = {
  /** An absolute path, or a "node:" module; undefined for what the map does not name. */
  resolve(specifier: string): string | undefined;
  /** The file that it was read from, and what was in it; it is part of what a program was made of. */
  readonly file: SourceFile | undefined;
  /** Names of files that would have been it. */
  readonly missing: readonly string[];
};

const MAP_LIMIT_BYTES = 256 * 1024;
/** Looked for in the script's folder, as Deno does. */
const CONFIG_NAMES = ["deno.json", "deno.jsonc"];

/** JSON with comments and commas before closing brackets; strings are left as they are. */
function stripComments(text: string): string {
  const plain = text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith('"') ? part : " ",
  );
  return plain.replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (part) => (part.startsWith('"') ? part : ""));
}

/** The entries that name files or modules of Node; others name what is not offered, and are refused where they are used. */
function readEntries(text: string): ReadonlyMap<string, string> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(stripComments(text));
  } catch {
    return undefined;
  }
  const { imports } = Object(value) as { imports?: unknown };
  if (imports === undefined) return new Map();
  if (typeof imports !== "object" || imports === null || Array.isArray(imports)) return undefined;
  const entries = Object.entries(imports);
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Looks the longest name up first, as the standard says; a name that ends in a slash stands for all below it. */
function lookUp(entries: ReadonlyMap<string, string>, specifier: string, folder: string): string | undefined {
  const exact = entries.get(specifier);
  const prefix = [...entries.keys()]
    .filter((name) => name.endsWith("/") && specifier.startsWith(name))
    .sort((a, b) => b.length - a.length)[0];
  const target =
    exact ?? (prefix === undefined ? undefined : `${entries.get(prefix)}${specifier.slice(prefix.length)}`);
  if (target === undefined) return undefined;
  if (target.startsWith("node:")) return target;
  return /^\.{0,2}\//.test(target) ? resolve(folder, target) : undefined;
}

/**
 * Reads what a script's imports mean: from the map that was named, or the `imports` of a deno.json in the script's folder.
 * @param named absolute; empty for none
 */
export async function readImportMap(root: string, named: string): Promise<Result<ImportMap>> {
  const candidates = named === "" ? CONFIG_NAMES.map((name) => join(root, name)) : [named];
  const path = candidates.find((candidate) => fileStamp(candidate) !== undefined);
  if (path === undefined) {
    if (named !== "") return fail("not_found", `there is no import map ${named}`);
    return ok({ resolve: () => undefined, file: undefined, missing: candidates });
  }
  const file = await currentFile(path);
  // What is no regular file, or a large one, is not read: one that never ends would be read for ever.
  const text = file && (await readFile(path, "utf8").catch(() => undefined));
  const entries = text === undefined || text.length > MAP_LIMIT_BYTES ? undefined : readEntries(text);
  if (entries === undefined)
    return fail("invalid", `${path} is no import map: JSON with an object "imports" is`, { hint: `mend ${path}` });
  const folder = dirname(path);
  const missing = candidates.slice(0, candidates.indexOf(path));
  return ok({ resolve: (specifier) => lookUp(entries, specifier, folder), file, missing });
}
